"""`doclease export` writes all rows, harmless to spreadsheets, without holding them."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import Result
from pyarrow import parquet
from sqlalchemy import Engine, text

from pipeline.cli.parquet import write_parquet
from pipeline.cli.workbook import write_xlsx
from pipeline.errors import UsageProblem
from pipeline.queue.model import Usage
from pipeline.queue.store import Queue
from pipeline.reports import exports
from pipeline.reports.exports import Kind
from tests.cli.conftest import Doclease
from tests.conftest import Clock
from tests.stories import claim, enqueue_again, finish, read, value
from tests.tasks import add_task

ROOT = Path(__file__).parents[2]


def test_a_formula_in_an_invoice_stays_text(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    fields = {
        "seller_name": [value('=HYPERLINK("http://x")')],
        "total_gross": [value("-119.00")],
        "issue_date": [value("2026-05-01")],
    }
    finish(engine, queue, ["one"], name="@sum.pdf", document_type="invoice", fields=fields)
    (row,) = csv.DictReader(doclease("export", "invoices").stdout.splitlines())
    assert row["name"] == "'@sum.pdf"
    assert row["seller_name"] == '\'=HYPERLINK("http://x")'
    assert (row["total_gross"], row["issue_date"]) == ("-119.00", "2026-05-01")


@pytest.mark.parametrize(("what", "document_type"), [("invoices", "invoice"), ("contracts", "contract")])
def test_json_columns_are_for_json_and_all_others_for_tables(
    doclease: Doclease, engine: Engine, queue: Queue, what: str, document_type: str
) -> None:
    fields = {"title": [value("Agreement")]}
    finish(engine, queue, ["one"], document_type=document_type, fields=fields, checks={"adds_up": True})
    (whole,) = map(json.loads, doclease("export", what, "--format", "jsonl").stdout.splitlines())
    assert (whole["fields"]["title"][0]["value"], whole["checks"]) == ("Agreement", {"adds_up": True})
    (row,) = csv.DictReader(doclease("export", what).stdout.splitlines())
    assert list(row) == [column for column in whole if column not in ("fields", "checks")]


def test_json_lines_keep_every_character(doclease: Doclease, engine: Engine, queue: Queue, tmp_path: Path) -> None:
    finish(engine, queue, ["=1 Zürich „ß“\n\u2028 \x85", "two"])
    target = tmp_path / "pages.jsonl"
    doclease("export", "pages", "--format", "jsonl", "-o", str(target))
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in rows] == ["=1 Zürich „ß“\n\u2028 \x85", "two"]
    assert [path.name for path in tmp_path.glob("*pages*")] == ["pages.jsonl"]


@pytest.mark.parametrize("what", exports.EXPORTS)
def test_an_empty_export_has_its_header(doclease: Doclease, what: str) -> None:
    header, *rows = doclease("export", what).stdout.splitlines()
    assert "document_id" in header.split(",")
    assert rows == []


def test_a_file_that_cannot_be_written_is_told(doclease: Doclease, tmp_path: Path) -> None:
    assert "cannot be written" in doclease("export", "pages", "-o", str(tmp_path / "no/where.csv"), exit_code=2).stderr


def test_a_device_is_written_not_replaced(doclease: Doclease) -> None:
    doclease("export", "attempts", "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()


# Parquet and workbooks

INVOICE = {
    "invoice_number": [value("0042")],
    "issue_date": [value("2026-05-01")],
    "seller_name": [value("=1+1")],
    "total_gross": [value("1234567890123.45")],
    "total_net": [value("-0.10")],
}


def test_a_workbook_has_real_dates_and_numbers_and_no_formula(
    doclease: Doclease, engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    document_id = finish(engine, queue, ["one"], name="+a.pdf", document_type="invoice", fields=INVOICE)
    target = tmp_path / "invoices.xlsx"
    doclease("export", "invoices", "--format", "xlsx", "-o", str(target))
    sheet = openpyxl.load_workbook(target).active
    header, cells = sheet.iter_rows()
    row = dict(zip([cell.value for cell in header], cells, strict=True))
    assert sheet.freeze_panes == "A2"
    assert (row["document_id"].value, row["invoice_number"].value) == (document_id, "0042")
    assert (row["issue_date"].value, row["issue_date"].is_date) == (dt.datetime(2026, 5, 1), True)  # noqa: DTZ001
    assert (row["finished_at"].is_date, row["total_net"].value) == (True, -0.1)
    assert row["total_gross"].value == 1234567890123.45
    for name, words in (("seller_name", "=1+1"), ("name", "+a.pdf")):
        assert (row[name].value, row[name].data_type, row[name].quotePrefix) == (words, "s", True)
    assert {"fields", "checks"}.isdisjoint(row)


def test_a_workbook_rounds_nothing_and_cuts_nothing_unsaid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {
            "a": Decimal("12345678901234567.89"),
            "b": 2**60,
            "c": dt.date(1850, 1, 1),
            "d": "x" * 40_000,
            "e": ["a", "b"],
        },
        {"a": Decimal("0.30"), "b": True, "c": None, "d": "Zürich\n=", "e": Decimal("NaN")},
    ]
    target = tmp_path / "a.xlsx"
    with target.open("wb") as file:
        assert write_xlsx(rows, dict.fromkeys("abcde", Kind.TEXT), file) == 2
    sheet = openpyxl.load_workbook(target).active
    first, second = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    assert first == ["12345678901234567.89", str(2**60), "1850-01-01", "x" * 32_767, '["a", "b"]']
    assert second == [0.3, True, None, "Zürich\n=", "NaN"]
    assert "1 cells were cut" in capsys.readouterr().err


def test_more_rows_than_a_sheet_takes_are_told(tmp_path: Path) -> None:
    with (tmp_path / "a.xlsx").open("wb") as file, pytest.raises(UsageProblem, match="csv or parquet"):
        write_xlsx(({"a": number} for number in range(4)), {"a": Kind.INTEGER}, file, most_rows=3)


def test_parquet_has_exact_types(doclease: Doclease, engine: Engine, queue: Queue, tmp_path: Path) -> None:
    document_id = finish(engine, queue, ["one"], document_type="invoice", fields=INVOICE)
    target = tmp_path / "invoices.parquet"
    doclease("export", "invoices", "--format", "parquet", "-o", str(target))
    table = parquet.read_table(target)
    (row,) = table.to_pylist()
    assert (row["document_id"], row["issue_date"], row["due_date"]) == (document_id, dt.date(2026, 5, 1), None)
    assert (row["total_gross"], row["total_net"]) == (Decimal("1234567890123.45"), Decimal("-0.10"))
    assert row["seller_name"] == "=1+1"
    assert row["finished_at"].utcoffset() == dt.timedelta(0)
    assert {"fields", "checks"}.isdisjoint(row)


def test_parquet_is_written_in_groups_of_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cli.parquet.GROUP_CHARACTERS", 1_000)
    target = tmp_path / "a.parquet"
    with target.open("wb") as file:
        assert write_parquet(({"a": "x" * 400} for _ in range(10)), {"a": Kind.TEXT}, file) == 10
    found = parquet.ParquetFile(target)
    assert [found.metadata.row_group(place).num_rows for place in range(found.num_row_groups)] == [3, 3, 3, 1]


def test_a_number_that_parquet_cannot_hold_is_told_not_rounded(tmp_path: Path) -> None:
    rows = [{"a": Decimal("0.1234567")}]
    with (tmp_path / "a").open("wb") as file, pytest.raises(UsageProblem, match="jsonl"):
        write_parquet(rows, {"a": Kind.DECIMAL}, file)


def test_without_pyarrow_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with (tmp_path / "a").open("wb") as file, pytest.raises(UsageProblem, match=r"doclease\[export\]"):
        write_parquet([], {"a": Kind.TEXT}, file)


@pytest.mark.parametrize("output", ["parquet", "xlsx"])
@pytest.mark.parametrize("what", exports.EXPORTS)
def test_every_view_can_be_a_file_of_any_format(doclease: Doclease, tmp_path: Path, what: str, output: str) -> None:
    target = tmp_path / f"file.{output}"
    doclease("export", what, "--format", output, "-o", str(target))
    if output == "parquet":
        assert "document_id" in parquet.read_schema(target).names
    else:
        assert "document_id" in [cell.value for cell in openpyxl.load_workbook(target).active[1]]


@pytest.mark.parametrize("output", ["parquet", "xlsx"])
def test_a_binary_file_can_go_through_a_pipe(home: Path, output: str) -> None:
    command = [sys.executable, "-m", "pipeline", "-C", str(home), "export", "pages", "--format", output]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True, timeout=60)
    whole = io.BytesIO(done.stdout)
    if output == "parquet":
        assert "document_id" in parquet.read_schema(whole).names
    else:
        assert openpyxl.load_workbook(whole).active["A1"].value == "document_id"


def test_the_review_is_exported_as_it_is_asked_for(
    doclease: Doclease, home: Path, engine: Engine, queue: Queue
) -> None:
    fields = {name: [value("10.00", confidence=0.6)] for name in ("total_gross", "total_net")}
    finish(engine, queue, ["one"], document_type="invoice", fields=fields)

    def doubted() -> set[str]:
        rows = map(json.loads, doclease("export", "review", "--format", "jsonl").stdout.splitlines())
        return {row["field"] for row in rows if row["value"] is not None}

    assert doubted() == {"total_gross", "total_net"}
    with (home / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("review:\n  accept_at: 0.5\n")
    assert doubted() == set()


# What is new


def numbers_of(result: Result) -> list[str]:
    """The invoice numbers that were written."""
    return [json.loads(line)["invoice_number"] for line in result.stdout.splitlines()]


def invoice_fields(number: str) -> dict[str, list[dict[str, Any]]]:
    return {"invoice_number": [value(number)], "total_gross": [value("10.00")]}


@pytest.fixture
def new(doclease: Doclease, tmp_path: Path) -> Callable[[], list[str]]:
    """Export what is new, with a place of its own."""
    command = ("export", "invoices", "--format", "jsonl", "--new-since", str(tmp_path / "place.json"))
    return lambda: numbers_of(doclease(*command))


def test_each_run_writes_what_is_new(engine: Engine, queue: Queue, new: Callable[[], list[str]]) -> None:
    finish(engine, queue, ["one"], document_type="invoice", fields=invoice_fields("one"))
    assert new() == ["one"]
    assert new() == []
    finish(engine, queue, ["two"], document_type="invoice", fields=invoice_fields("two"))
    finish(engine, queue, ["no invoice"])
    assert new() == ["two"]
    assert new() == []


def test_what_commits_late_is_not_skipped(engine: Engine, queue: Queue, new: Callable[[], list[str]]) -> None:
    late = claim(queue, add_task(engine, queue, pages=1))
    result = {"document_type": "invoice", "fields": invoice_fields("late")}
    with queue.completing(late, reason="ok", pages_done=1, result=result, usage=Usage()):
        finish(engine, queue, ["two"], document_type="invoice", fields=invoice_fields("early"))
        assert new() == ["early"]
        finish(engine, queue, ["three"], document_type="invoice", fields=invoice_fields("middle"))
        assert new() == ["middle"]
    assert new() == ["late"]
    assert new() == []


def test_a_corrected_and_a_reprocessed_invoice_are_new_again(
    engine: Engine, queue: Queue, new: Callable[[], list[str]]
) -> None:
    ids = [
        finish(engine, queue, ["x"], document_type="invoice", fields=invoice_fields(each))
        for each in ("one", "two", "three")
    ]
    assert new() == ["one", "two", "three"]
    with engine.begin() as connection:
        statement = (
            "INSERT INTO corrections (document_id, name, action, value) VALUES (:id, 'invoice_number', 'fix', '1')"
        )
        connection.execute(text(statement), {"id": ids[0]})
    assert new() == ["1"]
    read(
        engine, queue, enqueue_again(engine, queue, ids[1]), ["x"], document_type="invoice", fields=invoice_fields("2")
    )
    assert new() == ["2"]


def test_rows_of_a_document_are_new_with_it(doclease: Doclease, engine: Engine, queue: Queue, tmp_path: Path) -> None:
    command = ("export", "fields", "--format", "jsonl", "--new-since", str(tmp_path / "place"))
    finish(engine, queue, ["x"], document_type="invoice", fields=invoice_fields("one"))
    assert len(doclease(*command).stdout.splitlines()) == 2
    finish(engine, queue, ["x"], document_type="invoice", fields=invoice_fields("two"))
    rows = [json.loads(line) for line in doclease(*command).stdout.splitlines()]
    assert {row["value"] for row in rows} == {"two", "10.00"}


def test_an_export_that_fails_keeps_its_place(
    doclease: Doclease, engine: Engine, queue: Queue, tmp_path: Path, new: Callable[[], list[str]]
) -> None:
    assert new() == []
    finish(engine, queue, ["x"], document_type="invoice", fields=invoice_fields("one"))
    place = str(tmp_path / "place.json")
    doclease("export", "invoices", "--new-since", place, "-o", str(tmp_path / "no/where.csv"), exit_code=2)
    assert new() == ["one"]


@pytest.mark.parametrize("change", [{"database": "another"}, {"snapshot": "900000000:900000000:"}])
def test_on_another_or_restored_database_everything_is_new(
    engine: Engine, queue: Queue, tmp_path: Path, new: Callable[[], list[str]], change: dict[str, str]
) -> None:
    finish(engine, queue, ["x"], document_type="invoice", fields=invoice_fields("one"))
    assert new() == ["one"]
    place = tmp_path / "place.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | change))
    assert new() == ["one"]
    assert new() == []


def test_numbers_of_another_server_are_not_new_for_ever(
    engine: Engine, queue: Queue, new: Callable[[], list[str]]
) -> None:
    finish(engine, queue, ["x"], document_type="invoice", fields=invoice_fields("one"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE current_results SET changed_xid = '900000000'"))
    assert new() == ["one"]
    assert new() == []


def test_what_changed_since_a_time(doclease: Doclease, engine: Engine, queue: Queue, clock: Clock) -> None:
    finish(engine, queue, ["x"], document_type="invoice", fields=invoice_fields("one"))
    command = ("export", "invoices", "--format", "jsonl", "--new-since")
    tomorrow = (dt.datetime.now(dt.UTC) + dt.timedelta(days=1)).isoformat(timespec="seconds")
    assert numbers_of(doclease(*command, "2026-01-01")) == ["one"]
    assert numbers_of(doclease(*command, tomorrow)) == []
    clock.advance(minutes=60 * 25)
    finish(engine, queue, ["x"], document_type="invoice", fields=invoice_fields("two"))
    assert numbers_of(doclease(*command, tomorrow)) == ["two"]


@pytest.mark.parametrize(
    ("what", "kept", "told"),
    [
        ("invoices", "nonsense", "does not keep the place"),
        ("invoices", '{"export": "invoices"}', "does not keep the place"),
        ("invoices", '{"export": "invoices", "database": "", "snapshot": "1; DROP", "taken_at": ""}', "does not keep"),
        ("invoices", '{"export": "contracts", "database": "", "snapshot": "1:1:", "taken_at": ""}', "of contracts"),
        ("attempts", '{"export": "attempts", "database": "", "snapshot": "1:1:", "taken_at": ""}', "cannot be told"),
    ],
)
def test_a_place_that_cannot_be_used_is_told(
    doclease: Doclease, tmp_path: Path, what: str, kept: str, told: str
) -> None:
    (tmp_path / "place").write_text(kept)
    assert told in doclease("export", what, "--new-since", str(tmp_path / "place"), exit_code=2).stderr
    assert (tmp_path / "place").read_text() == kept


def test_a_place_that_cannot_be_kept_is_told(doclease: Doclease, tmp_path: Path) -> None:
    assert "cannot be written" in doclease("export", "invoices", "--new-since", "/no/where", exit_code=2).stderr
    same = str(tmp_path / "a")
    assert "name two" in doclease("export", "invoices", "--new-since", same, "-o", same, exit_code=2).stderr
    assert "no time" in doclease("export", "invoices", "--new-since", "2026-13-01", exit_code=2).stderr


# By a small process of its own: what is measured begins with the size of whoever starts it.
MEASURE = """
import os, subprocess, sys
print(os.wait4(subprocess.Popen(sys.argv[1:]).pid, 0)[2].ru_maxrss)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(home: Path, engine: Engine, queue: Queue) -> None:
    claim(queue, add_task(engine, queue, pages=600))
    with engine.begin() as connection:
        # 600 pages of 200 kB: 120 MB.
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(
            text(
                "INSERT INTO pages (task_id, page_no, attempt_no, text, source, engine, seconds, identifiers)"
                " SELECT task_id, number, 1, repeat(' ', 200000), 'native', 'test', 0, ''"
                " FROM attempts CROSS JOIN generate_series(1, 600) AS number"
            )
        )
    command = [sys.executable, "-m", "pipeline", "-C", str(home), "export", "pages", "-o", "/dev/null"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, env=environment, check=True
    )
    assert "600 rows" in measured.stderr
    assert int(measured.stdout) < 160_000, "kilobytes"

"""`doclease export` writes all rows, harmless to spreadsheets, without holding them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from pipeline.queue.store import Queue
from pipeline.reports import exports
from tests.cli.conftest import Doclease
from tests.stories import claim, finish, value
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


# By a small process of its own: what is measured begins with the size of whoever starts it.
MEASURE = """
import os, subprocess, sys
print(os.wait4(subprocess.Popen(sys.argv[1:]).pid, 0)[2].ru_maxrss)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(home: Path, engine: Engine, queue: Queue) -> None:
    claim(queue, add_task(engine, queue, pages=2000))
    with engine.begin() as connection:
        # 2,000 pages of 100 kB: 200 MB.
        connection.execute(
            text(
                "INSERT INTO pages (task_id, page_no, attempt_no, text, source, engine, seconds, identifiers)"
                " SELECT task_id, number, 1, repeat('. ', 50000), 'native', 'test', 0, ''"
                " FROM attempts CROSS JOIN generate_series(1, 2000) AS number"
            )
        )
    command = [sys.executable, "-m", "pipeline", "-C", str(home), "export", "pages", "-o", "/dev/null"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, env=environment, check=True
    )
    assert "2000 rows" in measured.stderr
    assert int(measured.stdout) < 160_000, "kilobytes"

"""Nothing that a document contains acts on a terminal or a spreadsheet, and nothing is cut off for a program."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cli import output


@given(st.text())
def test_no_cell_reaches_the_terminal_with_a_character_that_acts(words: str) -> None:
    shown = output.table([{"a": words}], ["a"], terminal=False)
    assert "\x1b" not in shown
    assert len(shown.splitlines()) <= 3
    printed = output.json_line({"a": words})
    assert len(printed.splitlines()) == 1
    assert json.loads(printed) == {"a": words}


@pytest.mark.parametrize("words", ["\x1b[31m", "\x9b31m", "\u202egnp.exe", "a\r\nb", "\x07", "\u2028", "\x7f"])
def test_what_acts_is_shown_as_an_escape(words: str) -> None:
    assert output.safe(words).isprintable()
    assert "\\" in output.safe(words)


def test_text_keeps_its_lines() -> None:
    assert output.safe("a\tb\n\x0cc", lines=True) == "a\tb\n\\x0cc"


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-", "+49 30 1234", "-1e5x"])
def test_a_formula_is_not_one_to_a_spreadsheet(cell: str) -> None:
    assert output.neutral(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-5.00", "+3", "-1e5", "12,50", "a=b", "", "(1)"])
def test_numbers_and_plain_text_stay_as_they_are(cell: str) -> None:
    assert output.neutral(cell) == cell


@given(st.lists(st.tuples(st.text(), st.integers(), st.none() | st.decimals(allow_nan=False, allow_infinity=False))))
def test_csv_is_read_back_as_it_was(rows: list[tuple[str, int, Decimal | None]]) -> None:
    file = io.StringIO(newline="")
    assert output.write_csv([dict(zip("abc", row, strict=True)) for row in rows], "abc", file) == len(rows)
    file.seek(0)
    header, *found = csv.reader(file)
    assert header == ["a", "b", "c"]
    wanted = [[output.neutral(a), str(b), "" if c is None else f"{c:f}"] for a, b, c in rows]
    assert found == wanted


def test_an_amount_is_never_rounded_on_its_way_to_json() -> None:
    row = {"plain": Decimal("1234.50"), "long": Decimal("12345678901234567.89")}
    assert json.loads(output.json_line(row)) == {"plain": 1234.5, "long": "12345678901234567.89"}


def test_a_table_is_complete_where_nobody_looks_at_it() -> None:
    long = "word " * 400
    assert long.strip() in output.table([{"a": 1, "b": long}], ["a", "b"], terminal=False)


def test_a_table_on_a_terminal_loses_no_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown = output.table([{"a": "x" * 100, "b": "[red]y[/]"}], ["a", "b"], terminal=True)
    assert shown.count("x") == 100
    assert "[red]y[/]" in shown


def test_numbers_stand_to_the_right_and_times_are_utc() -> None:
    when = dt.datetime(2026, 8, 1, 14, 0, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    *_, first, second = output.table(
        [{"n": 1, "t": when, "yes": True}, {"n": 100, "t": None, "yes": False}], ["n", "t", "yes"], terminal=False
    ).splitlines()
    assert first.split() == ["1", "2026-08-01", "12:00:00", "yes"]
    assert first.startswith("  1")
    assert second.split() == ["100", "no"]

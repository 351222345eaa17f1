"""A cell of an export never runs in a spreadsheet, and a number stays a number."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cli import output

NUMBER = re.compile(r" *[+-]?\d+(\.\d+)?([eE][+-]?\d+)? *")
FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "=HYPERLINK(1)")
BEFORE = ("", " ", "   ", "\t", "\r", "\n", "\u00a0", "\ufeff", "\u200b", "\x00", "\u3000")


@pytest.mark.parametrize("before", BEFORE, ids=repr)
@pytest.mark.parametrize("formula", [*FORMULAS, *(chr(ord(each[0]) + 0xFEE0) + each[1:] for each in FORMULAS)])
def test_a_formula_is_text_whatever_stands_before_it(formula: str, before: str) -> None:
    assert output.neutral(before + formula) == f"'{before}{formula}"


@pytest.mark.parametrize("cell", ["-5.00", "+3", "-1e5", " -5", "12,50", "a=b", "", "(1)", "a\n=b", "'=1"])
def test_numbers_and_words_stay_as_they_are(cell: str) -> None:
    assert output.neutral(cell) == cell


@given(st.text(alphabet=st.sampled_from("=+-@\t\r\n ,;\"'a1.\u200b\uff1d")) | st.text())
def test_no_cell_that_is_written_begins_like_a_formula(cell: str) -> None:
    file = io.StringIO(newline="")
    output.write_csv([{"cell": cell}], ["cell"], file)
    ((_,), (found,)) = csv.reader(io.StringIO(file.getvalue(), newline=""))
    begins = re.sub(r"^[\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2060\ufeff]+", "", found)
    assert NUMBER.fullmatch(found) or not begins.startswith(
        ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
    )

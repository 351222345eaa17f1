"""Rows as a workbook of one sheet: numbers and dates are real ones, no cell is a formula, memory does not grow.

Text is stored as text, and a cell that begins like a formula is marked as quoted: it stays text when somebody edits it.
"""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, BinaryIO

import click

from pipeline.cli.output import Row, as_text, begins_formula
from pipeline.errors import UsageProblem
from pipeline.reports.exports import Kind

MOST_ROWS = 1_048_575  # of a sheet, beside its header
_LARGEST_EXACT = 2**53  # a cell holds numbers as binary floating point
_FIRST_DAY = dt.date(1900, 3, 1)  # before it, spreadsheets count a day that was none
_WIDTHS = {Kind.DATE: 11, Kind.TIME: 20, Kind.DECIMAL: 13, Kind.TEXT: 24}


def write_xlsx(rows: Iterable[Row], columns: Mapping[str, Kind], file: BinaryIO, *, most_rows: int = MOST_ROWS) -> int:
    """Write a workbook; returns how many rows. Raises UsageProblem when there are more than a sheet takes.

    Times are in UTC, as a spreadsheet knows no time zones. Says on standard error how many cells were cut: a cell takes
    32,767 characters.
    """
    import xlsxwriter  # noqa: PLC0415 - it costs most exports a tenth of a second

    count = 0
    with (
        tempfile.TemporaryDirectory(prefix="doclease-export-") as folder,
        xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": folder}) as workbook,
    ):
        workbook.use_zip64()
        sheet = _Sheet(workbook, columns)
        for count, row in enumerate(rows, 1):
            if count > most_rows:
                raise UsageProblem(
                    f"a sheet takes {most_rows:,} rows, and there are more. Use --format csv or parquet, or --new-since"
                )
            sheet.write(count, row)
    if sheet.cut:
        click.echo(f"{sheet.cut} cells were cut after 32,767 characters, which is all that one takes", err=True)
    return count


class _Sheet:
    """The sheet, its header written and frozen. Rows come in order."""

    def __init__(self, workbook: Any, columns: Mapping[str, Kind]) -> None:
        self._columns = list(columns)
        self._sheet = workbook.add_worksheet()
        self._day = workbook.add_format({"num_format": "yyyy-mm-dd"})
        self._time = workbook.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        self._quoted = workbook.add_format({"quote_prefix": True})
        self.cut = 0
        self._sheet.freeze_panes(1, 0)
        for place, kind in enumerate(columns.values()):
            self._sheet.set_column(place, place, _WIDTHS.get(kind, 10))
        bold = workbook.add_format({"bold": True})
        for place, name in enumerate(self._columns):
            self._sheet.write_string(0, place, name, bold)

    def write(self, number: int, row: Row) -> None:
        """Write a row below those before it."""
        for place, name in enumerate(self._columns):
            self._write(number, place, row[name])

    def _write(self, number: int, place: int, value: Any) -> None:
        if value is None:
            return
        if isinstance(value, bool):
            self._sheet.write_boolean(number, place, value)
        elif isinstance(value, int | float | Decimal) and _is_exact(value):
            self._sheet.write_number(number, place, float(value))
        elif isinstance(value, dt.datetime) and value.date() >= _FIRST_DAY:
            self._sheet.write_datetime(number, place, value.astimezone(dt.UTC).replace(tzinfo=None), self._time)
        elif isinstance(value, dt.date) and not isinstance(value, dt.datetime) and value >= _FIRST_DAY:
            self._sheet.write_datetime(number, place, value, self._day)
        else:
            self._write_text(number, place, as_text(value, for_people=False))

    def _write_text(self, number: int, place: int, words: str) -> None:
        written = self._sheet.write_string(number, place, words, self._quoted if begins_formula(words) else None)
        self.cut += written == -2


def _is_exact(value: int | float | Decimal) -> bool:
    """Whether a cell holds the number as it is: an amount is never rounded on the way."""
    if isinstance(value, int):
        return abs(value) <= _LARGEST_EXACT
    number = float(value)
    return number - number == 0 and (isinstance(value, float) or Decimal(repr(number)) == value)

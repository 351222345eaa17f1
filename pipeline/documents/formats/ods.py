"""OpenDocument spreadsheets by their XML: the rows that have content, as their cells show them, sheet by sheet.

A date that is shown in digits alone does not say which of them is the month: there the value is written, as ISO.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from pipeline.documents.contract import Format, Means
from pipeline.documents.office.files import files_inside
from pipeline.documents.office.format import OfficeFormat
from pipeline.documents.office.opendocument import CONTENT, FILES, OpenDocumentKind, Source, Story, repeats
from pipeline.documents.office.sheets import MAX_COLUMNS, SheetWriter
from pipeline.documents.office.text import Block, OpenPages, PageBuilder
from pipeline.documents.office.xml import Attributes, attribute

_MEDIA_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_MAX_ROW = 10_000_000
_MAX_SAME_ROWS = 1_000  # rows that only repeat the one before are filling, and a number in the file
_MAX_REPEATED_CELLS = 1_000_000  # in a document; after that, what repeats is written once
_DIGITS_ALONE = re.compile(r"[\d./\-\s:]*")
_EXPONENT = re.compile(r"\dE[+-]?\d", re.I)


def _open(file: BinaryIO, means: Means) -> OpenPages:
    source, pages = Source(file, means.limits), PageBuilder(means.limits)
    source.read(CONTENT, _Sheets(pages))
    package = source.package
    return pages.finish("ods 1", lambda: files_inside(package, FILES, pages.written) if package else iter(()))


class _Sheets(Story):
    """A table at the top is a sheet; one within a cell or a shape is text."""

    def __init__(self, pages: PageBuilder) -> None:
        super().__init__(pages)
        self._writer = SheetWriter(pages)
        self._depth = 0
        self._row, self._column = 0, 0
        self._rows_same = self._cells_same = 1
        self._cells: dict[int, str] = {}
        self._value: Attributes = {}
        self._hidden: set[str] = set()
        self._repeats_left = _MAX_REPEATED_CELLS
        self._last_style = ""

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if tag == "style":
            self._last_style = attribute(attributes, "name") or ""
        elif tag == "table-properties":
            self._on_table(attributes)
        super().start(tag, attributes)

    def _on_table(self, attributes: Attributes) -> None:
        if attribute(attributes, "display") == "false":
            self._hidden.add(self._last_style)

    def end_page(self) -> None:
        """A break within a sheet is none."""

    def start_table(self, attributes: Attributes) -> None:
        """A sheet begins, or a table within one."""
        self._depth += 1
        if self._depth > 1:
            super().start_table(attributes)
            return
        hidden = attribute(attributes, "style-name") in self._hidden
        self._writer.begin(attribute(attributes, "name") or "", hidden=hidden)
        self._row = 0

    def end_table(self) -> None:
        """A sheet ends, or a table within one."""
        if self._depth > 1:
            super().end_table()
        else:
            self._writer.end()
        self._depth -= 1

    def start_row(self, attributes: Attributes) -> None:
        """A row begins, which may stand for many."""
        if self._depth != 1:
            super().start_row(attributes)
            return
        self._cells, self._column = {}, 0
        self._rows_same = repeats(attributes, "number-rows-repeated", _MAX_ROW)

    def end_row(self) -> None:
        """A row ends."""
        if self._depth != 1:
            super().end_row()
            return
        for offset in range(self._allowed(min(self._rows_same, _MAX_SAME_ROWS), len(self._cells))):
            self._writer.row(self._row + 1 + offset, self._cells)
        self._row = min(self._row + self._rows_same, _MAX_ROW)

    def start_cell(self, attributes: Attributes) -> None:
        """A cell begins, which may stand for many."""
        if self._depth != 1:
            super().start_cell(attributes)
            return
        self._value = attributes
        self._cells_same = repeats(attributes, "number-columns-repeated", MAX_COLUMNS)
        self.targets.append(Block())

    def end_cell(self) -> None:
        """A cell ends."""
        if self._depth != 1:
            super().end_cell()
            return
        cell = self.targets.pop()
        shown = "\n".join(cell.text).strip() if isinstance(cell, Block) else ""
        shown = _shown(shown, self._value)
        if shown:
            for column in range(self._column, self._column + self._allowed(self._cells_same, 1)):
                if column < MAX_COLUMNS:
                    self._cells[column] = shown
        self._column = min(self._column + self._cells_same, MAX_COLUMNS)
        self._let_go()

    def _allowed(self, repeated: int, cells: int) -> int:
        """How often something of so many cells is written; a few bytes can stand for millions of them."""
        cost = (repeated - 1) * cells
        if cost > self._repeats_left:
            return 1
        self._repeats_left -= cost
        return repeated if cells else 0


def _shown(text: str, value: Attributes) -> str:
    """What the cell shows, unless its value says more."""
    kind = attribute(value, "value-type")
    if kind == "date" and _DIGITS_ALONE.fullmatch(text):
        return (attribute(value, "date-value") or text).replace("T00:00:00", "").replace("T", " ")[:30]
    if kind == "float" and (not text or _EXPONENT.search(text)):
        return (attribute(value, "value") or text)[:60]
    return text or (attribute(value, "string-value") or "")


# The name by which formats are found.
format: Format = OfficeFormat("ods", _MEDIA_TYPE, OpenDocumentKind.SHEETS.recognises, _open)  # noqa: A001

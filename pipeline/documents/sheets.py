"""Worksheets as text: rows that have content become lines, 200 of them a page, a sheet never shares one."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.documents.office_text import Block, PageBuilder, grid
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

ROWS_A_PAGE = 200
MAX_COLUMNS = 16_384
MAX_ROW_CHARACTERS = 5_000_000  # one text can be shared by every cell of a row
_MAX_CELLS_AT_ONCE = 50_000


class SheetWriter:
    """Takes the rows of one sheet after another; each row maps a column, counted from 0, to what its cell shows."""

    def __init__(self, pages: PageBuilder) -> None:
        self._pages = pages
        self._rows: list[tuple[int, dict[int, str]]] = []
        self._cells = self._characters = 0
        self._name = ""

    def begin(self, name: str, *, hidden: bool = False) -> None:
        """A sheet begins."""
        self._name = f"{'hidden sheet' if hidden else 'sheet'} {name}"

    def row(self, number: int, cells: Mapping[int, str]) -> None:
        """One row; `number` counts from 1. A row without content takes no room. Raises DocumentError(bomb)."""
        kept = {column: value for column, value in cells.items() if value.strip()}
        if not kept:
            return
        characters = sum(map(len, kept.values()))
        if characters > MAX_ROW_CHARACTERS:
            raise DocumentError(
                Reason.BOMB,
                f"row {number} shows {characters:,} characters; more than {MAX_ROW_CHARACTERS:,} are not read",
            )
        self._rows.append((number, kept))
        self._cells += len(kept)
        self._characters += characters
        if len(self._rows) >= ROWS_A_PAGE or max(self._cells, self._characters // 20) >= _MAX_CELLS_AT_ONCE:
            self._write()

    def line(self, text: str) -> None:
        """What belongs to the sheet but to no cell: a text box, a comment."""
        self._flush_rows()
        self._pages.line(text)

    def end(self) -> None:
        """The sheet ends, and with it its page."""
        self._write()

    def _write(self) -> None:
        self._flush_rows()
        self._pages.end_page()

    def _flush_rows(self) -> None:
        if not self._rows:
            self._pages.note = self._name
            return
        columns = sorted({column for _, cells in self._rows for column in cells})
        lines = grid([_blocks(cells, columns) for _, cells in self._rows])
        first, pages = self._rows[0][0], self._pages.count
        for (number, _), (text, layout) in zip(self._rows, lines, strict=True):
            self._pages.line(text, layout)  # may begin a new page, and the note is still that of the old one
            if self._pages.count > pages:
                first, pages = number, self._pages.count
            self._pages.note = f"{self._name}, rows {first} to {number}"
        self._rows, self._cells, self._characters = [], 0, 0


def _blocks(cells: Mapping[int, str], columns: list[int]) -> list[Block]:
    """A row's cells up to its last one; columns that are empty on the whole page are left out."""
    last = max(cells)
    return [_block(cells.get(column, "")) for column in columns if column <= last]


def _block(value: str) -> Block:
    block = Block()
    block.line(value)
    return block

"""Worksheets as text: rows that have content become lines, 200 of them a page, a sheet never shares one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipeline.documents.office.text import GAP, WIDEST_COLUMN, Block, PageBuilder, grid, is_in_proportion
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
        lines = list(_lines([cells for _, cells in self._rows]))
        first, pages = self._rows[0][0], self._pages.count
        for (number, _), (text, layout) in zip(self._rows, lines, strict=True):
            self._pages.line(text, layout)  # may begin a new page, and the note is still that of the old one
            if self._pages.count > pages:
                first, pages = number, self._pages.count
            self._pages.note = f"{self._name}, rows {first} to {number}"
        self._rows, self._cells, self._characters = [], 0, 0


def _lines(rows: Sequence[Mapping[int, str]]) -> Iterator[tuple[str, str]]:
    """Text and layout of each row; columns that are empty on the whole page are left out."""
    if any("\n" in value for cells in rows for value in cells.values()):
        columns = sorted({column for cells in rows for column in cells})
        yield from grid([[_block(cells.get(column, "")) for column in columns] for cells in rows])
        return
    widths = _widths(rows)
    for cells in rows:
        text = GAP.join(cells[column] for column in sorted(cells))
        yield text, _aligned(cells, widths) if widths else text


def _widths(rows: Sequence[Mapping[int, str]]) -> dict[int, int]:
    """Characters of each column, in order; nothing where padding would be out of proportion."""
    widths: dict[int, int] = {}
    content = 0
    for cells in rows:
        last = max(cells)
        for column, value in cells.items():
            content += len(value)
            # Nothing stands beside the last cell, which may be a title across the sheet.
            room = 1 if column == last else min(len(value), WIDEST_COLUMN)
            widths[column] = max(widths.get(column, 1), room)
    padded = len(rows) * (sum(widths.values()) + len(GAP) * len(widths))
    return dict(sorted(widths.items())) if is_in_proportion(padded, content) else {}


def _aligned(cells: Mapping[int, str], widths: Mapping[int, int]) -> str:
    """A row's cells below those of other rows; an overlong cell pushes those after it."""
    line, at, last = "", 0, max(cells)
    for column, width in widths.items():
        if column in cells:
            line = f"{line.ljust(at)}{cells[column]}{GAP}" if len(line) <= at else f"{line}{cells[column]}{GAP}"
        if column == last:
            break
        at += width + len(GAP)
    return line.rstrip()


def _block(value: str) -> Block:
    block = Block()
    block.line(value)
    return block

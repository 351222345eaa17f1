"""Rows of cells as text: columns line up, and two blanks or more stand between cells, as handlers expect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_WIDEST = 40  # a longer cell pushes its row to the right instead of all rows


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A line a row. A blank or a line break inside a cell becomes one blank; empty cells keep their width."""
    plain = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths: dict[int, int] = {}
    for row in plain:
        for number, cell in enumerate(row):
            widths[number] = max(widths.get(number, 0), min(len(cell), _WIDEST))
    for row in plain:
        yield "  ".join(cell.ljust(widths[number]) for number, cell in enumerate(row)).rstrip()

"""Lines of a page as text: in the order in which a person reads them, and as rows and columns made of spaces.

Columns of running text are read one after the other; tables and forms row by row. What tells them apart: lines of
running text fill their column, cells do not. A line across both columns ends them, like a headline between two parts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from pipeline.documents import pdf_rows
from pipeline.documents.ocr.seen import Line

_FEWEST_LINES = 4  # in each column: fewer look like a form
_FULL = 0.6  # a line that fills this part of its column is running text
_MOSTLY = 0.5  # this part of a column's lines must be full
_SAME_ROW = 0.5  # middles within this part of the smaller height


def layout(lines: Sequence[Line]) -> str:
    """The page with its columns kept apart by spaces, as born-digital pages are laid out."""
    return pdf_rows.layout(itertools.chain.from_iterable(_glyphs(line) for line in lines))


def reading(lines: Sequence[Line]) -> str:
    """The text, line by line in reading order."""
    return "\n".join(" ".join(line.text for line in row) for row in _ordered(lines))


def _glyphs(line: Line) -> Iterator[pdf_rows.Glyph]:
    """The line as characters of equal width; engines give no boxes for them."""
    pitch = line.width / max(len(line.text), 1)
    for number, sign in enumerate(line.text):
        left = line.left + number * pitch
        yield pdf_rows.Glyph(sign, left, -line.bottom, left + pitch, -line.top)
    yield pdf_rows.Glyph(" ")  # two lines side by side are never one word
    yield pdf_rows.Glyph("\n")


def _ordered(lines: Sequence[Line]) -> Iterator[list[Line]]:
    gutter = _gutter(lines)
    if gutter is None:
        yield from rows(lines)
        return
    for part in _parts(lines, gutter):
        left = [line for line in part if line.right <= gutter]
        right = [line for line in part if line.left >= gutter]
        if left and right and len(left) + len(right) == len(part):
            yield from _ordered(left)
            yield from _ordered(right)
        else:
            yield from rows(part)


def rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines by rows from the top, each from left to right."""
    found: list[list[Line]] = []
    for line in sorted(lines, key=lambda each: (each.middle, each.left)):
        first = found[-1][0] if found else None
        if first is not None and line.middle - first.middle < _SAME_ROW * min(first.height, line.height):
            found[-1].append(line)
        else:
            found.append([line])
    return [sorted(row, key=lambda each: each.left) for row in found]


def _parts(lines: Sequence[Line], gutter: float) -> list[list[Line]]:
    """The lines from the top, cut wherever one lies across the gutter."""
    parts: list[list[Line]] = [[]]
    across = False
    for line in sorted(lines, key=lambda each: each.middle):
        lies_across = line.left < gutter < line.right
        if lies_across != across and parts[-1]:
            parts.append([])
        across = lies_across
        parts[-1].append(line)
    return parts


def _gutter(lines: Sequence[Line]) -> float | None:
    """Where a white band parts two columns of running text, or None."""
    if len(lines) < 2 * _FEWEST_LINES:
        return None
    candidates = sorted({line.left - 1 for line in lines})
    fit = [(x, crossed) for x in candidates if (crossed := _crossed(lines, x)) is not None]
    return min(fit, key=lambda each: each[1])[0] if fit else None


def _crossed(lines: Sequence[Line], x: float) -> int | None:
    """How many lines lie across x, if what is on either side of it is running text."""
    left = [line for line in lines if line.right <= x]
    right = [line for line in lines if line.left >= x]
    crossed = len(lines) - len(left) - len(right)
    if crossed > len(lines) / 4 or not (_is_running(left) and _is_running(right)):
        return None
    return crossed


def _is_running(lines: Sequence[Line]) -> bool:
    if len(lines) < _FEWEST_LINES:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    full = sum(line.width > _FULL * width for line in lines)
    return full >= max(_FEWEST_LINES - 1, _MOSTLY * len(lines))

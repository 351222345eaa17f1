"""Lines of a page as text: in the order in which a person reads them, and as rows and columns made of spaces.

Columns of running text are read one after the other, tables and forms row by row. What tells them apart: lines of
running text are long and fill their column, cells are not and do not. Columns may begin and end anywhere on the page;
the lines above and below that lie across the gap between them are read before and after.
"""

from __future__ import annotations

import bisect
import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.documents import page_rows as pdf_rows
from pipeline.documents.ocr.seen import Line

_FEWEST_LINES = 4  # in each column: fewer look like a form
_LONG = 18  # characters of a usual line in a narrow newspaper column; cells are shorter
_FULL = 0.6  # a line that fills this part of its column is running text
_MOSTLY = 0.5  # this part of a column's lines must be full
_SAME_ROW = 0.5  # middles within this part of the smaller height
_APART = 1.5  # heights between the middles of lines that do not follow each other
_OVERHANG = 0.5  # of a line's height: boxes are drawn a little larger than what is in them


@dataclass(frozen=True, slots=True)
class _Placed:
    """A line, with the nearest box edges beside it on its row."""

    line: Line
    nearest_left: float
    nearest_right: float

    def crosses(self, x: float) -> bool:
        margin = _OVERHANG * self.line.height
        return self.line.left + margin < x < self.line.right - margin

    def is_left_of(self, x: float) -> bool:
        return self.line.left + self.line.right < 2 * x


def layout(lines: Sequence[Line]) -> pdf_rows.Layout:
    """The page with its columns kept apart by spaces, as born-digital pages are; places count upwards, so below 0."""
    return pdf_rows.layout(itertools.chain.from_iterable(_glyphs(line) for line in lines))


def reading(lines: Sequence[Line]) -> str:
    """The text, line by line in reading order."""
    return "\n".join(" ".join(line.text for line in row) for row in _ordered(_placed(lines)))


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


def _glyphs(line: Line) -> Iterator[pdf_rows.Glyph]:
    """The line as characters of equal width; engines give no boxes for them."""
    pitch = line.width / max(len(line.text), 1)
    for number, sign in enumerate(line.text):
        left = line.left + number * pitch
        yield pdf_rows.Glyph(sign, left, -line.bottom, left + pitch, -line.top)
    yield pdf_rows.Glyph(" ")  # two lines side by side are never one word
    yield pdf_rows.Glyph("\n")


def _placed(lines: Sequence[Line]) -> list[_Placed]:
    """The lines from the top, each with its neighbours."""
    ordered = sorted(lines, key=lambda each: each.middle)
    middles = [line.middle for line in ordered]
    placed = []
    for line in ordered:
        reach = _SAME_ROW * line.height
        first, last = bisect.bisect_left(middles, line.middle - reach), bisect.bisect(middles, line.middle + reach)
        beside = ordered[first:last]
        centre = line.left + line.right
        left = max((each.right for each in beside if each.left + each.right < centre), default=-math.inf)
        right = min((each.left for each in beside if each.left + each.right > centre), default=math.inf)
        placed.append(_Placed(line, left, right))
    return placed


def _ordered(placed: Sequence[_Placed]) -> Iterator[list[Line]]:
    """Rows in reading order; the lines come from the top."""
    found = _columns(placed)
    if found is None:
        yield from rows([each.line for each in placed])
        return
    x, first, last = found
    between = placed[first:last]
    yield from _ordered(placed[:first])
    yield from _ordered([each for each in between if each.is_left_of(x)])
    yield from _ordered([each for each in between if not each.is_left_of(x)])
    yield from _ordered(placed[last:])


def _columns(placed: Sequence[_Placed]) -> tuple[float, int, int] | None:
    """The gap between columns that parts the most lines: where it is and for which of the lines it holds."""
    best: tuple[int, float, int, int] | None = None
    for x in _candidates(placed):
        for first, last in _uncrossed(placed, x):
            strength = _strength(placed[first:last], x)
            if strength and (best is None or strength > best[0]):
                best = strength, x, first, last
    if best is None:
        return None
    _, x, first, last = best
    return x, first, last - _tail(placed[first:last])


def _tail(placed: Sequence[_Placed]) -> int:
    """How many lines at the end stand apart, below both columns: the headline of what follows them."""
    for count in range(1, min(_FEWEST_LINES, len(placed))):
        above, below = placed[-count - 1].line, placed[-count].line
        if below.middle - above.middle > _APART * below.height:
            return count
    return 0


def _candidates(placed: Sequence[_Placed]) -> list[float]:
    """Left edges where several lines begin, each once."""
    edges = sorted(each.line.left for each in placed)
    height = statistics.median(each.line.height for each in placed) if placed else 0.0
    groups: list[list[float]] = []
    for edge in edges:
        if groups and edge - groups[-1][0] < height:
            groups[-1].append(edge)
        else:
            groups.append([edge])
    return [group[0] for group in groups if len(group) >= _FEWEST_LINES - 1]


def _uncrossed(placed: Sequence[_Placed], x: float) -> Iterator[tuple[int, int]]:
    """Stretches of lines, as slices, none of which lies across x."""
    first = 0
    for number, each in enumerate(placed):
        if each.crosses(x):
            if number - first >= 2 * _FEWEST_LINES:
                yield first, number
            first = number + 1
    if len(placed) - first >= 2 * _FEWEST_LINES:
        yield first, len(placed)


def _strength(placed: Sequence[_Placed], x: float) -> int:
    """How many lines of running text stand on either side of x, next to it; 0 when one side has none."""
    left = [each.line for each in placed if each.is_left_of(x) and each.nearest_right > x - each.line.height]
    right = [each.line for each in placed if not each.is_left_of(x) and each.nearest_left < x + each.line.height]
    return min(len(left), len(right)) if _is_running(left) and _is_running(right) else 0


def _is_running(lines: Sequence[Line]) -> bool:
    if len(lines) < _FEWEST_LINES or statistics.median(len(line.text) for line in lines) < _LONG:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    return sum(line.width > _FULL * width for line in lines) >= _MOSTLY * len(lines)

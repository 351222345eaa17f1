"""Rows and columns of a page, rebuilt from the boxes of its words: what a reader sees side by side is one line.

Words or characters that follow each other become runs, runs at one height become a row, and each run of a row starts at
its column of a grid as wide as the page's usual character. Runs far apart are separated by two spaces or more, so that
splitting a line at two spaces gives its cells. Text that runs sideways is laid out on its own, after the rest.
Where each word of a line stands is told beside the lines.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.documents.places import Places

# All in heights of the line: a space that was not written, a new cell, a step back that still is kerning.
_SPACE = 0.28
CELL = 0.9
_KERNING = 0.5
# Runs are in one row when their middles differ by less than this part of the smaller height.
SAME_ROW = 0.5
_LAST_COLUMN = 400  # a page can claim any width; lines stay readable and memory bounded
_FARTHEST = 1e6  # points; PDF pages end at 14,400
_LOWEST_LINE = 2.0  # points; fonts without a bounding box claim no height
_USUAL_WIDTH = 5.0  # points, when a page has too little text to measure


class Glyph(NamedTuple):
    """A character, or some without a gap, and the box in points, y upwards. `turns`: quarter turns clockwise of it.

    White space needs no box: a newline ends a run, anything else is a space in it.
    """

    sign: str
    left: float = 0.0
    bottom: float = 0.0
    right: float = 0.0
    top: float = 0.0
    turns: int = 0


class Layout(NamedTuple):
    """A page as lines of text, and where the words of each line stand."""

    text: str
    places: Places


@dataclass(slots=True)
class _Run:
    """Glyphs that follow each other at one height; coordinates are those of the reader who turns the page."""

    left: float
    right: float
    middle: float
    height: float
    turns: int
    signs: list[str]
    edges: list[float]  # left and right of each word
    spaced: bool = False  # white space came after the last glyph
    text: str = ""  # known when the run is complete

    def continues_at(self, left: float, middle: float, height: float, turns: int) -> bool:
        return (
            -_KERNING * height < left - self.right < CELL * self.height
            and abs(middle - self.middle) < SAME_ROW * (self.height if self.height > height else height)
            and self.turns == turns
        )

    def append(self, sign: str, left: float, right: float) -> None:
        if self.spaced or left - self.right > _SPACE * self.height:
            self.signs.append(" ")
            self.edges += (left, right)
        else:
            self.edges[-1] = right
        self.signs.append(sign)
        self.right, self.spaced = right, False

    def place(self, places: Places, *, joined: bool) -> None:
        """Add where its words stand, as the page lies. `joined`: the first one is the rest of the word before."""
        low, high = self.middle - self.height / 2, self.middle + self.height / 2
        words, edges = self.text.count(" ") + 1, self.edges
        if 2 * words != len(edges):  # a glyph was several words
            edges = [self.left, self.right]
        if not self.turns:
            places.spans.append((words - joined, len(edges) // 2, low, high))
            places.edges += edges
            return
        for left, right in zip(edges[::2], edges[1::2], strict=True):
            back = upright(left, low, right, high, 4 - self.turns)
            places.spans.append(((words if len(edges) == 2 else 1) - joined, 1, back[1], back[3]))
            places.edges += back[::2]
            joined = False


def layout(glyphs: Iterable[Glyph]) -> Layout:
    """The page as lines of text, columns kept apart with spaces. Any order of glyphs, any numbers; never raises.

    Pages that are written sideways as a whole come out upright; the places of their words are where they are.
    """
    by_turns: dict[int, list[_Run]] = {}
    for run in _runs(glyphs):
        run.text = "".join(run.signs)
        by_turns.setdefault(run.turns, []).append(run)
    directions = sorted(by_turns.values(), key=lambda runs: -sum(len(run.text) for run in runs))
    places = Places()
    return Layout("\n".join(line for runs in directions for line in _block(runs, places)), places)


def _runs(glyphs: Iterable[Glyph]) -> list[_Run]:
    runs: list[_Run] = []
    current: _Run | None = None
    for sign, left, bottom, right, top, turns in glyphs:
        if sign.isspace():
            if sign == "\n":
                current = None
            elif current is not None:
                current.spaced = True
            continue
        if turns:
            left, bottom, right, top = upright(left, bottom, right, top, turns)  # noqa: PLW2901
        middle, height = (bottom + top) / 2, max(abs(top - bottom), _LOWEST_LINE)
        # No page is that large; false also for what is not a number.
        if not (-_FARTHEST < left < _FARTHEST and -_FARTHEST < right < _FARTHEST and height < _FARTHEST > abs(middle)):
            continue
        if current is not None and current.continues_at(left, middle, height, turns):
            current.append(sign, left, right)
        else:
            current = _Run(left, right, middle, height, turns, [sign], [left, right])
            runs.append(current)
    return runs


def upright(left: float, bottom: float, right: float, top: float, turns: int) -> tuple[float, float, float, float]:
    """The box seen with the page turned so that what is written in it stands upright, by one to three turns."""
    if turns == 1:
        return -top, left, -bottom, right
    if turns == 2:
        return -right, -top, -left, -bottom
    return bottom, -right, top, -left


def _block(runs: Sequence[_Run], places: Places) -> Iterator[str]:
    origin = min(run.left for run in runs)
    widths = [(run.right - run.left) / len(run.text) for run in runs if len(run.text) > 3]
    width = max(statistics.median(widths), 0.5) if widths else _USUAL_WIDTH
    for row in _rows(runs):
        yield _line(row, origin, width, places)


def _rows(runs: Sequence[_Run]) -> list[list[_Run]]:
    """Runs by rows, from the top; each row is measured against its highest run, so that rows cannot creep together."""
    rows: list[list[_Run]] = []
    for run in sorted(runs, key=lambda each: (-each.middle, each.left)):
        first = rows[-1][0] if rows else None
        if first is not None and first.middle - run.middle < SAME_ROW * min(first.height, run.height):
            rows[-1].append(run)
        else:
            rows.append([run])
    return rows


def _line(row: Sequence[_Run], origin: float, width: float, places: Places) -> str:
    line = ""
    before: _Run | None = None
    for run in sorted(row, key=lambda each: each.left):
        column, joined = min(int((run.left - origin) / width), _LAST_COLUMN), False
        if before is None:
            line = " " * column
        elif run.left - before.right > CELL * run.height:
            line += " " * max(2, column - len(line))
        elif before.spaced or not -_SPACE < (run.left - before.right) / run.height < _SPACE / 2:
            line += " "
        else:
            joined = True
        run.place(places, joined=joined)
        line += run.text
        before = run
    places.ends.append(len(places.spans))
    return line

"""Rows and columns of a page, rebuilt from the boxes of its characters: what a reader sees side by side is one line.

Characters that follow each other become runs, runs at one height become a row, and each run of a row starts at its
column of a grid as wide as the page's usual character. Runs far apart are separated by two spaces or more, so that
splitting a line at two spaces gives its cells. Text that runs sideways is laid out on its own, after the rest.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

# All in heights of the line: a space that was not written, a new cell, a step back that still is kerning.
_SPACE = 0.28
_CELL = 0.9
_KERNING = 0.5
# Runs are in one row when their middles differ by less than this part of the smaller height.
_SAME_ROW = 0.5
_LAST_COLUMN = 400  # a page can claim any width; lines stay readable and memory bounded
_FARTHEST = 1e6  # points; PDF pages end at 14,400
_LOWEST_LINE = 2.0  # points; fonts without a bounding box claim no height
_USUAL_WIDTH = 5.0  # points, when a page has too little text to measure


class Glyph(NamedTuple):
    """A character and its box in points, y upwards. `turns`: quarter turns clockwise by which it is written.

    White space needs no box: a newline ends a run, anything else is a space in it.
    """

    sign: str
    left: float = 0.0
    bottom: float = 0.0
    right: float = 0.0
    top: float = 0.0
    turns: int = 0


@dataclass(slots=True)
class _Run:
    """Characters that follow each other at one height; coordinates are those of the reader who turns the page."""

    left: float
    right: float
    middle: float
    height: float
    turns: int
    signs: list[str]
    spaced: bool = False  # white space came after the last character

    def is_on_paper(self) -> bool:
        """Whether a page can be that large; false also for what is not a number."""
        return (
            -_FARTHEST < self.left < _FARTHEST
            and -_FARTHEST < self.right < _FARTHEST
            and -_FARTHEST < self.middle < _FARTHEST
            and self.height < _FARTHEST
        )

    def continues_at(self, other: _Run) -> bool:
        step = other.left - self.right
        return (
            self.turns == other.turns
            and abs(other.middle - self.middle) < _SAME_ROW * max(self.height, other.height)
            and -_KERNING * other.height < step < _CELL * self.height
        )

    def append(self, other: _Run) -> None:
        if self.spaced or other.left - self.right > _SPACE * self.height:
            self.signs.append(" ")
        self.signs += other.signs
        self.right, self.spaced = other.right, False


def layout(glyphs: Iterable[Glyph]) -> str:
    """The page as lines of text, columns kept apart with spaces. Any order of characters, any numbers; never raises.

    Pages that are written sideways as a whole come out upright.
    """
    by_turns: dict[int, list[_Run]] = {}
    for run in _runs(glyphs):
        by_turns.setdefault(run.turns, []).append(run)
    directions = sorted(by_turns.values(), key=lambda runs: -sum(len(run.signs) for run in runs))
    return "\n".join(_block(runs) for runs in directions)


def _runs(glyphs: Iterable[Glyph]) -> list[_Run]:
    runs: list[_Run] = []
    current: _Run | None = None
    for glyph in glyphs:
        if glyph.sign.isspace():
            if glyph.sign == "\n":
                current = None
            elif current is not None:
                current.spaced = True
            continue
        start = _start(glyph)
        if not start.is_on_paper():
            continue
        if current is not None and current.continues_at(start):
            current.append(start)
        else:
            current = start
            runs.append(start)
    return runs


def _start(glyph: Glyph) -> _Run:
    """A run of one character, seen with the page turned so that the character stands upright."""
    sign, left, bottom, right, top, turns = glyph
    if turns == 1:
        left, bottom, right, top = -top, left, -bottom, right
    elif turns == 2:
        left, bottom, right, top = -right, -top, -left, -bottom
    elif turns == 3:
        left, bottom, right, top = bottom, -right, top, -left
    return _Run(left, right, (bottom + top) / 2, max(abs(top - bottom), _LOWEST_LINE), turns, [sign])


def _block(runs: Sequence[_Run]) -> str:
    origin = min(run.left for run in runs)
    widths = [(run.right - run.left) / len(run.signs) for run in runs if len(run.signs) > 3]
    width = max(statistics.median(widths), 0.5) if widths else _USUAL_WIDTH
    return "\n".join(_line(row, origin, width) for row in _rows(runs))


def _rows(runs: Sequence[_Run]) -> list[list[_Run]]:
    """Runs by rows, from the top; each row is measured against its highest run, so that rows cannot creep together."""
    rows: list[list[_Run]] = []
    for run in sorted(runs, key=lambda each: (-each.middle, each.left)):
        first = rows[-1][0] if rows else None
        if first is not None and first.middle - run.middle < _SAME_ROW * min(first.height, run.height):
            rows[-1].append(run)
        else:
            rows.append([run])
    return rows


def _line(row: Sequence[_Run], origin: float, width: float) -> str:
    line = ""
    before: _Run | None = None
    for run in sorted(row, key=lambda each: each.left):
        column = min(int((run.left - origin) / width), _LAST_COLUMN)
        if before is None:
            line = " " * column
        elif run.left - before.right > _CELL * run.height:
            line += " " * max(2, column - len(line))
        elif before.spaced or not -_SPACE < (run.left - before.right) / run.height < _SPACE / 2:
            line += " "
        line += "".join(run.signs)
        before = run
    return line

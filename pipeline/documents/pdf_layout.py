"""A PDF page's layout for next to nothing: running text is its own layout, and rows are rebuilt from words.

Asking pdfium for a box costs as much as reading fifty characters, so few are asked for. The two ends of each line tell
whether lines stand side by side or below each other; inside of lines that could hide a gap, and on pages that have
columns, the two ends of each word are asked for; every character only of words that do not run straight from left to
right. The text and pdfium's list of characters have the same order, and mostly the same positions.
"""

from __future__ import annotations

import ctypes
import math
import re
import statistics
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat
from typing import Any

from pypdfium2 import raw

from pipeline.documents.pdf_rows import CELL, SAME_ROW, Glyph, layout

_MOST_CHARACTERS = 100_000  # a page of text has 3,000; beyond this the rows cost more than they tell
_FARTHEST_CHARACTER = 0x10FFFF
# pdfium marks a hyphen at a line's end by U+0002, in its text by U+FFFE, and drops the newline behind it.
_HYPHENS = {0x02: "-", 0xAD: "-", 0xFFFE: "-"}
_WORD = re.compile(r"[^\s\x00-\x1f\ufffe]+[\x02\ufffe]?|[\x02\ufffe]")
_LINE = re.compile(r"[^\s\x00-\x1f\ufffe](?:[^\n\x02\ufffe]*[^\s\x00-\x1f\ufffe])?")
_SPACE, _BREAK = Glyph(" "), Glyph("\n")

_FEW_LINES = 8  # long ones; a page with fewer is a cover, a form or a list
_SHORT_LINE = 40  # characters; a gap of two more does not show in the width of a longer one...
_WIDE = 1.08  # ...unless it makes the line wider than justified text varies
_FIGURES = re.compile(r"\d\S*\s+(?:\S{1,3}\s+)?\S{0,3}\d|\d\S{0,3}$")  # two amounts, or one at the end
_BACKWARDS = 3  # header and footer may be written before or after the rest, not more
_WIDEST = 1.6  # heights of the line a character; a word that is wider has a gap inside
_STRAIGHT = 0.25  # heights of the line by which the ends of a straight word may differ

_Ends = tuple[float, float, float, float, float, float, float, float]


def page_layout(text_page: Any, text: str) -> str:
    """Rows and columns of a pypdfium2 text page; `text` itself where the page is one column of running text.

    `text` is the whole text as pypdfium2 gives it. Never raises for odd positions; a page with more than 100,000
    characters is not laid out.
    """
    if text_page.count_chars() > _MOST_CHARACTERS:
        return text
    signs = _signs(text_page, text)
    boxes = _Boxes(text_page)
    if _is_running_text(signs, boxes):
        return text
    lines = layout(_glyphs(signs, boxes))
    return lines.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Boxes:
    """Where characters stand, asked for many at a time: prototypes of plain numbers halve the price of a call."""

    def __init__(self, text_page: Any) -> None:
        self._page = ctypes.cast(text_page.raw, ctypes.c_void_p).value
        self._box = _native(raw.FPDFText_GetLooseCharBox, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
        self._angle = _native(raw.FPDFText_GetCharAngle, ctypes.c_float, ctypes.c_int)

    def of(self, places: Sequence[int]) -> ctypes.Array[ctypes.c_float]:
        """Left, top, right and bottom of each, one after the other, as pdfium's FS_RECTF has them."""
        found = (ctypes.c_float * (4 * len(places)))()
        start = ctypes.addressof(found)
        for _ in map(self._box, repeat(self._page), places, range(start, start + ctypes.sizeof(found), 16)):
            pass
        return found

    def ends(self, spans: Sequence[re.Match[str]]) -> list[_Ends]:
        """The box of each span's first and of its last character."""
        places = [place for span in spans for place in (span.start(), span.end() - 1)]
        return list(struct.iter_unpack("8f", self.of(places)))

    def turns(self, place: int) -> int:
        """Quarter turns clockwise by which a character is written."""
        angle = self._angle(self._page, place)
        return round(angle * 2 / math.pi) % 4 if angle else 0


def _native(function: Any, result: Any, *arguments: Any) -> Any:
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.CFUNCTYPE(result, ctypes.c_void_p, *arguments)(address)


def _signs(text_page: Any, text: str) -> str:
    """The page's characters, each at its position in pdfium's list; those beyond 16 bits are two halves there."""
    count = text_page.count_chars()
    if len(text) == count:
        return text
    codes = (raw.FPDFText_GetUnicode(text_page, place) for place in range(count))
    return "".join(chr(code) if code <= _FARTHEST_CHARACTER else "\N{REPLACEMENT CHARACTER}" for code in codes)


def _is_running_text(signs: str, boxes: _Boxes) -> bool:
    """Whether each line is below the one before it and none has a gap: then there are no columns to keep apart."""
    lines = list(_LINE.finditer(signs))
    if len(lines) < _FEW_LINES:
        return False
    ends = boxes.ends(lines)
    if not all(map(_is_straight, ends)) or not _go_downwards(ends):
        return False
    widths = [(end[6] - end[0]) / (line.end() - line.start()) for line, end in zip(lines, ends, strict=True)]
    long = [width for width, line in zip(widths, lines, strict=True) if line.end() - line.start() >= _SHORT_LINE]
    if len(long) < _FEW_LINES:
        return False
    widest = statistics.median(long) * _WIDE
    return not any(
        _has_gap(signs, line, boxes)
        for line, width in zip(lines, widths, strict=True)
        if width > widest or line.end() - line.start() < _SHORT_LINE or _FIGURES.search(line[0])
    )


def _is_straight(end: _Ends) -> bool:
    """Whether a span runs from left to right at one height. False also for what is not a number."""
    left, top, _, bottom, _, last_top, right, last_bottom = end
    height = top - bottom
    return (
        abs(top + bottom - last_top - last_bottom) < 2 * _STRAIGHT * height and right > left and last_top > last_bottom
    )


def _go_downwards(ends: Sequence[_Ends]) -> bool:
    """Whether no two lines stand side by side, and almost every one is below the one before it."""
    middles = [(end[1] + end[3], end[1] - end[3]) for end in ends]
    if sum(after[0] > before[0] for before, after in pairwise(middles)) > _BACKWARDS:
        return False
    middles.sort()
    return all(upper[0] - lower[0] >= 2 * SAME_ROW * min(upper[1], lower[1]) for lower, upper in pairwise(middles))


def _has_gap(signs: str, line: re.Match[str], boxes: _Boxes) -> bool:
    words = list(_WORD.finditer(signs, *line.span()))
    return any(after[0] - before[6] > CELL * (before[1] - before[3]) for before, after in pairwise(boxes.ends(words)))


def _glyphs(signs: str, boxes: _Boxes) -> Iterator[Glyph]:
    """Words with their boxes, in the order of the text."""
    words = list(_WORD.finditer(signs))
    printed = signs.translate(_HYPHENS)
    before = 0
    for word, end in zip(words, boxes.ends(words), strict=True):
        start, stop = word.span()
        if start > before:
            yield _BREAK if signs.find("\n", before, start) >= 0 else _SPACE
        before = stop
        left, top, _, bottom, _, _, right, _ = end
        if stop - start > 1 and _is_straight(end) and right - left < _WIDEST * (top - bottom) * (stop - start):
            yield Glyph(printed[start:stop], left, bottom, right, top)
        else:
            yield from _single(printed, range(start, stop), boxes)


def _single(printed: str, places: range, boxes: _Boxes) -> Iterator[Glyph]:
    for place, (left, top, right, bottom) in zip(places, struct.iter_unpack("4f", boxes.of(places)), strict=True):
        yield Glyph(printed[place], left, bottom, right, top, boxes.turns(place))

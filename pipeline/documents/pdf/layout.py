"""A PDF page's layout for next to nothing: running text is its own layout, and rows are rebuilt from lines and words.

Asking pdfium for a box costs as much as reading fifty characters of text, so few are asked for: the two ends of each
line, where a line could hide a gap the two ends of each of its words, and every character only of words that do not run
straight from left to right. The text and pdfium's list of characters have the same order, and mostly the same
positions.
"""

from __future__ import annotations

import ctypes
import math
import re
import statistics
import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, repeat
from operator import add
from typing import Any

from pypdfium2 import raw

from pipeline.documents.page_rows import SAME_ROW, Glyph, Layout, layout
from pipeline.documents.places import REST, Places

_MOST_CHARACTERS = 100_000  # a page of text has 3,000; beyond this the rows cost more than they tell
_FARTHEST_CHARACTER = 0x10FFFF
_SPACE, _BREAK = Glyph(" "), Glyph("\n")
# pdfium marks a hyphen at a line's end by U+0002, in its text by U+FFFE, and drops the newline behind it.
_WORD = re.compile(r"[^\s\x00-\x1f\ufffe]+[\x02\ufffe]?|[\x02\ufffe]")
_LINE = re.compile(r"[^\s\x00-\x1f\ufffe](?:[^\n\x02\ufffe]*[^\s\x00-\x1f\ufffe])?[\x02\ufffe]?|[\x02\ufffe]")
# Two numbers side by side, or one at the end that an amount could be. Bounded: a line may be all digits or all blanks.
_FIGURES = re.compile(r"\d\S{0,40}\s{1,400}(?:\S{1,3}\s{1,400})?\S{0,3}\d|\d\S{0,3}(?: [A-Z€$£%]{1,3})?\s*$")
_ENTRY = re.compile(r"\s*\w{1,12}:|.*(?:__|\d[.,]\d\d\D{0,4}$)")  # a label, a line to write on, an amount

_NUMBER = 12  # characters of the longest number of a clause or an item, with what is around it

# Running text: paragraphs as wide as the page, with headings and last lines between them.
_FULL_LINES = 8  # a page with fewer is a cover, a form or a list
_FULL = 0.8  # of the upper quartile of the lines' lengths, so that no column fits into the rest
_NARROW = 40  # characters of a full line
_BLOCK = 4  # short lines that follow each other, entries twice: the end of a paragraph and a heading of two, not more
_LINES_WITH_FIGURES = 0.15  # of all

_SURELY_WHOLE = 60  # characters of a line in which a gap of two shows in the width...
_WIDE = 1.05  # ...as that many times the usual, and usual lines differ by less
_STRAIGHT = 0.25  # heights of the line by which the ends of a straight word may differ
_WIDEST = 1.6  # heights of the line a character; a word that is wider has a gap inside

_Ends = tuple[float, float, float, float, float, float, float, float]


def page_layout(text_page: Any, text: str) -> Layout:
    """Rows and columns of a pypdfium2 text page; `text` itself where the page is running text.

    `text` is the whole text as pypdfium2 gives it. Never raises for odd positions; a page with more than 100,000
    characters is not laid out.
    """
    if text_page.count_chars() > _MOST_CHARACTERS:
        return Layout(text, Places())
    signs, boxes = _signs(text_page, text), _Boxes(text_page)
    if _is_running_text(text):
        return Layout(text, _ends_of_lines(signs, boxes))
    lines, places = layout(_glyphs(signs, boxes))
    return Layout(lines.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"), places)


def _is_running_text(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < _FULL_LINES:
        return False
    lengths = sorted(map(len, lines))
    full = lengths[len(lengths) * 3 // 4] * _FULL
    if full < _NARROW or sum(length >= full for length in lengths) < _FULL_LINES:
        return False
    block = 0
    for line in lines:
        block = 0 if len(line) >= full else block + (2 if _ENTRY.match(line) else 1)
        if block > _BLOCK:
            return False
    return sum(_FIGURES.search(line) is not None for line in lines) <= _LINES_WITH_FIGURES * len(lines)


def _ends_of_lines(signs: str, boxes: _Boxes) -> Places:
    """Where the lines of running text stand, and the numbers before them, behind which there may be a wide gap.

    A word that is broken at the end of a line has a place on both.
    """
    found, words, ends, before = Places(), list[int](), list[int](), ""
    if signs.count("\r") != signs.count("\r\n"):
        return found  # cleaning makes more lines of it
    pieces = signs.replace("\x02", "\n").replace("\ufffe", "\n").split("\n")
    starts = accumulate(map(add, map(len, pieces), repeat(1)), initial=0)
    for piece, body, start in zip(pieces, map(str.strip, pieces), starts, strict=False):
        if start and signs[start - 1] == "\n":
            found.ends.append(len(words))
            before = ""
        if body and body[0] != piece[0]:
            start += len(piece) - len(piece.lstrip())  # noqa: PLW2901
        if before:  # the first word is the rest of the last one
            words[-1] = len(before.split())
        head = _head(body, broken=before != "")
        if head:
            words.append(0 if before else 1)
            ends += (start, start + head - 1)
        before = body[head:].lstrip() if head else body
        if before:
            words.append(REST)
            ends += (start + len(body) - len(before), start + len(body) - 1)
    found.ends.append(len(words))
    return _between(found, words, struct.unpack(f"{8 * len(words)}f", boxes.of(ends)))


def _between(places: Places, words: Sequence[int], ends: Sequence[float]) -> Places:
    """Each span from its first to its last character, whose boxes follow each other, as high as the first."""
    places.spans = list(zip(words, repeat(1), ends[3::8], ends[1::8], strict=False))
    places.edges = [0.0] * (2 * len(words))
    places.edges[::2], places.edges[1::2] = ends[::8], ends[6::8]
    return places


def _head(body: str, *, broken: bool) -> int:
    """How many characters at a line's start have a place of their own: a number's, or those of a broken word's rest."""
    if broken:
        return len(body.split(None, 1)[0]) if body else 0
    end = body.find(" ", 1, _NUMBER)
    return end if end > 0 and (body[end - 1] in ".)" or not body[0].isalpha()) else 0


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


def _glyphs(signs: str, boxes: _Boxes) -> Iterator[Glyph]:
    """Lines without a gap as one glyph each, the words of the others; in the order of the text."""
    printed = signs.replace("\x02", "-").replace("\xad", "-").replace("\ufffe", "-")
    lines = list(_LINE.finditer(signs))
    ends = boxes.ends(lines)
    whole = _without_gap(lines, ends)
    words = [list(_WORD.finditer(signs, *line.span())) if line not in whole else [] for line in lines]
    word_ends = iter(boxes.ends([word for each in words for word in each]))
    for line, end, inside in zip(lines, ends, words, strict=True):
        if not inside:
            yield _glyph(" ".join(printed[line.start() : line.end()].split()), end)
        for word in inside:
            if word is not inside[0]:
                yield _SPACE
            start, stop = word.span()
            word_end = next(word_ends)
            if stop - start > 1 and _is_straight(word_end, _STRAIGHT) and _is_dense(word_end, stop - start):
                yield _glyph(printed[start:stop], word_end)
            else:
                yield from _single(printed, range(start, stop), boxes)
        yield _BREAK


def _without_gap(lines: Sequence[re.Match[str]], ends: Sequence[_Ends]) -> set[re.Match[str]]:
    """The straight lines that are long enough to show a gap by their width, and show none."""
    widths = [
        (line, end, (end[6] - end[0]) / (line.end() - line.start()))
        for line, end in zip(lines, ends, strict=True)
        if line.end() - line.start() >= _SURELY_WHOLE
    ]
    widest = statistics.median(width for _, _, width in widths) * _WIDE if widths else 0.0
    return {
        line
        for line, end, width in widths
        if width <= widest and _is_straight(end, SAME_ROW) and not _FIGURES.search(line[0])
    }


def _glyph(text: str, end: _Ends) -> Glyph:
    left, top, _, bottom, _, _, right, _ = end
    return Glyph(text, left, bottom, right, top)


def _is_dense(end: _Ends, length: int) -> bool:
    """Whether that many characters fill the span."""
    return end[6] - end[0] < _WIDEST * (end[1] - end[3]) * length


def _is_straight(end: _Ends, slack: float) -> bool:
    """Whether a span runs from left to right at one height. False also for what is not a number."""
    left, top, _, bottom, _, last_top, right, last_bottom = end
    height, last_height = top - bottom, last_top - last_bottom
    higher = height if height > last_height else last_height
    return right > left and last_height > 0 and abs(top + bottom - last_top - last_bottom) < 2 * slack * higher


def _single(printed: str, places: range, boxes: _Boxes) -> Iterator[Glyph]:
    for place, (left, top, right, bottom) in zip(places, struct.iter_unpack("4f", boxes.of(places)), strict=True):
        yield Glyph(printed[place], left, bottom, right, top, boxes.turns(place))

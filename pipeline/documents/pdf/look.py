"""What a PDF page is, in figures: how much of it is text, image, drawing, and whether its text can be read.

A page full of text that reads well is accepted after a glance at its objects, a shorter one without large images once
all were counted; the rest costs some milliseconds, and a doubtful page is rendered small to see whether there is print
where no text is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import repeat
from typing import Any

from PIL import Image, ImageChops, ImageFilter
from pypdfium2 import raw

from pipeline.documents.pdf.legibility import bad_share, legibility, reads_well
from pipeline.documents.pdf.page_need import Figures, is_doubtful
from pipeline.documents.pdf.render import small

_BLANKS = bytes(code for code in range(128) if chr(code).isspace())
_GRID = 32  # cells a side; areas are counted in them, so that what overlaps counts once
_FULL_OF_TEXT = 2_000  # characters that cover a quarter of the page, so that nothing beside them can matter
_GLANCE = 5  # objects
_MOST_OBJECTS = 3_000
_DEEPEST_FORM = 6
_SAMPLED_TEXT = 8  # a layer is invisible as a whole: the first ones and every eighth tell
_SAMPLED_GLYPHS = 300
_MOST_RECTANGLES = 2_000
_LARGE_IMAGE = 0.2
_PLAIN_PATH = 8  # segments; rules and boxes have fewer
_LOOK_PIXELS = 640  # of the longer side: letters are blots there, and cells 20 pixels wide
_THICK = 7  # pixels; what is as wide both ways is no letter
_CONTRAST = 30
_LEAST_INK, _MOST_INK = 0.02, 0.6  # of a cell with print

_Matrix = tuple[float, float, float, float, float, float]
_PLAIN: _Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class _Grid:
    """Which cells of the page something covers."""

    left: float
    bottom: float
    width: float
    height: float
    rows: list[int] = field(default_factory=lambda: [0] * _GRID)

    def add(self, left: float, bottom: float, right: float, top: float) -> None:
        """Cover the cells whose middle lies in the rectangle; a thin one covers at least a row or column of them."""
        columns = self._cells(left - self.left, right - self.left, self.width)
        mask = (1 << columns[1]) - (1 << columns[0])
        for row in range(*self._cells(bottom - self.bottom, top - self.bottom, self.height)):
            self.rows[row] |= mask

    def share(self) -> float:
        """The covered part of the page."""
        return sum(row.bit_count() for row in self.rows) / _GRID**2

    @staticmethod
    def _cells(low: float, high: float, whole: float) -> tuple[int, int]:
        if not (high > 0 and low < whole):  # also when one is not a number
            return 0, 0
        first = min(int(max(low, 0.0) / whole * _GRID + 0.5), _GRID - 1)
        return first, max(min(int(min(high, whole) / whole * _GRID + 0.5), _GRID), first + 1)


@dataclass(slots=True)
class _Seen:
    """What the objects of a page add up to."""

    images: _Grid
    strokes: int = 0
    objects: int = 0
    hidden: int = 0
    texts: int = 0


def look(page: Any, text_page: Any, text: str) -> Figures:
    """The figures of a loaded pypdfium2 page; `text` is its text layer, or the start of it."""
    characters = _characters(text)
    if characters >= _FULL_OF_TEXT and _texts(page) is not None and reads_well(text):
        return Figures(characters, _calls().count(_handle(page)), plain=True)
    seen = _count(page)
    images = seen.images.share()
    if images < _LARGE_IMAGE and not seen.hidden and reads_well(text):
        return Figures(characters, seen.objects, image_area=images, strokes=seen.strokes, plain=True)
    visible = _text_grid(page, text_page)
    figures = Figures(
        characters=characters,
        objects=seen.objects,
        invisible=seen.hidden / seen.texts if seen.texts else 0.0,
        text_area=visible.share(),
        image_area=images,
        bad=bad_share("".join(text.split())),
        unmapped=_unmapped(text_page),
        strokes=seen.strokes,
        language=legibility(text),
    )
    return replace(figures, ink=_ink(page, visible)) if is_doubtful(figures) else figures


def _characters(text: str) -> int:
    """How many there are that are no blanks."""
    if text.isascii():
        return len(text.encode("ascii").translate(None, _BLANKS))
    return sum(map(len, text.split()))


def _grid(page: Any) -> _Grid:
    left, bottom, right, top = page.get_bbox()
    return _Grid(left, bottom, max(right - left, 1e-3), max(top - bottom, 1e-3))


@dataclass(frozen=True, slots=True)
class _Calls:
    """pdfium's functions with prototypes of plain numbers, which halve the price of a call."""

    count: Callable[[int], int]
    count_inside: Callable[[int], int]
    get: Callable[[int, int], int | None]
    get_inside: Callable[[int, int], int | None]
    kind: Callable[[int], int]
    mode: Callable[[int], int]
    segments: Callable[[int], int]
    rectangle: Callable[[int, int, int, int, int, int], int]
    unmapped: Callable[[int, int], int]


@cache
def _calls() -> _Calls:
    handle, number = ctypes.c_void_p, ctypes.c_int
    return _Calls(
        count=_native(raw.FPDFPage_CountObjects, number, handle),
        count_inside=_native(raw.FPDFFormObj_CountObjects, number, handle),
        get=_native(raw.FPDFPage_GetObject, handle, handle, number),
        get_inside=_native(raw.FPDFFormObj_GetObject, handle, handle, ctypes.c_ulong),
        kind=_native(raw.FPDFPageObj_GetType, number, handle),
        mode=_native(raw.FPDFTextObj_GetTextRenderMode, number, handle),
        segments=_native(raw.FPDFPath_CountSegments, number, handle),
        rectangle=_native(raw.FPDFText_GetRect, number, handle, number, handle, handle, handle, handle),
        unmapped=_native(raw.FPDFText_HasUnicodeMapError, number, handle, number),
    )


def _native(function: Any, result: Any, *arguments: Any) -> Any:
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.CFUNCTYPE(result, *arguments)(address)


def _handle(page: Any) -> int:
    return ctypes.cast(page.raw, ctypes.c_void_p).value or 0


def shows_text(page: Any) -> bool:
    """Whether a page has text and hardly anything else, by a glance; the text may still be unreadable."""
    return (_texts(page) or 0) >= _GLANCE


def _texts(page: Any) -> int | None:
    """How many of the first objects, the last ones and some between are text; None if one is no visible text or line.

    What is nested is None as well: it may hold a scan.
    """
    calls, handle, texts = _calls(), _handle(page), 0
    count = _bounded(calls.count(handle))
    ends = min(_GLANCE, count)
    places = {*range(ends), *range(0, count, count // _GLANCE + 1), *range(count - ends, count)}
    for item in map(calls.get, repeat(handle), places):
        kind = calls.kind(item) if item else raw.FPDF_PAGEOBJ_UNKNOWN
        if item is None or kind not in (raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_PATH):
            return None
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            if calls.mode(item) == raw.FPDF_TEXTRENDERMODE_INVISIBLE:
                return None
            texts += 1
    return texts


def _count(page: Any) -> _Seen:
    seen, calls, handle = _Seen(_grid(page)), _calls(), _handle(page)
    _walk(seen, calls, map(calls.get, repeat(handle), range(_bounded(calls.count(handle)))), _PLAIN, 0)
    return seen


def _bounded(count: int) -> int:
    return max(min(count, _MOST_OBJECTS), 0)


def _walk(seen: _Seen, calls: _Calls, found: Iterable[int | None], matrix: _Matrix, depth: int) -> None:
    """Add up objects, also those in forms, which hold whole pages at times. Bounded in number and depth."""
    items = [item for item in found if item]
    for item, kind in zip(items, map(calls.kind, items), strict=True):
        if seen.objects >= _MOST_OBJECTS:
            return
        seen.objects += 1
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            if seen.objects % _SAMPLED_TEXT == 0 or seen.texts < _SAMPLED_TEXT:
                seen.texts += 1
                seen.hidden += calls.mode(item) == raw.FPDF_TEXTRENDERMODE_INVISIBLE
        elif kind == raw.FPDF_PAGEOBJ_PATH:
            segments = calls.segments(item)
            seen.strokes += segments if segments > _PLAIN_PATH else 0
        elif kind == raw.FPDF_PAGEOBJ_IMAGE:
            _add_image(seen, item, matrix)
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST_FORM:
            inside = map(calls.get_inside, repeat(item), range(_bounded(calls.count_inside(item))))
            _walk(seen, calls, inside, _times(_matrix(item), matrix), depth + 1)


def _add_image(seen: _Seen, item: int, matrix: _Matrix) -> None:
    """An image is the unit square, put where its matrix says."""
    a, b, c, d, e, f = _times(_matrix(item), matrix)
    across, up = (e, e + a, e + c, e + a + c), (f, f + b, f + d, f + b + d)
    seen.images.add(min(across), min(up), max(across), max(up))


def _matrix(item: int) -> _Matrix:
    found = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(ctypes.cast(item, raw.FPDF_PAGEOBJECT), found):
        return _PLAIN
    return found.a, found.b, found.c, found.d, found.e, found.f


def _times(first: _Matrix, then: _Matrix) -> _Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def _text_grid(page: Any, text_page: Any) -> _Grid:
    grid, calls, handle = _grid(page), _calls(), _handle(text_page)
    sides = (ctypes.c_double * 4)()
    left, top, right, bottom = (ctypes.addressof(sides) + place * ctypes.sizeof(ctypes.c_double) for place in range(4))
    for index in range(min(raw.FPDFText_CountRects(text_page, 0, -1), _MOST_RECTANGLES)):
        if calls.rectangle(handle, index, left, top, right, bottom):
            grid.add(sides[0], sides[3], sides[2], sides[1])
    return grid


def _unmapped(text_page: Any) -> float:
    """The share of glyphs whose font does not say what they mean, by a sample from all over the page."""
    count = text_page.count_chars()
    places = range(0, count, max(count // _SAMPLED_GLYPHS, 1))
    answers = map(_calls().unmapped, repeat(_handle(text_page)), places)
    return sum(answer == 1 for answer in answers) / max(len(places), 1)


def _ink(page: Any, text: _Grid) -> float:
    """The part of the page that looks like print where there is no text: dark and thin on something brighter."""
    image = small(page, _LOOK_PIXELS)
    ground = image.filter(ImageFilter.MaxFilter(_THICK)).filter(ImageFilter.MinFilter(_THICK))
    dark = ImageChops.subtract(ground, image).point(lambda value: 255 if value > _CONTRAST else 0)
    cells = dark.resize((_GRID, _GRID), Image.Resampling.BOX).tobytes()
    covered = _turned(text, page.get_rotation() // 90)
    low, high = (255 * share for share in (_LEAST_INK, _MOST_INK))
    return sum(low < value < high and not hidden for value, hidden in zip(cells, covered, strict=True)) / _GRID**2


def _turned(grid: _Grid, turns: int) -> bytes:
    """The covered cells as they lie on the rendered page, from the top left, row by row."""
    cells = bytes(row >> column & 1 for row in reversed(grid.rows) for column in range(_GRID))
    image = Image.frombytes("L", (_GRID, _GRID), cells)
    how = (None, Image.Transpose.ROTATE_270, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_90)[turns % 4]
    return (image.transpose(how) if how is not None else image).tobytes()

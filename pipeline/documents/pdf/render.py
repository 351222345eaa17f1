"""A PDF page as a grey image, its size known and bounded before anything is painted."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from PIL import Image
from pypdfium2 import PdfBitmap, raw

_POINTS = 72.0  # an inch
_SMALLEST_SIDE = 1_000  # pixels of the longer side; on a smaller page letters would be lost
_HIGHEST_DPI = 2_400.0
_LONGEST_SIDE = 30_000  # pixels; the shorter side of such a page is next to nothing
_MEGAPIXEL = 1_000_000
_LEAST_PIXELS = 10_000
_SHORTEST, _LONGEST = 1e-3, 1e6  # inches; a page box holds any number


@dataclass(frozen=True, slots=True)
class Plan:
    """How a page will be rendered: `dpi` may be below or above the usual, `note` says why it is below."""

    width: int
    height: int
    dpi: float
    note: str = ""


def plan(width_points: float, height_points: float, dpi: float, max_megapixels: float) -> Plan:
    """The pixels of a page of this size, any size: never more than `max_megapixels`, whatever the page box says."""
    width, height = (
        min(max(side / _POINTS, _SHORTEST), _LONGEST) if math.isfinite(side) else _SHORTEST
        for side in (width_points, height_points)
    )
    wanted = min(max(dpi, _SMALLEST_SIDE / max(width, height)), max(_HIGHEST_DPI, dpi))
    most = max(max_megapixels * _MEGAPIXEL, _LEAST_PIXELS)
    allowed = min(math.sqrt(most / (width * height)), _LONGEST_SIDE / max(width, height))
    used = min(wanted, allowed)
    note = ""
    if used < min(wanted, dpi):
        note = f"rendered at {used:.3g} dpi instead of {dpi:g}, limits.max_page_megapixels is {max_megapixels:g}"
    return Plan(max(int(width * used), 1), max(int(height * used), 1), used, note)


def small(page: Any, longest_side: int) -> Image.Image:
    """A small grey image of a loaded pypdfium2 page."""
    width, height = page.get_size()
    scale = longest_side / max(width, height, 1e-3)
    return painted(page, max(int(width * scale), 1), max(int(height * scale), 1))


def painted(page: Any, width: int, height: int) -> Image.Image:
    """The page with its annotations as a grey image of this size, upright. It owns its memory.

    By the raw call: pypdfium2's own computes the size from a scale, rounding up.
    """
    with closing(PdfBitmap.new_native(width, height, raw.FPDFBitmap_Gray)) as bitmap:
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
        raw.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, raw.FPDF_ANNOT | raw.FPDF_GRAYSCALE)
        image: Image.Image = bitmap.to_pil()
    return image

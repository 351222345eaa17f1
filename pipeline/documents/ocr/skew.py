"""By how much the lines of a page fall: seen along them, rows of ink and gaps between them alternate most sharply.

Measured on a small copy, on both axes, so that a page lying on its side is measured as well. The copy is cut in strips
across the lines, which are shifted against each other: to turn all of it would cost several times as much and say the
same. Costs some tens of milliseconds, against a second for reading the page.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from PIL import Image, ImageChops, ImageFilter

_RANGE_DEGREES = 8.0
_COARSE_DEGREES = 0.5
_FINE_DEGREES = 0.125
_COARSE_SIDE, _FINE_SIDE = 400, 800
_STRIP = 8  # pixels of the longer side; within it a line of eight degrees falls by about one
_BACKGROUND = 7  # pixels around a point that tell what paper is there: shadows and photographed tables drop out
# The sharpness at the best angle against that of the straight page; below it there is nothing to straighten.
_CLEARLY = 1.1


def measure(image: Image.Image) -> float:
    """Degrees by which lines fall to the right (clockwise), within ±8; 0 when no direction stands out."""
    coarse = _sharpness(_ink(image, _COARSE_SIDE))
    steps = round(_RANGE_DEGREES / _COARSE_DEGREES)
    rough = max((step * _COARSE_DEGREES for step in range(-steps, steps + 1)), key=coarse)
    if coarse(rough) <= _CLEARLY * coarse(0.0) and rough != 0.0:
        return 0.0
    fine = _sharpness(_ink(image, _FINE_SIDE))
    return max((rough + step * _FINE_DEGREES for step in range(-3, 4)), key=fine)


def straightened(image: Image.Image, skew_degrees: float) -> Image.Image:
    """The image with its lines level; what comes in at the corners has the colour of the paper."""
    paper = image.resize((1, 1), Image.Resampling.BOX, box=_rim(image)).getpixel((0, 0))
    fill = tuple(int(each) for each in paper) if isinstance(paper, tuple) else paper
    return image.rotate(skew_degrees, resample=Image.Resampling.BICUBIC, expand=True, fillcolor=fill)


def _rim(image: Image.Image) -> tuple[int, int, int, int]:
    return 0, 0, image.width, max(image.height // 50, 1)


def _ink(image: Image.Image, side: int) -> Image.Image:
    """A small grey copy in which whatever is darker than its surroundings is bright, and all else black."""
    small = image.convert("L")
    small.thumbnail((side, side), Image.Resampling.BOX, reducing_gap=None)
    return ImageChops.subtract(small.filter(ImageFilter.BoxBlur(_BACKGROUND)), small)


def _sharpness(ink: Image.Image) -> Callable[[float], float]:
    strips = max(ink.size) // _STRIP or 1
    along = ink.resize((strips, ink.height), Image.Resampling.BOX)
    across = ink.resize((ink.width, strips), Image.Resampling.BOX).transpose(Image.Transpose.TRANSPOSE)
    known: dict[float, float] = {}

    def at(degrees: float) -> float:
        if degrees not in known:
            slope = math.tan(math.radians(degrees))
            known[degrees] = max(_changes(along, ink.width * slope), _changes(across, -ink.height * slope))
        return known[degrees]

    return at


def _changes(strips: Image.Image, rise: float) -> float:
    """How much the mean ink of neighbouring rows differs once lines that fall by `rise` pixels are made level."""
    shift = (1, 0, 0, rise / strips.width, 1, -rise / 2)
    level = strips.transform(strips.size, Image.Transform.AFFINE, shift, Image.Resampling.BILINEAR)
    profile = level.resize((1, level.height), Image.Resampling.BOX).tobytes()
    return sum((one - other) ** 2 for one, other in itertools.pairwise(profile))

"""How many pixels of a picture are an inch of paper: believed where the sheet it makes is one, else assumed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

READ_DPI = 200
_PHOTO_DPI = 300  # where the resolution is assumed, the sheet may fill only part of the picture
_RESCALE_ABOVE = 260  # a little more than wanted costs less than scaling
_LONG_SIDE_INCHES = 11.69  # A4
_LEAST_DPI, _MOST_DPI = 45, 4800
_LEAST_INCHES, _MOST_INCHES = 0.5, 24.0  # of the longer side: from a stamp to A2
_MOST_ASPECT = 4.0  # a fax of the coarsest kind has pixels 2.1 times as high as wide


@dataclass(frozen=True, slots=True)
class Resolution:
    """Dots per inch across and down; `assumed` when the file tells none or an absurd one."""

    across: float
    down: float
    assumed: bool

    def figures(self) -> dict[str, float | str]:
        """As it is told of a page."""
        told: dict[str, float | str] = {"dpi": round(self.across), "dpi_assumed": "yes" if self.assumed else "no"}
        if abs(self.across - self.down) >= 1:
            told["dpi_down"] = round(self.down)
        return told


def resolution(size: tuple[int, int], info: Mapping[Any, Any], *, swapped: bool = False) -> Resolution:
    """The resolution that a picture's information tells, or one that makes its longer side that of A4.

    `swapped` for a picture that its decoder turns by a quarter.
    """
    across, down = _told(info.get("dpi")) or _told(info.get("resolution")) or (1.0, 1.0)
    if swapped:
        across, down = down, across
    if max(across / down, down / across) > _MOST_ASPECT:
        across = down = 1.0
    inches = max(size[0] / across, size[1] / down)
    plausible = min(across, down) >= _LEAST_DPI and max(across, down) <= _MOST_DPI
    if plausible and _LEAST_INCHES <= inches <= _MOST_INCHES:
        return Resolution(across, down, assumed=False)
    factor = inches / _LONG_SIDE_INCHES
    return Resolution(across * factor, down * factor, assumed=True)


def size_to_read(size: tuple[int, int], found: Resolution, most_megapixels: float) -> tuple[tuple[int, int], float]:
    """Width and height with square pixels, at READ_DPI or what is there, within the megapixels; and its dpi."""
    dpi = max(found.across, found.down)
    wanted = _PHOTO_DPI if found.assumed else READ_DPI
    if dpi > wanted * _RESCALE_ABOVE / READ_DPI:
        dpi = float(wanted)
    inches = size[0] / found.across, size[1] / found.down
    most = math.sqrt(most_megapixels * 1e6 / (inches[0] * inches[1]))
    dpi = min(dpi, most)
    if dpi == found.across == found.down:
        return size, dpi
    return (max(int(inches[0] * dpi), 1), max(int(inches[1] * dpi), 1)), dpi


def _told(pair: object) -> tuple[float, float] | None:
    if not isinstance(pair, tuple) or len(pair) != 2:
        return None
    try:
        across, down = float(pair[0]), float(pair[1])
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        return None
    usable = math.isfinite(across) and math.isfinite(down) and across > 0 and down > 0
    return (across, down) if usable else None

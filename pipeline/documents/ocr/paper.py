"""Where words stand on a page as it came, from where they stand once it was straightened and turned upright."""

from __future__ import annotations

import math

from pipeline.documents.places import Places, Sheet

Size = tuple[int, int]  # width and height in pixels


def as_it_came(places: Places, came: Size, level: Size, turns: int, skew_degrees: float) -> bytes:
    """The places, packed, on an image of the size `came` that was straightened to the size `level`, then turned.

    `turns` are quarter turns clockwise. A box keeps its size and is moved with its middle: at a slant as small as those
    that are straightened it still is around its word.
    """
    across, down = math.cos(math.radians(skew_degrees)), math.sin(math.radians(skew_degrees))

    def move(left: float, low: float, right: float, high: float) -> tuple[float, float, float, float]:
        x, y, width, height = (left + right) / 2, -(low + high) / 2, right - left, high - low
        x, y = _turned_back(x, y, level, turns)
        width, height = (height, width) if turns % 2 else (width, height)
        x, y = x - level[0] / 2, y - level[1] / 2
        x, y = x * across - y * down + came[0] / 2, x * down + y * across + came[1] / 2
        return x - width / 2, -y - height / 2, x + width / 2, -y + height / 2

    moved = places.moved(move) if turns or skew_degrees else places
    return moved.packed(Sheet(0, 0, *came))


def _turned_back(x: float, y: float, size: Size, turns: int) -> tuple[float, float]:
    """Where a point was before an image of this size was turned clockwise."""
    width, height = size
    return ((x, y), (y, height - x), (width - x, height - y), (width - y, x))[turns % 4]

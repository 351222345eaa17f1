"""Where the words of a page stand, packed into some hundred bytes: small integers, each the step from the one before.

A line has spans; a span holds words that follow each other at one height, each with a left and a right edge. Edges are
rounded down to 2,000 parts of the page. What was packed elsewhere is not trusted: to unpack any bytes is bounded,
raises nothing, and yields boxes on the page or none.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import add, sub
from typing import NamedTuple

from pipeline.documents.text import Box

MAX_BYTES = 65_536
REST = -1  # for the words of a span: all that are left of the line
_MOST_UNPACKED = 2_000_000  # bytes, two a number
_GRID = 2_000
_FAST = 3  # of zlib's levels
_WINDOW, _LITTLE_MEMORY = 11, 4  # of zlib: its usual 256 KiB cost more to get than a page costs to pack

Move = Callable[[float, float, float, float], tuple[float, float, float, float]]


class Sheet(NamedTuple):
    """The page on which places are given: its upper left corner, and its size; y counts upwards."""

    left: float
    top: float
    width: float
    height: float


class Span(NamedTuple):
    """The next `words` words of a line, -1 for all that are left of it, and their boxes as `Places` has them."""

    words: int
    boxes: tuple[Box, ...]


@dataclass(slots=True)
class Places:
    """Where words stand on a page: `ends` says after how many spans each line ends.

    A span is how many words it has, how many pairs of `edges`, and its lower and upper edge. One pair for several words
    is around them all; one pair more than words begins with the rest of the word before.
    """

    ends: list[int] = field(default_factory=list)
    spans: list[tuple[int, int, float, float]] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)

    def moved(self, move: Move) -> Places:
        """The same words, each box where `move` takes it: left, low, right and high to the same four."""
        found, edges, ends = Places(), zip(self.edges[::2], self.edges[1::2], strict=True), list[int]()
        for words, pairs, low, high in self.spans:
            for number, (left, right) in zip(range(pairs), edges, strict=False):
                box = move(left, low, right, high)
                own = words if pairs == 1 else int(number > 0 or words == pairs)
                found.spans.append((own, 1, box[1], box[3]))
                found.edges += (box[0], box[2])
            ends.append(len(found.spans))
        found.ends = [ends[end - 1] if end else 0 for end in self.ends]
        return found

    def packed(self, sheet: Sheet) -> bytes:
        """All of it in few bytes; none where there is nothing, too much, or something far from the sheet."""
        if not self.spans:
            return b""
        words, pairs, lows, highs = zip(*self.spans, strict=True)
        across, down = _GRID / max(sheet.width, 1e-3), -_GRID / max(sheet.height, 1e-3)
        try:
            edges = [int(edge * across) for edge in self.edges]
            tops = [int(high * down) for high in highs]
            heights = [int(low * down) - top for low, top in zip(lows, tops, strict=True)]
            numbers = [len(self.ends), *map(sub, self.ends, [0, *self.ends]), *pairs, *map(sub, words, pairs)]
            numbers += map(sub, tops, [int(sheet.top * down), *tops])
            numbers += map(sub, heights, [0, *heights])
            numbers += map(sub, edges, [int(sheet.left * across), *edges])
            halves = struct.pack(f"<{len(numbers)}h", *numbers)
        except (ValueError, OverflowError, struct.error):  # what is not a number, words beyond counting, or far away
            return b""
        packer = zlib.compressobj(_FAST, zlib.DEFLATED, -_WINDOW, _LITTLE_MEMORY)
        content = packer.compress(halves[::2] + halves[1::2]) + packer.flush()
        return content if len(content) <= MAX_BYTES else b""


class Unpacked:
    """Packed places, line by line. Bytes that are none are places of no line."""

    def __init__(self, content: bytes) -> None:
        lines, pairs, more, tops, heights, edges = _columns(content)
        self._first_spans = [0, *accumulate(lines)]
        self._first_pairs = [0, *accumulate(pairs)]
        self._words = list(map(add, pairs, more))
        uppers = list(accumulate(tops))
        self._tops, self._bottoms = _on_sheet(uppers), _on_sheet(map(add, uppers, accumulate(heights)))
        self._edges = _on_sheet(accumulate(edges))

    def __len__(self) -> int:
        return len(self._first_spans) - 1

    def spans(self, line: int) -> list[Span]:
        """The spans of a line, none of one that is not there."""
        return list(map(self._span, range(*self._first_spans[line : line + 2]))) if line < len(self) else []

    def _span(self, number: int) -> Span:
        upper, lower = self._tops[number], self._bottoms[number]
        first, last = self._first_pairs[number : number + 2]
        pairs = zip(self._edges[2 * first : 2 * last : 2], self._edges[2 * first + 1 : 2 * last : 2], strict=True)
        boxes = tuple(Box(left, upper, max(right, left), max(lower, upper)) for left, right in pairs)
        return Span(self._words[number], boxes)


def _on_sheet(steps: Iterable[int]) -> list[float]:
    """Steps as parts of the sheet; what is beyond is put at its edge."""
    return [step / _GRID if 0 <= step <= _GRID else float(step > 0) for step in steps]


_Columns = tuple[Sequence[int], ...]
_NOTHING: _Columns = ((), (), (), (), (), ())


def _columns(content: bytes) -> _Columns:
    """Spans of each line; pairs, further words, tops and heights of each span; edges. All empty for other bytes."""
    numbers = _numbers(content)
    count = numbers[0] if numbers else 0
    lines = numbers[1 : count + 1]
    if not 0 < count == len(lines) or min(lines) < 0:
        return _NOTHING
    rest, spans = numbers[count + 1 :], sum(lines)
    pairs, more, tops, heights = (rest[spans * place : spans * (place + 1)] for place in range(4))
    edges = rest[spans * 4 :]
    if len(heights) != spans or min(pairs, default=0) < 0 or len(edges) != 2 * sum(pairs):
        return _NOTHING
    return lines, pairs, more, tops, heights, edges


def _numbers(content: bytes) -> tuple[int, ...]:
    try:
        halves = zlib.decompressobj(-_WINDOW).decompress(content, _MOST_UNPACKED)
    except zlib.error:
        return ()
    middle = len(halves) // 2
    whole = bytearray(2 * middle)
    whole[::2], whole[1::2] = halves[:middle], halves[middle : 2 * middle]
    return struct.unpack(f"<{middle}h", whole)

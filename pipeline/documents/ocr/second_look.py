"""Doubtful lines are read again by a larger model: they alone, put below one another on a sheet of their own.

A larger model costs several times as much, and most of it for lines that were read well. So the cost grows with what is
doubtful and a clean page pays nothing. Where a good part of a page is doubtful its lines were not found well either:
then the whole page is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from PIL import Image

from pipeline.documents.ocr.seen import Engine, Line, characters, confidence

# This part of a page's characters in doubtful lines, and the page itself is in doubt.
_WHOLE_PAGE = 0.3
# All in heights of the line: paper kept before and after it; paper between two; how far off its middle it may be found.
_BESIDE = 0.3
_BETWEEN = 0.5
_OFF_MIDDLE = 0.3
_FULL_SHEET = 1200  # pixels; a higher one would be made smaller, and its lines be lost
# A second reading so much shorter or longer saw something else than this line.
_SHORTEST, _LONGEST = 0.6, 1.7


@dataclass(frozen=True, slots=True)
class _Strip:
    """A doubtful line, where it is cut from the page and at which height it lies on the sheet."""

    line: Line
    box: tuple[int, int, int, int]
    top: int

    @property
    def middle(self) -> float:
        return self.top + (self.box[3] - self.box[1]) / 2


def again(page: Image.Image, lines: Sequence[Line], below: float, larger: Callable[[], Engine]) -> Sequence[Line]:
    """The lines, those under the confidence `below` read again; whatever was read better the first time stays."""
    doubtful = [line for line in lines if line.confidence < below]
    if not doubtful:
        return lines
    if characters(doubtful) >= _WHOLE_PAGE * characters(lines):
        found = larger().recognise(page)
        return found if confidence(found) > confidence(lines) else lines
    better: dict[Line, Line] = {}
    for strips in _sheets(doubtful, page):
        found = larger().recognise(_sheet(strips, page))
        better |= {strip.line: _better(strip, found) for strip in strips}
    return [better.get(line, line) for line in lines]


def _sheets(doubtful: Sequence[Line], page: Image.Image) -> Iterator[list[_Strip]]:
    strips: list[_Strip] = []
    top = 0
    for line in doubtful:
        margin, gap = _BESIDE * line.height, max(round(_BETWEEN * line.height), 1)
        left, right = max(int(line.left - margin), 0), min(int(line.right + margin) + 1, page.width)
        box = (left, max(int(line.top), 0), right, min(int(line.bottom) + 1, page.height))
        strips.append(_Strip(line, box, top + gap))
        top += gap + box[3] - box[1]
        if top > _FULL_SHEET:
            yield strips
            strips, top = [], 0
    if strips:
        yield strips


def _sheet(strips: Sequence[_Strip], page: Image.Image) -> Image.Image:
    last = strips[-1]
    width = max(strip.box[2] - strip.box[0] for strip in strips)
    sheet = Image.new(page.mode, (width, round(last.middle + last.line.height)), "white")
    for strip in strips:
        sheet.paste(page.crop(strip.box), (0, strip.top))
    return sheet


def _better(strip: _Strip, found: Sequence[Line]) -> Line:
    """The line as it was found on the sheet, in several parts perhaps, if that is more certain; else as it was."""
    line = strip.line
    parts = [each for each in found if abs(each.middle - strip.middle) < _OFF_MIDDLE * line.height]
    text = " ".join(part.text for part in sorted(parts, key=lambda each: each.left))
    sure = confidence(parts)
    if sure <= line.confidence or not _SHORTEST < len(text) / len(line.text) < _LONGEST:
        return line
    return replace(line, text=text, confidence=sure)

"""A page's text on one line, word by word, and the box of any stretch of it.

Words whose own box is not known stand in one with their neighbours; where in it they are is told from how wide their
letters usually are, or from their number where the page is typed in letters of one width.
"""

from __future__ import annotations

import bisect
import itertools
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from pipeline.documents.places import Span, Unpacked
from pipeline.documents.text import Box, Page
from pipeline.reading.places.value_spans import Part, SearchedText

MAX_CHARACTERS = 100_000  # of a page that are looked at
MAX_LINE = 2_000  # of a line, where a whole one is asked for; only a page that is one line has longer ones
# Widths of letters in thousandths of their size, about what common fonts have.
_WIDTHS = {
    sign: width
    for width, signs in {
        230: "ijl'|",
        280: " .,:;!/\\It[]()f`\u00a0",
        340: 'r-"*°',
        460: "sczJ?",
        600: "LFTZ€<>=+~",
        660: "ABEKPSVXY&",
        720: "CDGHNOQRUw",
        830: "mM",
        900: "W%@—",
    }.items()
    for sign in signs
}
_USUAL = 540
_TELLING, _MOST_TELLING = 20, 12  # letters of a stretch that tells the widths of a page's letters, and such stretches
_GAP = re.compile(r" {2,}|\t")
_SLACK = 1.0  # of a letter, on either side of a stretch whose place is told from widths


class _Stretch(NamedTuple):
    """Words from `first` up to, not including, `last`, in one box; `beyond` it is as much of the last one's width."""

    first: int
    last: int
    box: Box
    beyond: float = 0.0


class PrintedPage:
    """One page. `text` has all its words: one space between two, a tab between cells, a newline between lines."""

    def __init__(self, page: Page) -> None:
        self._places = page.places
        self._known: dict[int, list[tuple[_Stretch, ...]]] = {}
        lines = (page.layout or page.text)[:MAX_CHARACTERS].split("\n")
        cells = [[words for cell in _GAP.split(line) if (words := cell.split())] for line in lines]
        self._lines = [sum(map(len, line)) for line in cells]
        self._words = [word for line in cells for cell in line for word in cell]
        self.text = "\n".join("\t".join(map(" ".join, line)) for line in cells if line)

    @cached_property
    def searched(self) -> SearchedText:
        """The text, to find values in."""
        return SearchedText(self.text)

    def find_words(self, words: str, start: int = 0) -> int:
        """Where the text has these words, with one space between two; -1 if nowhere."""
        return self._plain.find(words, start)

    @cached_property
    def _plain(self) -> str:
        return self.text.replace("\t", " ").replace("\n", " ")

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, at: int, count: int = 1) -> Part:
        """The part of the text that is the printed line there, with `count` above 1 those that follow as well."""
        number = bisect.bisect_right(self._line_starts, at)
        after = self._line_starts[number - 1 + count : number + count]
        start = max(self._line_starts[number - 1], at - MAX_LINE)
        return start, min(after[0] - 1 if after else len(self.text), at + MAX_LINE)

    def box(self, start: int, end: int) -> Box | None:
        """Around that part of the text, over all lines that it takes; None where no place is known."""
        first = max(bisect.bisect_right(self._starts, start) - 1, 0)
        last = bisect.bisect_left(self._starts, end)
        line = bisect.bisect_right(self._first_words, first) - 1
        found: list[Box] = []
        while line < len(self._first_words) and self._first_words[line] < last:
            origin = self._first_words[line]
            words = self._line_stretches(line)[max(first - origin, 0) : last - origin]
            for stretch in dict.fromkeys(itertools.chain.from_iterable(words)):
                found.append(self._part(stretch, start, end))
            line += 1
        return found[0] if len(found) == 1 else around(found)

    @cached_property
    def _starts(self) -> list[int]:
        """Where in the text each word begins."""
        return [0, *accumulate(len(word) + 1 for word in self._words[:-1])]

    @cached_property
    def _first_words(self) -> list[int]:
        """The number of each line's first word."""
        return [0, *accumulate(self._lines[:-1])]

    @cached_property
    def _unpacked(self) -> Unpacked:
        return Unpacked(self._places)

    def _line_stretches(self, line: int) -> Sequence[tuple[_Stretch, ...]]:
        """For each word of a line the stretch that it is in, and those that have the rest of it."""
        if line not in self._known:
            self._known[line] = _stretches(self._first_words[line], self._lines[line], self._unpacked.spans(line))
        return self._known[line]

    @cached_property
    def _is_typed(self) -> bool:
        """Whether letters have one width: then lines agree better on that width than on that of usual letters."""
        telling = list(itertools.islice(self._telling(), _MOST_TELLING))
        if len(telling) < 3:
            return False
        return _spread(width / len(text) for width, text in telling) < _spread(
            width / sum(_widths(text)) for width, text in telling
        )

    def _telling(self) -> Iterator[tuple[float, str]]:
        """Widths and texts of long stretches."""
        for line in range(len(self._lines)):
            for stretch, *_ in itertools.islice(self._line_stretches(line), 1):
                width, text = stretch.box.right - stretch.box.left, self._text_of(stretch)
                if len(text) >= _TELLING and width > 0:
                    yield width, text

    def _text_of(self, stretch: _Stretch) -> str:
        last = stretch.last - 1
        return self.text[self._starts[stretch.first] : self._starts[last] + len(self._words[last])]

    def _part(self, stretch: _Stretch, start: int, end: int) -> Box:
        """The box of that part of the text in a stretch; the stretch's own if it is whole, or runs up or down."""
        text, origin, box = self._text_of(stretch), self._starts[stretch.first], stretch.box
        before, after = max(start - origin, 0), min(end - origin, len(text))
        if (before == 0 and after == len(text)) or box.right - box.left < (box.bottom - box.top) / 2:
            return box
        typed = stretch.last - stretch.first > 1 and self._is_typed
        widths = [1] * len(text) if typed else _widths(text)
        scale = (box.right - box.left + stretch.beyond) / sum(widths)
        slack = _SLACK * sum(widths) / len(text)
        left = sum(widths[:before]) - slack if before else 0
        right = sum(widths[:after]) + (slack if after < len(text) else 0)
        return Box(
            max(box.left + left * scale, box.left), box.top, min(box.left + right * scale, box.right), box.bottom
        )


def around(boxes: Iterable[Box]) -> Box | None:
    """The box around all of them; None around none."""
    several = list(boxes)
    if len(several) < 2:
        return several[0] if several else None
    left, top, right, bottom = zip(*several, strict=True)
    return Box(min(left), min(top), max(right), max(bottom))


def _stretches(first: int, count: int, spans: Sequence[Span]) -> list[tuple[_Stretch, ...]]:
    """Those of a line of that many words, word for word; none at all if its places are for another number of words."""
    found: list[tuple[_Stretch, ...]] = []
    for words, boxes in spans:
        left = count - len(found)
        words = left if words < 0 else words  # noqa: PLW2901
        if words > left:
            return []
        if found and len(boxes) == words + 1:
            _add_rest(found, boxes[0], first)
            boxes = boxes[1:]  # noqa: PLW2901
        found += [(stretch,) for stretch in _of_span(first + len(found), words, boxes)]
    return found if len(found) == count else []


def _add_rest(found: list[tuple[_Stretch, ...]], box: Box, first: int) -> None:
    """Give the last word the rest of it that stands elsewhere; not all of its letters are in the stretch it is in."""
    broken, last = found[-1][0], first + len(found) - 1
    longer = broken._replace(beyond=broken.beyond + box.right - box.left)
    for place in range(broken.first - first, len(found)):
        found[place] = (longer, *found[place][1:])
    found[-1] += (_Stretch(last, last + 1, box),)


def _of_span(first: int, words: int, boxes: Sequence[Box]) -> list[_Stretch]:
    if len(boxes) == words:
        return [_Stretch(first + place, first + place + 1, box) for place, box in enumerate(boxes)]
    return [_Stretch(first, first + words, boxes[0])] * words if boxes else []


def _widths(text: str) -> list[int]:
    return [_WIDTHS.get(sign, _USUAL) for sign in text]


def _spread(numbers: Iterable[float]) -> float:
    """How far numbers are apart, in parts of their mean."""
    each = list(numbers)
    return statistics.pstdev(each) / statistics.fmean(each)

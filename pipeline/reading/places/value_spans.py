"""Where a value in canonical form stands in a text as printed: word for word, as a date, amount or duration in another
notation, as the sign of a currency, or by its letters and digits alone."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import cached_property
from itertools import islice

from pipeline.reading import amounts, dates
from pipeline.reading.periods import find_periods
from pipeline.reading.rows import fold

Part = tuple[int, int]  # of a text: from, up to and not including

MAX_VALUE = 300  # characters
_MOST, _MOST_TRIED = 100, 400  # places of one value in one notation, and those that may turn out to be none
_SHORT = 1_000  # characters
_FIGURE = re.compile(r"-?\d{1,6}|-?\d+\.\d+|[A-Z]{3}")  # of which letters and digits alone say too little

Found = tuple[str | Decimal, int, int]  # a value in canonical form and its place
Notation = Callable[[str, str], Iterable[Found]]  # of a text, and the same folded


class SearchedText:
    """A text in which many values are looked for; what is the same for all of them is found once.

    Cells of a row are parted by tabs and lines by newlines, which are spaces for everything but numbers.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = fold(text).replace("\n", " ")
        self._known: dict[tuple[Notation, Part], list[Found]] = {}

    def find(self, value: str, part: Part | None = None) -> Iterator[Part]:
        """The places of a value in that part of the text, the surest notation first. A place may come twice."""
        value, (start, end) = " ".join(value[:MAX_VALUE].split()), part or (0, len(self._text))
        yield from islice(self._word_for_word(fold(value), start, end), _MOST)
        for pattern, notation in _NOTATIONS:
            if pattern.fullmatch(value):
                yield from self._in(notation, value, (start, end))
        if not _FIGURE.fullmatch(value):
            yield from islice(self._letter_for_letter(fold(value), start, end), _MOST)

    def _word_for_word(self, value: str, start: int, end: int) -> Iterator[Part]:
        """Whole words only, and no part of a longer number."""
        text = self._folded
        for at in _occurrences(value, text, start, end):
            stop = at + len(value)
            if _ends(value[0], text[max(at - 2, 0) : at]) and _ends(value[-1], text[stop : stop + 2][::-1]):
                yield at, stop

    def _letter_for_letter(self, value: str, start: int, end: int) -> Iterator[Part]:
        """Whatever spaces and signs are between the letters and digits, from the start of a word to the end of one."""
        wanted, (squeezed, places) = "".join(filter(str.isalnum, value)), self._squeezed
        first, last = bisect.bisect_left(places, start), bisect.bisect_left(places, end)
        for at in _occurrences(wanted, squeezed, first, last) if len(wanted) > 1 else ():
            begin, stop = places[at], places[at + len(wanted) - 1] + 1
            if not self._folded[begin - 1 : begin].isalnum() and not self._folded[stop : stop + 1].isalnum():
                yield begin, stop

    def _in(self, notation: Notation, value: str, part: Part) -> Iterator[Part]:
        """Where that part of the text has the value. Of a long part the whole text is read, which is done only once."""
        wanted = Decimal(value) if notation is _amounts else value
        read = part if part[1] - part[0] <= _SHORT else (0, len(self._text))
        places = ((start, end) for found, start, end in self._read(notation, read) if found == wanted)
        return (place for place in places if part[0] <= place[0] and place[1] <= part[1])

    def _read(self, notation: Notation, part: Part) -> list[Found]:
        """What that part of the text says in a notation, each with its place in the text."""
        if (notation, part) not in self._known:
            start, end = part
            found = notation(self._text[start:end], self._folded[start:end])
            self._known[notation, part] = [(value, start + first, start + last) for value, first, last in found]
        return self._known[notation, part]

    @cached_property
    def _squeezed(self) -> tuple[str, list[int]]:
        places = [place for place, sign in enumerate(self._folded) if sign.isalnum()]
        return "".join(self._folded[place] for place in places), places


def _occurrences(value: str, text: str, start: int, end: int) -> Iterator[int]:
    at = text.find(value, start, end) if value else -1
    for _ in range(_MOST_TRIED):
        if at < 0:
            return
        yield at
        at = text.find(value, at + 1, end)


def _ends(edge: str, near: str) -> bool:
    """Whether a value ends between this edge of it and what is near, given towards the value."""
    if not near or not edge.isalnum():
        return True
    if near[-1].isalnum():
        return False
    return not (edge.isdigit() and near[-1] in ".,'" and near[:-1].isdigit())


def _dates(_: str, folded: str) -> Iterator[Found]:
    for day_first in (True, False):
        yield from ((each.value, each.start, each.end) for each in dates.find_dates(folded, day_first=day_first))


def _amounts(text: str, _: str) -> Iterator[Found]:
    """Amounts, and rates as well; each with and without its sign, as a credit note may print it without one."""
    text = text.replace("%", " ")
    with_point = amounts.find_amounts(text)
    for found in (with_point, with_point if amounts.means_the_same(text) else amounts.find_amounts(text, comma=True)):
        yield from ((each.value, each.start, each.end) for each in found)
        yield from ((-each.value, each.start, each.end) for each in found)


def _periods(_: str, folded: str) -> Iterator[Found]:
    return ((each.value, each.start, each.end) for each in find_periods(folded))


def _currencies(text: str, _: str) -> Iterator[Found]:
    return ((code, start, end) for code, start, end in amounts.find_signs(text))


_NOTATIONS: tuple[tuple[re.Pattern[str], Notation], ...] = (
    (re.compile(r"\d{4}-\d\d-\d\d"), _dates),
    (re.compile(r"-?\d{1,15}(?:\.\d{1,6})?"), _amounts),
    (re.compile(r"\d{1,3} (?:day|week|month|year)s?"), _periods),
    (re.compile(r"[A-Z]{3}"), _currencies),
)

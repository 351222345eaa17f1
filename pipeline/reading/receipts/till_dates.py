"""Dates as tills print them and recognition reads them: run into the time, without separators, a letter for a digit.

`pipeline.reading.dates` reads what is written as dates are written. What is read here besides counts only beside a
label or a time of day; `trust` says how much of it had to be supposed.
"""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.reading.dates import find_dates
from pipeline.reading.receipts.misread import FIGURE, as_digits

FIRST_YEAR, LAST_YEAR = 2000, 2039  # of what is supposed
RUN_INTO_TIME, COMPACT, SHORT_YEAR, REPAIRED = 0.98, 0.95, 0.95, 0.75
_CLOCK = r"(?:[01]?\d|2[0-3])[:.][0-5]\d"
TIME = re.compile(
    r"(?<![\d:.])(?:[01]?\d|2[0-3])"
    r"(?::[0-5]\d(?::[0-5]\d)?(?!\d)|\.[0-5]\d\.[0-5]\d(?!\d)|h[0-5]\d\b|\.[0-5]\d ?(?:[ap]m|uhr)\b)"
)
_YEAR = r"(20[0-3]\d|[0-3]\d)"
_FROM = r"(?<![\w.,/-])"
_MARK = r"[ .,:/|~-]"
_NUMERIC_INTO_TIME = re.compile(rf"{_FROM}(\d{{1,2}}) ?([-/.~]) ?(\d{{1,2}}) ?[-/.~] ?{_YEAR}(?=[.,]?{_CLOCK}(?!\d))")
_ISO_INTO_TIME = re.compile(rf"{_FROM}(20[0-3]\d)([-/.])(\d\d)\2(\d\d)(?={_CLOCK}(?!\d))")
_COMPACT = re.compile(r"(?<!\w)(20[0-3]\d)([01]\d)([0-3]\d)(?=$|[ t/:-]|[012]\d[0-5]\d)")
_OTHER_MARKS = re.compile(rf"{_FROM}(\d\d)[-/.~=](\d\d)[-/.~=](\d\d)(?![\d/.])")
_LOST_MARKS = re.compile(rf"{_FROM}(\d\d){_MARK}{{0,2}}(\d\d){_MARK}{{0,2}}(20[0-3]\d)(?!\d)")
_LETTERS = re.compile(
    rf"{_FROM}({FIGURE}{{1,2}}) ?([-/.]) ?({FIGURE}{{1,2}}) ?\2 ?({FIGURE}{{4}}|{FIGURE}{{2}})(?=$|\W|{_CLOCK})"
)
_NAMED = re.compile(rf"{_FROM}(\d{{1,2}}) ?[-/.,']? ?([a-z0-9]{{3,9}}?)[ .,'/-]{{0,3}}{_YEAR}(?=$|\W|{_CLOCK})")
_NAMED_FIRST = re.compile(
    rf"(?<![a-z0-9])([a-z0-9]{{3,9}}?)[ .]{{0,2}}(\d{{1,2}})[ ,'-]{{1,3}}{_YEAR}(?=$|\W|{_CLOCK})"
)
_ENGLISH = "january february march april may june july august september october november december"
_NEAR = {
    name: number for number, month in enumerate(_ENGLISH.split(), 1) for name in (month, month[:3])
}  # also if misread
_AS_LETTERS = str.maketrans("015846", "olsbag")


@dataclass(frozen=True, slots=True)
class TillDate:
    """A date in a row: `value` as YYYY-MM-DD, where it starts and ends, and how far it is as it was read, 0 to 1.

    `certain` is False if day and month could be swapped.
    """

    value: str
    start: int
    end: int
    trust: float
    certain: bool


def find_till_dates(folded: str, *, day_first: bool, labelled: bool) -> list[TillDate]:
    """The dates of a row, in order; of two that overlap the one that is more as it was read.

    `labelled`: a word for a date stands in the row. Without that, or a time, nothing is supposed.
    """
    found = [
        TillDate(each.value, each.start, each.end, 1.0, each.certain)
        for each in find_dates(folded, day_first=day_first)
    ]
    found += _run_into_time(folded, day_first)
    if labelled or TIME.search(folded):
        found += _supposed(folded, day_first, labelled)
    kept: list[TillDate] = []
    for date in sorted(found, key=lambda each: -each.trust):
        if not any(date.start < other.end and other.start < date.end for other in kept):
            kept.append(date)
    return sorted(kept, key=lambda each: each.start)


def _run_into_time(folded: str, day_first: bool) -> Iterator[TillDate]:
    for match in _NUMERIC_INTO_TIME.finditer(folded):
        yield from _numeric(match, (match[1], match[3], match[4]), day_first, RUN_INTO_TIME)
    for match in _ISO_INTO_TIME.finditer(folded):
        yield from _made(match, match[1], int(match[3]), match[4], RUN_INTO_TIME)


def _supposed(folded: str, day_first: bool, labelled: bool) -> Iterator[TillDate]:
    for match in _COMPACT.finditer(folded):
        yield from _made(match, match[1], int(match[2]), match[3], COMPACT)
    for match in _NAMED.finditer(folded):
        yield from _named(match, match[2], match[1], match[3])
    for match in _NAMED_FIRST.finditer(folded):
        yield from _named(match, match[1], match[2], match[3])
    for match in _LOST_MARKS.finditer(folded):
        if labelled or not match[0].isdigit():
            yield from _numeric(match, (match[1], match[2], match[3]), day_first, REPAIRED)
    for match in _OTHER_MARKS.finditer(folded):
        yield from _numeric(match, (match[1], match[2], match[3]), day_first, REPAIRED)
    for match in _LETTERS.finditer(folded):
        read = match[1] + match[3] + match[4]
        if 2 * sum(map(str.isdigit, read)) >= len(read):
            parts = (as_digits(match[1]), as_digits(match[3]), as_digits(match[4]))
            yield from _numeric(match, parts, day_first, REPAIRED)


def _numeric(match: re.Match[str], parts: tuple[str, str, str], day_first: bool, trust: float) -> Iterator[TillDate]:
    first, second = int(parts[0]), int(parts[1])
    day, month = (first, second) if day_first else (second, first)
    if month > 12 >= day:
        day, month = month, day
    yield from _made(match, parts[2], month, str(day), trust, certain=max(day, month) > 12 or day == month)


def _named(match: re.Match[str], name: str, day: str, year: str) -> Iterator[TillDate]:
    """A date with a month's name, its year cut to two digits or a letter of the name misread."""
    whole = find_dates(f"{day} {name} {year if len(year) == 4 else '20' + year}")
    if whole:
        yield TillDate(whole[0].value, *match.span(), SHORT_YEAR, certain=True)
        return
    letters = name.translate(_AS_LETTERS)
    near = {_NEAR[letters]} if letters in _NEAR else {_NEAR[each] for each in _NEAR if _unlike(each, letters) == 1}
    if len(near) == 1:
        yield from _made(match, year, near.pop(), day, REPAIRED)


def _unlike(one: str, other: str) -> int:
    """In how many signs two words of one length differ; more than in one if they are not of one length."""
    return sum(map(operator.ne, one, other)) if len(one) == len(other) else max(len(one), len(other))


def _made(
    match: re.Match[str], year: str, month: int, day: str, trust: float, *, certain: bool = True
) -> Iterator[TillDate]:
    try:
        value = dt.date(int(year) if len(year) == 4 else 2000 + int(year), month, int(day))
    except ValueError:
        return
    if FIRST_YEAR <= value.year <= LAST_YEAR:
        yield TillDate(value.isoformat(), match.start(), match.end(), trust, certain)

"""Dates as documents print them, in six languages, to ISO; one document, one order of day and month."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.reading.near import finditer_near

_NAMES = (
    "january jan januar janvier janv januari enero ene gennaio gen jaenner",
    "february feb februar fevrier fevr fev februari febrero febbraio",
    "march mar marz maerz mars maart mrt marzo",
    "april apr avril avr abril abr aprile",
    "may mai mei mayo maggio mag",
    "june jun juni juin junio giugno giu",
    "july jul juli juillet juil julio luglio lug",
    "august aug aout augustus agosto ago",
    "september sep sept septembre septiembre settembre set",
    "october oct oktober okt octobre octubre ottobre ott",
    "november nov novembre noviembre",
    "december dec dezember dez decembre diciembre dic dicembre",
)
MONTHS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
_MONTH = "(" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?<![\d.,/])(\d{1,2}) ?(?:s ?t|n ?d|r ?d|t ?h|er|[.ºª°])?"  # a raised "th" comes as "t h" from some PDFs
_YEAR = r"((?:19|20)\d\d)(?!\d)"

# A pattern that starts with its digit and looks behind after it is searched for several times as fast.
_ISO = re.compile(r"((?:19|20)(?<![\d.,/-]..)\d\d)([-/.])(\d{1,2})\2(\d{1,2})(?![\d/])")
_NUMERIC = re.compile(r"(\d(?<![\d.,/-].)\d?) ?([-/.]) ?(\d{1,2}) ?\2 ?(\d{4}|\d\d)(?![\d/])(?!\.\d)")
_DAY_MONTH = re.compile(
    rf"{_DAY} {{0,3}}(?:day of|days of|de|of|di|-)?[ -]{{0,3}}{_MONTH}[ ,-]{{0,4}}(?:de |del )?{_YEAR}"
)
_MONTH_DAY = re.compile(rf"\b{_MONTH} {{0,3}}(\d{{1,2}}) ?(?:s ?t|n ?d|r ?d|t ?h)?(?: ?,| ?\.|) {{0,3}}(?:of )?{_YEAR}")
_ANY_YEAR = re.compile(_YEAR)
_BEFORE_YEAR = 60  # characters; a day and a month take fewer
_ELSEWHERE = re.compile(r"[€£₹¥]|\b(?:EUR|GBP|MYR|RM|INR|Rs|CHF|AUD|CAD|SGD|NZD)\b")
_STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AT]"
    "|W[AIVY]"
)
_US_ADDRESS = re.compile(rf"\b(?:{_STATES})[, ]{{1,2}}\d{{5}}(?:-\d{{4}})?\b")


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text: `value` as YYYY-MM-DD and its place. `certain` is False if day and month could be swapped."""

    value: str
    start: int
    end: int
    certain: bool = True


def day_first(texts: Iterable[str]) -> bool:
    """Whether a document writes the day before the month. `texts` as printed, any pieces of it.

    A number above 12 decides. Without one the day comes first, except on a page with an address in the United States
    and no money of elsewhere.
    """
    pieces, first, second = list(texts), 0, 0
    for match in (match for text in pieces for match in _NUMERIC.finditer(text) if match[2] != "."):
        first += int(match[1]) > 12 >= int(match[3])
        second += int(match[3]) > 12 >= int(match[1])
    if first != second:
        return first > second
    return not any(map(_US_ADDRESS.search, pieces)) or any(map(_ELSEWHERE.search, pieces))


def find_dates(folded: str, *, day_first: bool = True) -> list[FoundDate]:
    """The dates in a folded text, in order. Impossible ones (31 February) and years before 1900 are left out."""
    found: list[FoundDate] = []
    for date in sorted(_all(folded, day_first), key=lambda each: (each.start, -each.end)):
        if not found or date.start >= found[-1].end:
            found.append(date)
    return found


def _all(folded: str, day_first: bool) -> Iterator[FoundDate]:
    for match in _ISO.finditer(folded):
        yield from _made(match, match[1], int(match[3]), match[4])
    years = list(_ANY_YEAR.finditer(folded))
    for match in _before(years, _DAY_MONTH, folded):
        yield from _made(match, match[3], MONTHS[match[2]], match[1])
    for match in _before(years, _MONTH_DAY, folded):
        yield from _made(match, match[3], MONTHS[match[1]], match[2])
    for match in _NUMERIC.finditer(folded):
        yield from _numeric(match, day_first)


def _before(years: Iterable[re.Match[str]], pattern: re.Pattern[str], folded: str) -> Iterator[re.Match[str]]:
    return finditer_near(pattern, years, folded, before=_BEFORE_YEAR, after=1)


def _numeric(match: re.Match[str], day_first: bool) -> Iterator[FoundDate]:
    first, second = int(match[1]), int(match[3])
    swap = match[2] != "." and not day_first
    day, month = (second, first) if swap else (first, second)
    if month > 12 >= day:  # the document's order cannot be meant here
        day, month = month, day
    year = match[4] if len(match[4]) == 4 else ("20" if int(match[4]) < 70 else "19") + match[4]
    yield from _made(match, year, month, str(day), certain=match[2] == "." or max(day, month) > 12 or day == month)


def _made(match: re.Match[str], year: str, month: int, day: str, *, certain: bool = True) -> Iterator[FoundDate]:
    try:
        value = dt.date(int(year), month, int(day))
    except ValueError:
        return
    if value.year >= 1900:
        yield FoundDate(value.isoformat(), match.start(), match.end(), certain)

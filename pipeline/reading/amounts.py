"""Amounts of money as documents print them, to plain decimals; one document, one decimal mark, one currency."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

_CODES = (
    "EUR USD GBP CHF CAD AUD NZD INR PLN SEK NOK DKK CZK HUF RON BGN JPY CNY MYR SGD HKD ZAR BRL MXN AED THB TRY ILS"
    " KRW IDR PHP TWD ISK UAH"
)
_SYMBOLS = {"€": "EUR", "£": "GBP", "₹": "INR", "¥": "JPY", "zł": "PLN", "Kč": "CZK", "Rs": "INR", "RM": "MYR"}
_DOLLARS = {"$": "USD", "US$": "USD", "C$": "CAD", "CA$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD", "S$": "SGD"}
_MONEY = {code: code for code in _CODES.split()} | _SYMBOLS | _DOLLARS | {"HK$": "HKD", "Rs.": "INR", "Fr.": "CHF"}
_UNIT = "(" + "|".join(re.escape(unit) for unit in sorted(_MONEY, key=len, reverse=True)) + ")"
_UNIT_ENDS = frozenset(unit[-1] for unit in _MONEY)

_BEFORE = re.compile(rf"(?<![A-Za-z]){_UNIT} {{0,2}}-? {{0,2}}$")
_AFTER = re.compile(rf" {{0,2}}{_UNIT}(?![A-Za-z])")
_NUMBER = re.compile(
    r"(?:(?<![\w.,'/:#])(?<!\w-)|(?<=\b[A-Z]{3})|(?<=\bRM))"
    r"(\d{1,3}(?:[ \u00a0\u202f]\d{3})+[.,]\d\d|\d{1,3}(?:[.,'’]\d{3})+(?:[.,]\d{1,2})?|\d{1,12}(?:[.,]\d{1,4})?)"
    r"(,-|,--|\.-|-)?(?![\w/:]|[.,'’]\d|-\w)"
)
_GROUPED = re.compile(r"[.,]\d{3}")
_BLANKS = re.compile(r"[ \u00a0\u202f'’]")
_MARKS = (".", ",")
_ROW, _ROWS = 300, 500  # characters of a printed row, and how many rows are remembered; a page has fifty
_PERCENT = re.compile(r"[ \u00a0]?%")
_MINUS = re.compile(r"[-−–(] ?(?:\S{1,3} ?)?$")
_RANGE = re.compile(r"\d ?[-−–] ?$")
_CENTS = re.compile(r"\d([.,])\d\d(?![\d.,])")
_POSTCODE = re.compile(r"\d{1,2}[A-Z]? \d[A-Z]{2}\b")  # "RM17 6ST" is a place
_NOT_CODE = re.compile(rf"(?<![A-Za-z]){_UNIT}(?![A-Za-z])")


@dataclass(frozen=True, slots=True)
class FoundAmount:
    """An amount in a text and its place. `currency` is the ISO code printed beside it; `cents`: it has decimals."""

    value: Decimal
    start: int
    end: int
    currency: str | None
    cents: bool


def decimal_comma(texts: Iterable[str]) -> bool:
    """Whether a document marks decimals with a comma: the majority of its numbers with two decimals says so."""
    votes: Counter[str] = Counter()
    for text in texts:
        votes.update(match[1] for match in _CENTS.finditer(text))
    return votes[","] > votes["."]


def find_amounts(text: str, *, comma: bool = False) -> list[FoundAmount]:
    """The numbers of a printed text that can be amounts, in order. Percentages, dates and codes are left out."""
    return list(_in_row(text, comma) if len(text) <= _ROW else _amounts(text, comma))


def means_the_same(text: str) -> bool:
    """Whether the numbers of a text are the same amounts with either decimal mark."""
    return _GROUPED.search(text) is None


@lru_cache(_ROWS)
def _in_row(text: str, comma: bool) -> tuple[FoundAmount, ...]:
    """Kept for a while: totals, items, taxes and the places of all that is found are told from the same rows."""
    return tuple(_amounts(text, comma))


def _amounts(text: str, comma: bool) -> Iterator[FoundAmount]:
    return filter(None, (_amount(text, match, comma) for match in _NUMBER.finditer(text)))


def _amount(text: str, match: re.Match[str], comma: bool) -> FoundAmount | None:
    """The amount that a number is, None for one that is none."""
    start, end = match.span()
    before = text[max(0, start - 8) : start]
    unit_before = _BEFORE.search(before) if before.rstrip(" -")[-1:] in _UNIT_ENDS else None
    if _PERCENT.match(text, end) or (before[-1:].isalpha() and not unit_before):
        return None
    digits, mark = match.groups()
    value = _decimal(digits, comma)
    if mark == "-" or (_MINUS.search(before) and not _ranges(text, start)):
        value = -value
    unit = unit_before or _AFTER.match(text, end)
    cents = digits[-3:-2] in _MARKS or digits[-2:-1] in _MARKS or (mark or "")[:1] in _MARKS
    return FoundAmount(value, start, end, _MONEY[unit[1]] if unit else None, cents)


def plain(value: Decimal) -> str:
    """A decimal with a point, at least two decimals, no exponent."""
    return f"{value:.2f}" if value == value.quantize(Decimal("0.01")) else f"{value:f}"


def currency(texts: Iterable[str]) -> tuple[str, int, int] | None:
    """The document's currency: code, its votes and all votes. Codes beside amounts count twice what a symbol does.

    A dollar sign stands for USD unless the document names another dollar by its code.
    """
    votes: Counter[str] = Counter()
    for text in texts:
        for match in _NOT_CODE.finditer(text):
            if _counts(text, match):
                votes[_MONEY[match[1]]] += 2 if len(match[1]) == 3 else 1
    if not votes:
        return None
    best, count = max(votes.items(), key=lambda each: (each[1], each[0]))
    return best, count, votes.total()


def find_signs(text: str) -> Iterator[tuple[str, int, int]]:
    """The currencies that a text names by code or sign, in order, each with its place."""
    return ((_MONEY[match[1]], *match.span(1)) for match in _NOT_CODE.finditer(text))


def _counts(text: str, match: re.Match[str]) -> bool:
    """Whether a code or sign is meant as one: digits near a sign, only blanks between digits and letters like "RM"."""
    unit = match[1]
    if len(unit) == 3 and unit.isalpha():
        return True
    before, after = text[max(0, match.start() - 12) : match.start()], text[match.end() : match.end() + 12]
    if unit.isalpha():
        placed = _POSTCODE.match(after) is not None
        return not placed and (before.rstrip()[-1:].isdigit() or after.lstrip()[:1].isdigit())
    return any(map(str.isdigit, before + after))


def _ranges(text: str, start: int) -> bool:
    """Whether the dash before a number joins it to another number, as in 10 - 20."""
    return _RANGE.search(text[max(0, start - 6) : start]) is not None


def _decimal(printed: str, comma: bool) -> Decimal:
    digits = printed if printed.isascii() and "'" not in printed and " " not in printed else _BLANKS.sub("", printed)
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return Decimal(digits)
    mark, tail = digits[last], len(digits) - last - 1
    grouped = tail == 3 and (mark == ("." if comma else ",") or digits.count(mark) > 1)
    whole = digits[:last].replace(".", "").replace(",", "")
    return Decimal(whole + digits[last + 1 :] if grouped else f"{whole}.{digits[last + 1 :]}")

"""Where values stand in a printed row: amounts and dates in any notation, other values by their letters and digits."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from pipeline.documents.text import Document
from pipeline.reading import amounts, dates
from pipeline.reading.identifiers import find_ibans, find_vat_ids
from pipeline.reading.rows import Row, fold, rows

MOST_CHARACTERS = 200  # of a value that is searched for


class Sort(enum.Enum):
    """How a field is printed."""

    AMOUNT = "amount"
    DATE = "date"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Span:
    """A value in canonical form and its place in a row. `cents`: an amount with decimals."""

    value: str
    start: int
    end: int
    cents: bool = False


@dataclass(frozen=True, slots=True)
class Print:
    """A document's rows, and how it writes dates and decimals."""

    rows: tuple[Row, ...]
    day_first: bool
    comma: bool


def printed(document: Document) -> Print:
    """The rows of a document without their labels."""
    found = rows(document, labelled=False)
    texts = [row.text for row in found]
    return Print(found, dates.day_first(texts), amounts.decimal_comma(texts))


def sort_of(name: str) -> Sort:
    """How the field of that name is printed."""
    if name.startswith(("total_", "amount_")) or name in ("prepaid", "rounding"):
        return Sort.AMOUNT
    return Sort.DATE if name.endswith("_date") or name in ("period_start", "period_end") else Sort.WORDS


def figures(sort: Sort, row: Row, sheet: Print) -> list[Span]:
    """The amounts or the dates of a row, in order."""
    if sort is Sort.DATE:
        found = dates.find_dates(row.folded, day_first=sheet.day_first)
        return [Span(each.value, each.start, each.end) for each in found]
    money = amounts.find_amounts(row.text, comma=sheet.comma)
    return [Span(amounts.plain(each.value), each.start, each.end, each.cents) for each in money]


def located(name: str, value: str, sheet: Print) -> Iterator[tuple[int, Span]]:
    """The places of a field's value: numbers of rows, and spans in them."""
    sort = sort_of(name)
    wanted = compact(value)[:MOST_CHARACTERS]
    for place, row in enumerate(sheet.rows):
        if sort is Sort.WORDS:
            for span in _words(wanted, row):
                yield place, span
        else:
            yield from ((place, span) for span in figures(sort, row, sheet) if same(sort, span.value, value))


def _words(wanted: str, row: Row) -> Iterator[Span]:
    """Where a row has these letters and digits one after the other, from the start of a word to the end of one."""
    places = [place for place, sign in enumerate(row.folded) if sign.isalnum()]
    squeezed = "".join(row.folded[place] for place in places)
    at = squeezed.find(wanted) if wanted else -1
    while at >= 0:
        start, end = places[at], places[at + len(wanted) - 1] + 1
        if not row.folded[start - 1 : start].isalnum() and not row.folded[end : end + 1].isalnum():
            yield Span(row.text[start:end], start, end)
        at = squeezed.find(wanted, at + 1)


def same(sort: Sort, one: str, other: str) -> bool:
    """Whether two values are the same to a reader."""
    if sort is Sort.AMOUNT:
        try:
            return Decimal(one) == Decimal(other)
        except InvalidOperation:
            return False
    return one == other if sort is Sort.DATE else compact(one) == compact(other)


def has_form(name: str) -> bool:
    """Whether the field's values prove themselves by their form, however they are printed."""
    return name == "iban" or name.endswith("_vat_id")


def canonical(name: str, printed: str) -> str:
    """The value as it is stored; empty for an account or a VAT number that is none."""
    if not has_form(name):
        return printed
    search = find_ibans if name == "iban" else find_vat_ids
    return next((each.value for each in search(printed)), "")


def compact(text: str) -> str:
    """Letters and digits alone, folded."""
    return "".join(sign for sign in fold(text) if sign.isalnum())


def shape(text: str) -> str:
    """What a value looks like: runs of digits as 9, runs of letters as a, other signs as they are."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", " ".join(text.split())))


def stands_in(value: str, texts: Sequence[str]) -> bool:
    """Whether a value is printed in one of the texts, whatever parts its letters and digits; `texts` are compact."""
    wanted = compact(value)
    return bool(wanted) and any(wanted in text for text in texts)

"""Where values stand in a printed row: amounts and dates in any notation, other values by their letters and digits."""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from pipeline.documents.text import Document
from pipeline.reading import amounts, dates
from pipeline.reading.identifiers import find_ibans, find_vat_ids
from pipeline.reading.rows import Row, fold, rows

MOST_CHARACTERS = 200  # of a value that is searched for
MOST_ROWS = 160  # of a page, half of them from its top; a printed page has fewer
FIRST_PAGES, LAST_PAGES = 3, 2
LABEL_CHARACTERS = 60
EDGES = " .:;,#°º*-–|/=()[]"


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


class Print:
    """A document's rows, and how it writes dates and decimals; what is asked again and again is worked out once."""

    def __init__(self, rows: tuple[Row, ...]) -> None:
        self.rows = rows
        texts = [row.text for row in rows]
        self._day_first = dates.day_first(texts)
        self._comma = amounts.decimal_comma(texts)
        self._figures: dict[tuple[Sort, int], list[Span]] = {}
        self._labels: dict[int, list[str]] = {}

    def figures(self, sort: Sort, place: int) -> list[Span]:
        """The amounts or the dates of a row, in order."""
        found = self._figures.get((sort, place))
        if found is None:
            find = self._dates if sort is Sort.DATE else self._amounts
            found = self._figures[sort, place] = find(self.rows[place])
        return found

    def labels(self, place: int) -> list[str]:
        """The cells of a row as labels."""
        found = self._labels.get(place)
        if found is None:
            found = self._labels[place] = [normal(cell.text) for cell in self.rows[place].cells]
        return found

    def _dates(self, row: Row) -> list[Span]:
        found = dates.find_dates(row.folded, day_first=self._day_first)
        return [Span(each.value, each.start, each.end) for each in found]

    def _amounts(self, row: Row) -> list[Span]:
        found = amounts.find_amounts(row.text, comma=self._comma)
        return [Span(amounts.plain(each.value), each.start, each.end, each.cents) for each in found]


def printed(document: Document) -> Print:
    """The rows of a document's outer pages without their labels; what is further inside is a list."""
    pages = document.pages
    if len(pages) > FIRST_PAGES + LAST_PAGES:
        pages = pages[:FIRST_PAGES] + pages[-LAST_PAGES:]
    found = rows(replace(document, pages=pages), labelled=False)
    return Print(tuple(row for _, page in itertools.groupby(found, lambda row: row.page) for row in _outer(list(page))))


def _outer(page: list[Row]) -> list[Row]:
    return page if len(page) <= MOST_ROWS else page[: MOST_ROWS // 2] + page[-MOST_ROWS // 2 :]


def sort_of(name: str) -> Sort:
    """How the field of that name is printed."""
    if name.startswith(("total_", "amount_")) or name in ("prepaid", "rounding"):
        return Sort.AMOUNT
    return Sort.DATE if name.endswith("_date") or name in ("period_start", "period_end") else Sort.WORDS


def located(name: str, value: str, sheet: Print) -> Iterator[tuple[int, Span]]:
    """The places of a field's value: numbers of rows, and spans in them."""
    sort = sort_of(name)
    wanted = compact(value)[:MOST_CHARACTERS]
    for place, row in enumerate(sheet.rows):
        if sort is Sort.WORDS:
            for span in _words(wanted, row):
                yield place, span
        else:
            yield from ((place, span) for span in sheet.figures(sort, place) if same(sort, span.value, value))


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


def normal(text: str) -> str:
    """A label to compare: folded, numbers as #, currencies and edges left out. Empty unless it has two letters."""
    words = [word for word in fold(text[: 2 * LABEL_CHARACTERS]).split() if not is_currency(word)]
    label = re.sub(r"\d+", "#", " ".join(words)).strip(EDGES)[:LABEL_CHARACTERS]
    return label if sum(sign.isalpha() for sign in label) > 1 else ""


def is_currency(word: str) -> bool:
    """Whether a word is the name or the sign of a currency."""
    bare = word.strip(EDGES).upper()
    return bare in ("€", "£", "$") or (len(bare) == 3 and amounts.currency((bare,)) is not None)


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

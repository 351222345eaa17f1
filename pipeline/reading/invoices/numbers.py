"""The number of an invoice: what a full label announces, else what stands beside a bare "No." near the title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.reading import amounts, dates
from pipeline.reading.invoices.naming import POSTAL
from pipeline.reading.invoices.tables import cells_below, has_item_word, is_header
from pipeline.reading.labels import Kind, Label
from pipeline.reading.rows import Cell, Row, fold

_SPACED = r"\d{2,6}(?: \d{2,6}){1,5}(?= {2}|$)"
_NUMBER = re.compile(
    rf"[ :.#°º-]{{0,160}}(?:n[°º.] ?)?({_SPACED}|(?:[A-Za-z]{{1,4}} )?[A-Za-z0-9][A-Za-z0-9/_.-]{{0,38}}[A-Za-z0-9]|\d)"
    r"(?![\w/-]|[.,]\d)"
)
_BARE = re.compile(r"(?:number|nummer|no|nr|num|numero|n[°º.]|#)\.? ?[:.]?(?= |$)")
# What has a number of its own where that of the invoice is printed too: "second part payment", say.
_SECOND = re.compile(r"receipt|statement|(?:abschlags|teil|anzahlungs)rechnung")
_SHEET = re.compile(r"(?:[ /,(-]{1,3})(?:blatt|seite|page|pagina|blad)\b.*", re.IGNORECASE)
_PHONE = re.compile(r"[+(][\d ()/.-]{6,}|0\d{1,5}[ /-]\d[\d /-]{4,}|\d{3}[ .-]\d{3}[ .-]\d{4}")
_FACTS = frozenset({Kind.ISSUED, Kind.DATE, Kind.DUE, Kind.ORDER, Kind.DELIVERY, Kind.PERIOD})
LONGEST_YOUR = 6  # "votre "
TITLE_ROWS = 6  # a bare label further below the title than this is the number of something else


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A number as printed, its row, and how far it is to be trusted (0 to 1)."""

    value: str
    row: Row
    confidence: float


def find_number(rows: Sequence[Row]) -> FoundNumber | None:
    """The invoice number; of several the best labelled, then the first. None if none is printed."""
    found = [each for place in range(len(rows)) for each in _labelled(rows, place)]
    return max(found or _bare(rows), key=lambda each: each.confidence, default=None)


def _labelled(rows: Sequence[Row], place: int) -> Iterator[FoundNumber]:
    """The numbers that the labels of a row announce; "Invoice" alone announces less than "Invoice number"."""
    row = rows[place]
    for label in row.labels:
        if label.kind is Kind.TITLE and (value := _right(row, label)):
            yield FoundNumber(value, row, 0.6)
        elif label.kind is Kind.NUMBER:
            if value := _right(row, label):
                yield FoundNumber(value, row, 0.92 if _SECOND.match(row.folded, label.start) else 0.94)
            elif _alone(row, label) and (below := _below(rows, place, label)):
                yield below


def _right(row: Row, label: Label) -> str | None:
    """The number after a label. After a mere title it must look like one: three digits, close by."""
    rest = row.text[label.end :]
    match = _NUMBER.match(rest if label.kind is Kind.NUMBER else rest[:60])
    return _as_number(match[1], title=label.kind is Kind.TITLE) if match else None


def _alone(row: Row, label: Label) -> bool:
    """Whether a label fills its cell but for a word or two before it; in prose it announces nothing below."""
    cell = next(each for each in row.cells if each.start <= label.start < each.end)
    return row.text[cell.start : label.start].count(" ") <= 2 and cell.end - label.end <= 6


def _below(rows: Sequence[Row], place: int, label: Label) -> FoundNumber | None:
    for cell, under in cells_below(rows, place, label.start, label.end):
        if value := _as_number(cell.text, title=False):
            return FoundNumber(value, under, 0.9)
    return None


def _as_number(text: str, *, title: bool) -> str | None:
    text = text.strip(" .,:;#-/")
    digits = sum(sign.isdigit() for sign in text)
    worded = text.count(" ") > 1 and not text.replace(" ", "").isdigit()
    if not digits or len(text) > 40 or worded or (title and digits < 3):
        return None
    if any(date.end - date.start >= len(text) - 1 for date in dates.find_dates(fold(text))):
        return None
    return text.lstrip("#")


def _bare(rows: Sequence[Row]) -> Iterator[FoundNumber]:
    """The numbers of a label that says no more than "Number": below the title, or among dates that are labelled."""
    titles = [(place, row.page) for place, row in enumerate(rows) if _is_title(row)]
    for place, row in enumerate(rows):
        near = any(page == row.page and -1 <= place - title <= TITLE_ROWS for title, page in titles)
        if is_header(row) or not (near or _among_facts(rows, place)):
            continue
        value = None if has_item_word(row) and not _is_facts(row) else _beside(rows, place)
        if value:
            yield FoundNumber(value, row, 0.65)


def _is_title(row: Row) -> bool:
    """Whether a cell of a row is nothing but the word for an invoice, or "your invoice"."""
    return any(
        label.kind is Kind.TITLE and label.end == cell.end and cell.start <= label.start <= cell.start + LONGEST_YOUR
        for label in row.labels
        for cell in row.cells
    )


def _is_partys(rows: Sequence[Row], place: int, cell: Cell) -> bool:
    """Whether the label above a cell heads the facts of a party: a number there is the party's."""
    above = rows[place - 1].labels if place else ()
    return any(
        label.kind in (Kind.SELLER, Kind.BUYER, Kind.SHIP) and abs(label.start - cell.start) <= 2 for label in above
    )


def _is_facts(row: Row) -> bool:
    return any(label.kind in _FACTS for label in row.labels)


def _among_facts(rows: Sequence[Row], place: int) -> bool:
    """Whether the dates of the invoice or numbers of the customer are announced beside, above or below a row."""
    return any(_is_facts(row) for row in rows[max(0, place - 2) : place + 3] if row.page == rows[place].page)


def _beside(rows: Sequence[Row], place: int) -> str | None:
    """The value behind a bare label that opens a cell: in the rest of the cell, in the next one, or under it."""
    row = rows[place]
    for position, cell in enumerate(row.cells):
        label = _BARE.match(row.folded[cell.start : cell.end])
        if label is None or _is_partys(rows, place, cell):
            continue
        rest = _SHEET.sub("", cell.text[label.end() :]).strip(" :")
        under = [] if rest else [each.text for each, _ in cells_below(rows, place, cell.start, cell.end)[:1]]
        following = [] if rest else [each.text for each in row.cells[position + 1 : position + 2]]
        for printed in (rest, *following, *under):
            value = _as_number(printed, title=False) if _NUMBER.fullmatch(printed) else None
            if value and not _other_figure(printed):
                return value
    return None


def _other_figure(text: str) -> bool:
    """Whether a figure is money, a telephone number or a postcode rather than the number of a document."""
    money = any(each.cents or each.currency for each in amounts.find_amounts(text))
    return money or _PHONE.fullmatch(text.strip()) is not None or POSTAL.search(text) is not None

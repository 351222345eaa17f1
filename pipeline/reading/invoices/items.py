"""The list of items on an invoice, row by row; it "adds up" only if no row with an amount was left out.

A header says where the list begins and which numbers are rates; arithmetic says which are quantity and price, because
columns stand in any order: quantity times price is the amount, less a discount at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from pipeline.reading.amounts import FoundAmount, find_amounts
from pipeline.reading.dates import find_dates
from pipeline.reading.invoices.tables import is_header
from pipeline.reading.labels import AMOUNTS
from pipeline.reading.rows import Cell, Row, squeeze

MAX_ITEMS = 1_000
MAX_DESCRIPTION = 300
CENT = Decimal("0.011")
_RATE = re.compile(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,2})?) ?%")
_UNIT = re.compile(
    r" {0,2}(pcs?|pieces?|units?|hours?|hrs?|h|days?|months?|stk|stuck|st|std|stunden?|tage?|kg|g|m2|m|l|liter|litres?"
    r"|km|paar|set|pauschal|psch|heures?|jours?|uur|stuks?|uds?|unidad(?:es)?|ore|pz|nr|box(?:es)?|pkts?|each|ea)\b\.?"
)
_CARRIED = re.compile(
    r"\b(?:carried|brought) forward\b|\bubertrag\b|\ba reporter\b|\breport\b|\btransport\b|\briporto\b"
)
_PART = re.compile(r"\W{0,3}(?:incl|inkl|davon|of which|dont|waarvan|di cui|thereof)\b")
_TAXES = re.compile(r"\W{0,3}(?:umsatzsteuer|mehrwertsteuer|mwst|ust|vat|gst|tva|taxe?s?|btw|iva|steuer)\b[^\d]{0,60}")
_AMOUNT_COLUMN = re.compile(
    r"\b(?:amount|total|\w{0,12}betrag|gesamt\w{0,8}|summe|montant|bedrag|totaal|importe|importo|totale)\b"
)
_RATES_COLUMN = re.compile(r"\b(?:vat|tax|mwst|ust|tva|btw|iva|steuer\w{0,6}|gst)\b ?[-.]? ?%?")


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a list of items. What is not printed in it is None; `tax_rate` is in per cent."""

    description: str
    amount: Decimal
    row: Row
    quantity: Decimal | None = None
    unit: str | None = None
    unit_price: Decimal | None = None
    tax_rate: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All items of an invoice. `dropped` rows have an amount but could not be read as items."""

    items: tuple[Item, ...] = ()
    dropped: int = 0

    @property
    def total(self) -> Decimal:
        """The sum of all amounts."""
        return sum((item.amount for item in self.items), Decimal(0))

    def adds_up(self, *totals: Decimal | None) -> bool | None:
        """Whether the items make one of the totals (net or gross). None if a row was dropped or nothing is known."""
        known = [total for total in totals if total is not None]
        if not self.items or self.dropped or not known:
            return None
        return any(abs(self.total - total) < CENT for total in known)


def find_items(rows: Sequence[Row], *, comma: bool) -> Listing:
    """The items under the header rows of a document. `comma` is its decimal mark."""
    items: list[Item] = []
    dropped, pending = 0, ""
    waiting: Row | None = None  # an item whose amount may stand in a row below
    for row, header, ended in _body(rows):
        item = (_completed(waiting, row, comma) if waiting else None) or _item(row, header, comma)
        if ended and (item is None or item.quantity is None):
            continue
        if item is None:
            dropped += _has_money(row, comma)
            waiting = row if _may_lack_amount(row, comma) else waiting
            if items and waiting is None:
                items[-1] = _continued(items[-1], row)
            pending = "" if items else squeeze(row.text, MAX_DESCRIPTION)
            continue
        if item.row is waiting:
            dropped -= _has_money(waiting, comma)
        waiting = None
        if item.description or pending:
            items.append(item if item.description else replace(item, description=pending))
        else:
            dropped += 1
        pending = ""
        if len(items) >= MAX_ITEMS:
            return Listing(tuple(items), dropped + 1)
    return Listing(tuple(items), dropped)


def _may_lack_amount(row: Row, comma: bool) -> bool:
    return any(map(_is_words, row.cells)) and len(find_amounts(row.text, comma=comma)) >= 2


def _completed(above: Row, row: Row, comma: bool) -> Item | None:
    """The item of a row above with the amount that stands alone at the end of this one, if it is their product."""
    money = [each for each in find_amounts(row.text, comma=comma) if each.cents]
    if len(money) != 1 or money[0].start < row.cells[-1].start:
        return None
    quantity, price = _factors(find_amounts(above.text, comma=comma), money[0])
    first = next((cell for cell in above.cells if _is_words(cell)), None)
    if quantity is None or price is None or first is None:
        return None
    rate = next((Decimal(match[1].replace(",", ".")) for match in _RATE.finditer(above.folded)), None)
    unit, words = _unit(above, quantity), squeeze(first.text, MAX_DESCRIPTION)
    return Item(words, money[0].value, above, quantity.value, unit, price.value, rate)


def _body(rows: Sequence[Row]) -> Iterator[tuple[Row, Row, bool]]:
    """The rows below a header, each with it and whether a total was seen since: only a group of items may follow one.

    It ends a page later if no header stands there, and starts again at each header.
    """
    header: Row | None = None
    ended = begun = False
    for row in rows:
        figures = any(map(str.isdigit, row.text))
        if is_header(row):
            header, ended, begun = row, False, False
        elif header is None or row.page > header.page + 1:
            header = None
        elif figures or begun:  # what follows a header without a figure belongs to it
            begun = True
            total = _is_total(row)
            ended = ended or total
            if not total and not _CARRIED.search(row.folded) and not _PART.match(row.folded.lstrip()):
                yield row, header, ended


def _is_total(row: Row) -> bool:
    """Whether a row opens the totals: a label of a total leads one of its cells, and nothing stands before it."""
    if row.cells[0].start == 0 and len(row.cells) == 1 and not find_amounts(row.text):
        return _TAXES.match(row.folded) is not None
    if _TAXES.match(row.folded.lstrip()):
        return True
    first, late = row.cells[0].start, {cell.start for cell in row.cells[-2:]}
    return any(
        (label.start == first or (label.start in late and label.end >= _end(row, label.start) - 3))
        and not _priced(row, label.end)
        for label in row.labels
        if label.kind in AMOUNTS
    )


def _amount_column(header: Row) -> int:
    """Where the column of amounts begins: the last cell of a header that says so, else nowhere."""
    named = [cell.start for cell in header.cells if _AMOUNT_COLUMN.search(header.folded[cell.start : cell.end])]
    return named[-1] if named else 0


def _end(row: Row, start: int) -> int:
    return next(cell.end for cell in row.cells if cell.start == start)


def _priced(row: Row, end: int) -> bool:
    """Whether three numbers or more follow, as in the row of an item that is called like a total."""
    return len(find_amounts(row.text[end:])) >= 3


def _has_money(row: Row, comma: bool) -> bool:
    return any(each.cents for each in find_amounts(row.cells[-1].text, comma=comma)) and len(row.cells) > 1


def _item(row: Row, header: Row, comma: bool) -> Item | None:
    days = find_dates(row.folded)
    numbers = [
        each
        for each in find_amounts(row.text, comma=comma)
        if not any(each.start < day.end and day.start < each.end for day in days)
    ]
    if not numbers or len(row.cells) < 2:
        return None
    rate, place = _tax_rate(row, header, numbers)
    rest = [each for each in numbers if each is not place]
    amount = _last_price(row, header, rest)
    if amount is None:
        return None
    quantity, price = _factors(rest[: rest.index(amount)], amount)
    return Item(
        _description(row, amount),
        amount.value,
        row,
        quantity.value if quantity else None,
        _unit(row, quantity),
        price.value if price else None,
        rate,
    )


def _last_price(row: Row, header: Row, numbers: Sequence[FoundAmount]) -> FoundAmount | None:
    """What the item costs: it stands in the last column, and no words follow it."""
    money = [each for each in numbers if _is_price(each)] or _whole(numbers)
    if not money or money[-1].start < row.cells[-2].start or _words_behind(row, money[-1].end):
        return None
    return money[-1] if money[-1].end >= _amount_column(header) - 4 else None


def _description(row: Row, amount: FoundAmount) -> str:
    first = next((cell for cell in row.cells if _is_words(cell)), None)
    if first is None or first.start >= amount.start:
        return ""
    return squeeze(row.text[first.start : first.end], MAX_DESCRIPTION)


def _is_words(cell: Cell) -> bool:
    return sum(map(str.isalpha, cell.text)) >= 2 and _UNIT.fullmatch(cell.text.lower()) is None


def _words_behind(row: Row, end: int) -> bool:
    """Whether more than a tax code or a currency stands behind an amount."""
    return sum(map(str.isalpha, row.text[end:])) > 4


def _tax_rate(row: Row, header: Row, numbers: Sequence[FoundAmount]) -> tuple[Decimal | None, FoundAmount | None]:
    """The rate: a percentage, else a small number under a header for taxes, with the number it is."""
    column = _RATES_COLUMN.search(header.folded)
    printed = list(_RATE.finditer(row.folded))
    if printed:
        near = min(printed, key=lambda each: abs(each.start() - column.start()) if column else -each.start())
        return Decimal(near[1].replace(",", ".")), None
    if column is None:
        return None, None
    for number in numbers:
        under = number.start <= column.end() + 2 and column.start() - 2 <= number.end
        if under and 0 <= number.value <= 30 and not number.currency:
            return number.value, number
    return None, None


def _factors(before: Sequence[FoundAmount], amount: FoundAmount) -> tuple[FoundAmount | None, FoundAmount | None]:
    """Quantity and price among the numbers before an amount: those whose product it is, the nearest to it first."""
    near = before[-6:] if amount.value else ()
    for price in reversed(near):
        for quantity in reversed(near):
            if quantity is not price and _makes(quantity, price, amount):
                return (price, quantity) if _is_price(quantity) and not _is_price(price) else (quantity, price)
    if len(near) == 1 and _is_price(near[0]) and near[0].value == amount.value:
        return None, near[0]
    return None, None


def _whole(numbers: Sequence[FoundAmount]) -> list[FoundAmount]:
    """The amounts of a row that prints none with cents: its last number, if it is the product of the two before."""
    if len(numbers) < 3 or numbers[-3].value * numbers[-2].value != numbers[-1].value:
        return []
    return [numbers[-1]]


def _is_price(number: FoundAmount) -> bool:
    return number.cents or number.currency is not None


def _makes(quantity: FoundAmount, price: FoundAmount, amount: FoundAmount) -> bool:
    priced = _is_price(price) or not _is_price(amount)
    return abs(quantity.value * price.value - amount.value) < CENT and priced


def _unit(row: Row, quantity: FoundAmount | None) -> str | None:
    match = _UNIT.match(row.folded, quantity.end) if quantity else None
    return row.text[match.start(1) : match.end(1)] if match else None


def _continued(item: Item, row: Row) -> Item:
    """The item with the words of the row below, if they stand under its description and not under a number."""
    cell = row.cells[0]
    above = next((each for each in item.row.cells if _is_words(each)), None)
    if above is None or abs(cell.start - above.start) > 2 or row.page != item.row.page or len(row.cells) > 1:
        return item
    return replace(item, description=squeeze(f"{item.description} {cell.text}", MAX_DESCRIPTION))

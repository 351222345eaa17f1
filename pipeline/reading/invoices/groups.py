"""The lines and the rows of taxes of a printed invoice, with the names that those of an electronic one have.

Columns stand in any order and rows may be misread, so a list is only as sure as what it makes: the net total (or the
gross one) when no row was left out. A list that makes nothing known is given, but doubted. `net_amount` is whatever the
column of amounts holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pipeline.handling import Field, Group
from pipeline.reading.amounts import plain
from pipeline.reading.invoices import taxes
from pipeline.reading.invoices.items import Item, Listing, find_items
from pipeline.reading.invoices.sheet import Sheet, field
from pipeline.reading.invoices.taxes import TaxRow, find_taxes

PROVED, PLAUSIBLE, DOUBTFUL = 0.97, 0.7, 0.4


@dataclass(frozen=True, slots=True)
class Table:
    """What a document lists: its items and its rows of taxes."""

    items: Listing
    taxes: tuple[TaxRow, ...]


def listed(sheet: Sheet) -> Table:
    """The items and the rows of taxes of a document."""
    items = find_items(sheet.rows, comma=sheet.comma)
    rates = find_taxes(sheet.rows, comma=sheet.comma, listed=[item.row for item in items.items])
    return Table(items, rates)


def groups(table: Table, net: Decimal | None, tax: Decimal | None, gross: Decimal | None) -> tuple[Group, ...]:
    """The lines, then the rows of taxes. The totals, where they are known, say how sure they are."""
    return (*_lines(table.items, net, gross), *_taxes(table.taxes, net, tax))


def _lines(listing: Listing, net: Decimal | None, gross: Decimal | None) -> Iterator[Group]:
    adds_up = listing.adds_up(net, gross)
    numbers = _numbers(listing.items)
    for place, item in enumerate(listing.items):
        trust = PROVED if adds_up else _trust(item, adds_up)
        yield Group("lines", place + 1, dict(_line(item, numbers[place], trust)))


def _trust(item: Item, adds_up: bool | None) -> float:
    """How sure a line is by itself: quantity times price is its amount, and nothing speaks against the list."""
    return PLAUSIBLE if adds_up is None and item.quantity is not None else DOUBTFUL


def _line(item: Item, number: str, trust: float) -> Iterator[tuple[str, Field]]:
    several: tuple[tuple[str, str], ...] = (
        ("number", number),
        ("name", item.description),
        ("quantity", _figure(item.quantity)),
        ("unit", item.unit or ""),
        ("price", _figure(item.unit_price)),
        ("net_amount", plain(item.amount)),
        ("tax_rate", _figure(item.tax_rate)),
    )
    for name, value in several:
        if value:
            yield name, field(value, item.row, "label", trust)


def _numbers(items: Sequence[Item]) -> Sequence[str]:
    """The numbers printed before the items: none, unless they count on from one."""
    firsts = [item.row.cells[0].text.rstrip(".") for item in items]
    counted = [str(place) for place in range(1, len(items) + 1)]
    return counted if [first.lstrip("0") for first in firsts] == counted else [""] * len(items)


def _taxes(rows: Sequence[TaxRow], net: Decimal | None, tax: Decimal | None) -> Iterator[Group]:
    adds_up = taxes.add_up(rows, net, tax)
    trust = PROVED if adds_up else PLAUSIBLE if adds_up is None else DOUBTFUL
    for number, row in enumerate(rows, 1):
        yield Group("taxes", number, _tax(row, trust))


def _tax(row: TaxRow, trust: float) -> Mapping[str, Field]:
    several = (("taxable_amount", plain(row.base)), ("tax_amount", plain(row.tax)), ("tax_rate", _figure(row.rate)))
    return {name: field(value, row.row, "label", trust) for name, value in several}


def _figure(value: Decimal | None) -> str:
    """A quantity, price or rate as printed, with a point."""
    return "" if value is None else f"{value:f}"

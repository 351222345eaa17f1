"""Rows of taxes on an invoice: rate, what is taxed, and the tax, known by that the tax is the rate of the base.

A row is believed only if its numbers prove each other, so an unlabelled table is as good as a labelled one. The sum of
all rows is a second witness beside net + tax = gross, which one row of such a table fulfils as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

from pipeline.reading.amounts import FoundAmount, find_amounts
from pipeline.reading.rows import Row

MAX_ROWS = 40
MAX_RATE = Decimal(30)
_ROUNDING = Decimal("0.021")
_RATE = re.compile(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,3})?) ?%")
_TAX = re.compile(
    r"\b(?:vat|gst|hst|tax|mwst|ust|umsatzsteuer\w{0,16}|mehrwertsteuer|steuer\w{0,12}|tva|btw|iva|igic|sst)\b"
)


@dataclass(frozen=True, slots=True)
class TaxRow:
    """One rate: in per cent, with the amount it is taken of and the tax. `row` is where the tax stands."""

    rate: Decimal
    base: Decimal
    tax: Decimal
    row: Row


def find_taxes(rows: Sequence[Row], *, comma: bool, listed: Collection[Row] = ()) -> tuple[TaxRow, ...]:
    """The rows of taxes, each rate and base once, in order. `comma` is the document's decimal mark.

    Rows `listed` as items are none: the price of one of five is twenty per cent of their amount.
    """
    found: dict[tuple[Decimal, Decimal], TaxRow] = {}
    items = {(row.page, row.text) for row in listed}
    near = -9
    for place, row in enumerate(rows):
        if _TAX.search(row.folded):
            near = place
        if place - near > 6 or (row.page, row.text) in items:
            continue
        for each in _tax_row(row, comma, inside=near == place):
            found.setdefault((each.rate, each.base), each)
        if len(found) >= MAX_ROWS:
            break
    return tuple(found.values())


def add_up(taxes: Sequence[TaxRow], net: Decimal | None, tax: Decimal | None) -> bool | None:
    """Whether the rows make the totals: their taxes the tax, their bases the net. None if unknown."""
    if not taxes or net is None or tax is None:
        return None
    taxed, bases = sum(each.tax for each in taxes), sum(each.base for each in taxes)
    return abs(taxed - tax) < _ROUNDING and abs(bases - net) < _ROUNDING


def _tax_row(row: Row, comma: bool, *, inside: bool) -> Iterator[TaxRow]:
    money = [each for each in find_amounts(row.text, comma=comma) if each.cents or each.currency]
    rates = [Decimal(match[1].replace(",", ".")) for match in _RATE.finditer(row.folded)]
    if not 2 <= len(money) <= 5:
        return
    if not rates and len(money) <= 3:
        rates = [each.value for each in find_amounts(row.text, comma=comma) if 0 < each.value <= MAX_RATE][:2]
    if len(row.text.split()) > 14 and not inside:
        return
    for rate in rates[:2]:
        pair = _proved(rate, money)
        if pair is not None:
            yield TaxRow(rate.normalize() + 0, pair[0].value, pair[1].value, row)
            return


def _proved(rate: Decimal, money: Sequence[FoundAmount]) -> tuple[FoundAmount, FoundAmount] | None:
    """Base and tax: of the amounts of a row the pair that fits the rate best; no rate, no tax."""
    fitting = [
        (abs(base.value * rate / 100 - tax.value), place, base, tax)
        for place, (base, tax) in enumerate(permutations(money, 2))
        if base.value and abs(base.value) >= abs(tax.value) and base.value * tax.value >= 0
    ]
    if not fitting or rate > MAX_RATE:
        return None
    gap, _, base, tax = min(fitting, key=lambda each: each[:2])
    return (base, tax) if gap < _ROUNDING and (tax.value or not rate) else None

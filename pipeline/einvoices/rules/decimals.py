"""BR-DEC: amounts have at most two decimals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal

from pipeline.einvoices.checks import HEADER, LINES, TOTALS, Found, Rule
from pipeline.einvoices.model import AllowanceCharge, Invoice, Profile

Amounts = Iterable[Decimal | None]


def _two(amounts: Callable[[Invoice], Amounts]) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        for amount in amounts(invoice):
            if amount is not None:
                exponent = amount.as_tuple().exponent
                yield isinstance(exponent, int) and exponent >= -2, f"{amount}"

    return look


def _document(charge: bool, value: Callable[[AllowanceCharge], Decimal | None]) -> Callable[[Invoice], Amounts]:
    return lambda invoice: [value(each) for each in invoice.allowances if each.charge is charge]


def _lines(charge: bool, value: Callable[[AllowanceCharge], Decimal | None]) -> Callable[[Invoice], Amounts]:
    return lambda invoice: [value(each) for line in invoice.lines for each in line.allowances if each.charge is charge]


rules: tuple[Rule, ...] = (
    Rule("BR-DEC-01", HEADER, _two(_document(False, lambda each: each.amount))),
    Rule("BR-DEC-02", HEADER, _two(_document(False, lambda each: each.base))),
    Rule("BR-DEC-05", HEADER, _two(_document(True, lambda each: each.amount))),
    Rule("BR-DEC-06", HEADER, _two(_document(True, lambda each: each.base))),
    Rule("BR-DEC-09", HEADER, _two(lambda invoice: [invoice.totals.lines])),
    Rule("BR-DEC-10", HEADER, _two(lambda invoice: [invoice.totals.allowances])),
    Rule("BR-DEC-11", HEADER, _two(lambda invoice: [invoice.totals.charges])),
    Rule("BR-DEC-12", HEADER, _two(lambda invoice: [invoice.totals.net])),
    Rule("BR-DEC-13", HEADER, _two(lambda invoice: [invoice.totals.tax])),
    Rule("BR-DEC-14", HEADER, _two(lambda invoice: [invoice.totals.gross])),
    Rule("BR-DEC-15", HEADER, _two(lambda invoice: [invoice.totals.tax_accounting])),
    Rule("BR-DEC-16", HEADER, _two(lambda invoice: [invoice.totals.paid])),
    Rule("BR-DEC-17", HEADER, _two(lambda invoice: [invoice.totals.rounding])),
    Rule("BR-DEC-18", TOTALS, _two(lambda invoice: [invoice.totals.due])),
    Rule("BR-DEC-19", HEADER, _two(lambda invoice: [row.base for row in invoice.taxes])),
    Rule("BR-DEC-20", HEADER, _two(lambda invoice: [row.tax for row in invoice.taxes])),
    Rule("BR-DEC-23", LINES - {Profile.EXTENDED}, _two(lambda invoice: [line.net for line in invoice.lines])),
    Rule("BR-DEC-24", LINES, _two(_lines(False, lambda each: each.amount))),
    Rule("BR-DEC-25", LINES, _two(_lines(False, lambda each: each.base))),
    Rule("BR-DEC-27", LINES, _two(_lines(True, lambda each: each.amount))),
    Rule("BR-DEC-28", LINES, _two(_lines(True, lambda each: each.base))),
)

"""BR-21 to BR-48, BR-54, BR-64, BR-65: what lines, allowances, charges, periods and rows of the breakdown must have."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.einvoices.checks import HEADER, LINES, Found, Rule
from pipeline.einvoices.model import AllowanceCharge, Invoice, Line, Period, TaxRow


def _line(name: str, test: Callable[[Line], object]) -> Callable[[Invoice], Found]:
    """A rule of every line; `name` says what it must have."""

    def look(invoice: Invoice) -> Found:
        for line in invoice.lines:
            yield bool(test(line)), f"line {line.number}: {name}"

    return look


def _row(name: str, test: Callable[[TaxRow], object]) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        for row in invoice.taxes:
            yield bool(test(row)), f"VAT {row.category} {row.rate}: {name}"

    return look


def _document(charge: bool, name: str, test: Callable[[AllowanceCharge], object]) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        for each in invoice.allowances:
            if each.charge is charge:
                yield bool(test(each)), f"{'charge' if charge else 'allowance'} of {each.amount}: {name}"

    return look


def _of_line(charge: bool, name: str, test: Callable[[AllowanceCharge], object]) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        for line in invoice.lines:
            for each in line.allowances:
                if each.charge is charge:
                    yield bool(test(each)), f"line {line.number}, {'charge' if charge else 'allowance'}: {name}"

    return look


def _reason(each: AllowanceCharge) -> bool:
    return each.reason is not None or each.reason_code is not None


def _periods(of_lines: bool) -> Callable[[Invoice], Iterator[Period]]:
    def look(invoice: Invoice) -> Iterator[Period]:
        found = (line.period for line in invoice.lines) if of_lines else iter((invoice.period,))
        yield from (period for period in found if period)

    return look


def _ordered(of_lines: bool) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        for period in _periods(of_lines)(invoice):
            if period.start and period.end:
                yield period.start <= period.end, f"from {period.start} to {period.end}"

    return look


def _begun(of_lines: bool) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        for period in _periods(of_lines)(invoice):
            yield period.start is not None or period.end is not None, f"from {period.start} to {period.end}"

    return look


def _attributes(line: Line) -> bool:
    return all(name is not None and value is not None for name, value in line.item.attributes)


rules: tuple[Rule, ...] = (
    Rule("BR-21", LINES, _line("BT-126 number", lambda each: each.number is not None)),
    Rule("BR-22", LINES, _line("BT-129 quantity", lambda each: each.quantity is not None)),
    Rule("BR-23", LINES, _line("BT-130 unit", lambda each: each.unit is not None)),
    Rule("BR-24", LINES, _line("BT-131 net amount", lambda each: each.net is not None)),
    Rule("BR-25", LINES, _line("BT-153 name of the item", lambda each: each.item.name is not None)),
    Rule("BR-26", LINES, _line("BT-146 price", lambda each: each.price is not None)),
    Rule("BR-27", LINES, _line("BT-146 price not below 0", lambda each: each.price is not None and each.price >= 0)),
    Rule("BR-28", LINES, _line("BT-148 not below 0", lambda each: each.gross_price is None or each.gross_price >= 0)),
    Rule("BR-29", HEADER, _ordered(of_lines=False)),
    Rule("BR-30", LINES, _ordered(of_lines=True)),
    Rule("BR-31", HEADER, _document(False, "BT-92 amount", lambda each: each.amount is not None)),
    Rule("BR-32", HEADER, _document(False, "BT-95 category", lambda each: each.category is not None)),
    Rule("BR-33", HEADER, _document(False, "a reason", _reason)),
    Rule("BR-36", HEADER, _document(True, "BT-99 amount", lambda each: each.amount is not None)),
    Rule("BR-37", HEADER, _document(True, "BT-102 category", lambda each: each.category is not None)),
    Rule("BR-38", HEADER, _document(True, "a reason", _reason)),
    Rule("BR-41", LINES, _of_line(False, "BT-136 amount", lambda each: each.amount is not None)),
    Rule("BR-42", LINES, _of_line(False, "a reason", _reason)),
    Rule("BR-43", LINES, _of_line(True, "BT-141 amount", lambda each: each.amount is not None)),
    Rule("BR-44", LINES, _of_line(True, "a reason", _reason)),
    Rule("BR-45", HEADER, _row("BT-116 taxable amount", lambda each: each.base is not None)),
    Rule("BR-46", HEADER, _row("BT-117 tax", lambda each: each.tax is not None)),
    Rule("BR-47", HEADER, _row("BT-118 category", lambda each: each.category is not None)),
    Rule("BR-48", HEADER, _row("BT-119 rate", lambda each: each.rate is not None or each.category == "O")),
    Rule("BR-54", LINES, _line("attributes with name and value", _attributes)),
    Rule(
        "BR-64",
        LINES,
        _line("BT-157 with a scheme", lambda each: each.item.standard_id is None or each.item.standard_id.scheme),
    ),
    Rule("BR-65", LINES, _line("BT-158 with a list", lambda each: all(one.scheme for one in each.item.classes))),
    Rule("BR-CO-04", LINES, _line("BT-151 category of VAT", lambda each: each.category is not None)),
    Rule("BR-CO-19", HEADER, _begun(of_lines=False)),
    Rule("BR-CO-20", LINES, _begun(of_lines=True)),
    Rule("BR-CO-21", HEADER, _document(False, "a reason", _reason)),
    Rule("BR-CO-22", HEADER, _document(True, "a reason", _reason)),
    Rule("BR-CO-23", LINES, _of_line(False, "a reason", _reason)),
    Rule("BR-CO-24", LINES, _of_line(True, "a reason", _reason)),
)

"""BR-S, BR-Z, BR-E, BR-AE, BR-IC, BR-G, BR-O, BR-AF and BR-AG: what each category of VAT demands.

The families say much the same of different categories; `_family` makes the rules of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from pipeline.einvoices.checks import FULL, HEADER, LINES, Found, Rule, rounded, times, total
from pipeline.einvoices.model import Invoice

Look = Callable[[Invoice], Found]
_ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class _Category:
    """A category: its code, its family of rules, and what it demands. `rated` categories have a row for each rate."""

    code: str
    family: str
    rated: bool
    rate: str
    who: str


_CATEGORIES = (
    _Category("S", "S", True, "above 0", "seller"),
    _Category("Z", "Z", False, "0", "seller"),
    _Category("E", "E", False, "0", "seller"),
    _Category("AE", "AE", False, "0", "both"),
    _Category("K", "IC", False, "0", "VAT of both"),
    _Category("G", "G", False, "0", "VAT of the seller"),
    _Category("O", "O", False, "none", "nobody"),
    _Category("L", "AF", True, "not below 0", "seller"),
    _Category("M", "AG", True, "not below 0", "seller"),
)


def _uses(invoice: Invoice, code: str, kind: str) -> Iterator[Decimal | None]:
    """The rates that lines, allowances or charges of a category have."""
    if kind == "line":
        yield from (line.rate for line in invoice.lines if line.category == code)
    else:
        yield from (
            each.rate for each in invoice.allowances if each.category == code and each.charge is (kind == "charge")
        )


def _row_for_it(category: _Category) -> Look:
    """01: a category that is used has its row in the breakdown, and no other way round."""

    def look(invoice: Invoice) -> Found:
        used = any(True for kind in ("line", "allowance", "charge") for _ in _uses(invoice, category.code, kind))
        rows = sum(row.category == category.code for row in invoice.taxes)
        if used or rows:
            fits = rows >= 1 if category.rated else rows == 1
            if category.rated and not used:
                fits = False
            yield fits, f"rows of category {category.code}: {rows}, used: {used}"

    return look


def _identified(category: _Category, kind: str) -> Look:
    """02 to 04: whose identifiers the category demands."""

    def look(invoice: Invoice) -> Found:
        if next((True for _ in _uses(invoice, category.code, kind)), False):
            seller = invoice.seller.vat_id or invoice.seller.tax_id
            told = f"{kind} of category {category.code}: seller {seller}, buyer {invoice.buyer.vat_id}"
            yield _who(invoice, category.who), told

    return look


def _who(invoice: Invoice, wanted: str) -> bool:
    seller, buyer, representative = invoice.seller, invoice.buyer, invoice.representative
    vat = bool(seller.vat_id or (representative and representative.vat_id))
    if wanted == "nobody":
        return not vat and not buyer.vat_id
    if wanted.startswith("VAT"):
        return vat and (wanted != "VAT of both" or buyer.vat_id is not None)
    return (vat or seller.tax_id is not None) and (
        wanted == "seller" or buyer.vat_id is not None or buyer.legal_id is not None
    )


def _rated(category: _Category, kind: str) -> Look:
    """05 to 07: the rate."""

    def look(invoice: Invoice) -> Found:
        for rate in _uses(invoice, category.code, kind):
            yield _allowed(rate, category.rate), f"{kind} of category {category.code}: rate {rate}"

    return look


def _allowed(rate: Decimal | None, wanted: str) -> bool:
    if rate is None or wanted == "none":
        return rate is None and wanted == "none"
    return {"above 0": rate > 0, "not below 0": rate >= 0, "0": rate == 0}[wanted]


def _adds_up(category: _Category) -> Look:
    """08: the taxable amount is that of lines and charges less allowances; of each rate where rates differ."""

    def look(invoice: Invoice) -> Found:
        for row in invoice.taxes:
            if row.category != category.code or (category.rated and row.rate is None):
                continue
            sums = _taxable(invoice, category, row.rate)
            fits = row.base is not None and _near(row.base, sums, invoice.syntax, rated=category.rated)
            yield fits, f"{category.code} {row.rate}: {row.base} stated, sum {sums}"

    return look


def _taxable(invoice: Invoice, category: _Category, rate: Decimal | None) -> Decimal:
    def counts(code: str | None, other: Decimal | None) -> bool:
        return code == category.code and (not category.rated or other == rate)

    lines = (line.net for line in invoice.lines if counts(line.category, line.rate))
    others = (
        (each.amount or Decimal()) * (1 if each.charge else -1)
        for each in invoice.allowances
        if counts(each.category, each.rate)
    )
    return total((*lines, *others))


def _near(stated: Decimal, computed: Decimal, syntax: str, *, rated: bool) -> bool:
    """As the two schematrons have it: UBL exact but for rates that differ, CII the other way round."""
    if syntax == "ubl":
        return abs(stated - computed) < _ONE if rated else stated == computed
    return stated == rounded(computed) if rated else abs(stated - rounded(computed)) <= _ONE


def _taxed(category: _Category) -> Look:
    """09: the tax is taxable amount times rate, or 0."""

    def look(invoice: Invoice) -> Found:
        for row in invoice.taxes:
            if row.category == category.code:
                expected = rounded(times(abs(row.base or Decimal()), row.rate or Decimal()) / 100)
                tax = abs(row.tax or Decimal())
                fits = abs(tax - expected) < _ONE if category.rated else tax == 0
                yield row.tax is not None and fits, f"{category.code} {row.rate} % of {row.base}: {row.tax} stated"

    return look


def _explained(category: _Category) -> Look:
    """10: a reason why no tax is due, where one is needed, and only there."""
    needed = not category.rated and category.code != "Z"

    def look(invoice: Invoice) -> Found:
        for row in invoice.taxes:
            if row.category == category.code:
                given = row.reason is not None or row.reason_code is not None
                yield given is needed, f"category {category.code}: reason {row.reason or row.reason_code}"

    return look


def br_ic_11(invoice: Invoice) -> Found:
    """A supply within the Community has a date of delivery or a period."""
    if any(row.category == "K" for row in invoice.taxes):
        date = invoice.delivery.date if invoice.delivery else None
        yield date is not None or invoice.period is not None, f"delivered {date}, period {invoice.period is not None}"


def br_ic_12(invoice: Invoice) -> Found:
    """A supply within the Community names the country of delivery."""
    if any(row.category == "K" for row in invoice.taxes):
        address = invoice.delivery.address if invoice.delivery else None
        yield bool(address and address.country), f"delivered to {address.country if address else None}"


def _nothing_else(kind: str) -> Look:
    """BR-O-11 to 14: what is not subject to VAT stands alone."""

    def look(invoice: Invoice) -> Found:
        if any(row.category == "O" for row in invoice.taxes):
            others = [code for code in _codes(invoice, kind) if code not in ("O", None)]
            yield not others, f"{kind} of other categories: {len(others)}"

    return look


def _codes(invoice: Invoice, kind: str) -> list[str | None]:
    if kind == "row":
        return [row.category for row in invoice.taxes]
    if kind == "line":
        return [line.category for line in invoice.lines]
    return [each.category for each in invoice.allowances if each.charge is (kind == "charge")]


def _family(category: _Category) -> Iterator[Rule]:
    name = f"BR-{category.family}"
    yield Rule(f"{name}-01", FULL, _row_for_it(category))
    for number, kind in enumerate(("line", "allowance", "charge"), 2):
        yield Rule(f"{name}-{number:02}", LINES if kind == "line" else HEADER, _identified(category, kind))
    for number, kind in enumerate(("line", "allowance", "charge"), 5):
        yield Rule(f"{name}-{number:02}", LINES if kind == "line" else HEADER, _rated(category, kind))
    yield Rule(f"{name}-08", FULL, _adds_up(category))
    yield Rule(f"{name}-09", HEADER, _taxed(category))
    yield Rule(f"{name}-10", HEADER, _explained(category))


rules: tuple[Rule, ...] = (
    *(rule for category in _CATEGORIES for rule in _family(category)),
    Rule("BR-IC-11", HEADER, br_ic_11),
    Rule("BR-IC-12", HEADER, br_ic_12),
    *(
        Rule(f"BR-O-{number}", HEADER, _nothing_else(kind))
        for number, kind in enumerate(("row", "line", "allowance", "charge"), 11)
    ),
)

"""BR-CO-03 to BR-CO-26: what must add up, and what one value demands of another."""

from __future__ import annotations

from decimal import Decimal

from pipeline.einvoices.checks import FULL, HEADER, TOTALS, Found, Rule, rounded, times, total
from pipeline.einvoices.model import Invoice, Profile, TaxRow, Totals


def br_co_03(invoice: Invoice) -> Found:
    """The date of the tax point and its code exclude each other."""
    if invoice.tax_point or invoice.tax_point_code:
        both = invoice.tax_point is not None and invoice.tax_point_code is not None
        yield not both, f"tax point {invoice.tax_point}, code {invoice.tax_point_code}"


def br_co_09(invoice: Invoice) -> Found:
    """A VAT identifier begins with the code of its country."""
    for party in (invoice.seller, invoice.buyer, invoice.representative):
        if party and party.vat_id:
            prefix = party.vat_id[:2]
            yield prefix == "1A" or (prefix.isascii() and prefix.isalpha() and prefix.isupper()), party.vat_id


def br_co_10(invoice: Invoice) -> Found:
    """The sum of the lines."""
    if _totalled(invoice):
        yield from _equal(invoice.totals.lines, rounded(total(line.net for line in invoice.lines)), "sum of the lines")


def br_co_11(invoice: Invoice) -> Found:
    """The sum of the allowances."""
    yield from _allowances(invoice, charge=False, stated=invoice.totals.allowances)


def br_co_12(invoice: Invoice) -> Found:
    """The sum of the charges."""
    yield from _allowances(invoice, charge=True, stated=invoice.totals.charges)


def br_co_13(invoice: Invoice) -> Found:
    """Lines less allowances plus charges are the total without VAT."""
    sums = invoice.totals
    if _totalled(invoice):
        computed = rounded(total((sums.lines, _minus(sums.allowances), sums.charges)))
        yield from _equal(sums.net, computed, "lines less allowances plus charges")


def br_co_14(invoice: Invoice) -> Found:
    """The total of VAT is the sum of the breakdown."""
    if invoice.totals.tax is not None:
        yield from _equal(invoice.totals.tax, rounded(total(row.tax for row in invoice.taxes)), "tax of the breakdown")


def br_co_15(invoice: Invoice) -> Found:
    """Net plus VAT is gross, and there is one total of VAT in the currency of the invoice."""
    sums = invoice.totals
    one = invoice.tax_totals == 1 or (invoice.tax_totals == 0 and invoice.syntax == "cii" and sums.net == sums.gross)
    for passed, message in _equal(sums.gross, rounded(total((sums.net, sums.tax))), "net plus tax"):
        yield passed and one, message + ("" if one else f"; totals of tax: {invoice.tax_totals}")


def br_co_16(invoice: Invoice) -> Found:
    """Gross less what was paid plus rounding is due."""
    sums = invoice.totals
    if _totalled(invoice):
        computed = rounded(total((sums.gross, _minus(sums.paid), sums.rounding)))
        yield from _equal(sums.due, computed, "gross less paid plus rounding")


def br_co_17(invoice: Invoice) -> Found:
    """Taxable amount times rate is the tax; the official tolerance is below one unit."""
    for row in invoice.taxes:
        known = row.base is not None and row.tax is not None
        yield known and tax_fits(row, inclusive=invoice.syntax == "cii"), _row(row)


def br_co_18(invoice: Invoice) -> Found:
    """There is a breakdown."""
    yield bool(invoice.taxes), f"rows of the breakdown: {len(invoice.taxes)}"


def br_co_25(invoice: Invoice) -> Found:
    """What is due has a date or terms of payment."""
    if invoice.totals.due is not None and invoice.totals.due > 0:
        known = invoice.due_date is not None or invoice.payment_terms is not None
        yield known, f"due {invoice.totals.due}, by {invoice.due_date}, terms: {(invoice.payment_terms or '')[:60]}"


def br_co_26(invoice: Invoice) -> Found:
    """The seller can be identified automatically."""
    seller = invoice.seller
    ids = [each for each in seller.ids if each.scheme != "SEPA"]
    yield bool(ids or seller.legal_id or seller.vat_id), f"identifiers of the seller: {len(ids)}, VAT {seller.vat_id}"


def tax_fits(row: TaxRow, *, inclusive: bool = False) -> bool:
    """Whether base times rate is the tax, within one unit; a rate that rounds to 0 allows no tax."""
    tax, base = row.tax or Decimal(), row.base or Decimal()
    if row.rate is None or abs(row.rate) < Decimal("0.5"):
        return abs(tax) < Decimal("0.5")
    off = abs(abs(tax) - rounded(times(abs(base), row.rate) / 100))
    return off < 1 or (inclusive and off == 1)


def _allowances(invoice: Invoice, *, charge: bool, stated: Decimal | None) -> Found:
    amounts = [each.amount for each in invoice.allowances if each.charge is charge]
    if stated is None and not amounts:
        return
    name = "charges" if charge else "allowances"

    if stated is None:
        yield False, f"the sum of {name} is missing; they are {total(amounts)}"
    else:
        yield from _equal(stated, rounded(total(amounts)), name)


def _totalled(invoice: Invoice) -> bool:
    """Whether there are totals at all; a sum of which a part is missing does not hold."""
    return invoice.totals != Totals()


def _equal(stated: Decimal | None, computed: Decimal, name: str) -> Found:
    yield stated == computed, f"{stated} stated, {name}: {computed.normalize():f}"


def _minus(value: Decimal | None) -> Decimal | None:
    return None if value is None else -value


def _row(row: TaxRow) -> str:
    return f"{row.category} {row.rate} % of {row.base}: {row.tax} stated"


rules: tuple[Rule, ...] = (
    Rule("BR-CO-03", HEADER, br_co_03),
    Rule("BR-CO-09", TOTALS, br_co_09),
    Rule("BR-CO-10", FULL, br_co_10),
    Rule("BR-CO-11", HEADER, br_co_11),
    Rule("BR-CO-12", HEADER, br_co_12),
    Rule("BR-CO-13", HEADER, br_co_13),
    Rule("BR-CO-14", HEADER, br_co_14),
    Rule("BR-CO-15", HEADER, br_co_15),
    Rule("BR-CO-16", HEADER, br_co_16),
    Rule("BR-CO-17", HEADER, br_co_17),
    Rule("BR-CO-18", HEADER, br_co_18),
    # The official schematron no longer has it: what is due may be due at once.
    Rule("BR-CO-25", FULL | {Profile.BASIC_WL}, br_co_25, "warning"),
    Rule("BR-CO-26", TOTALS, br_co_26),
)

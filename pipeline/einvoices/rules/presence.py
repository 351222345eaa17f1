"""BR-01 to BR-16 and their like for parties and payment: what an invoice must name at least."""

from __future__ import annotations

from collections.abc import Callable

from pipeline.einvoices.checks import HEADER, LINES, TOTALS, Found, Rule
from pipeline.einvoices.model import Address, Invoice, Party

_TRANSFERS = ("30", "58")


def _given(term: str, value: Callable[[Invoice], object]) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        found = value(invoice)
        shown = f"{found}"[:80] if found is not None and isinstance(found, str) else "given"
        yield found is not None, f"{term}: {shown if found is not None else 'missing'}"

    return look


def br_09(invoice: Invoice) -> Found:
    """The seller's address names a country."""
    yield from _country(invoice, invoice.seller.address, "seller")


def br_11(invoice: Invoice) -> Found:
    """The buyer's address names a country."""
    yield from _country(invoice, invoice.buyer.address, "buyer")


def _country(invoice: Invoice, address: Address | None, whose: str) -> Found:
    """UBL asks for it only where there is an address."""
    if address or invoice.syntax == "cii":
        yield bool(address and address.country), f"country of the {whose}: {address.country if address else None}"


def br_16(invoice: Invoice) -> Found:
    """There is a line."""
    yield bool(invoice.lines), f"lines: {len(invoice.lines)}"


def br_17(invoice: Invoice) -> Found:
    """A payee has a name and is not the seller."""
    payee, seller = invoice.payee, invoice.seller
    if payee:
        same = bool({each.value for each in payee.ids} & {each.value for each in seller.ids})
        names = (seller.trade_name,) if invoice.syntax == "ubl" else (seller.name,)
        yield payee.name is not None and payee.name not in names and not same, f"payee: {payee.name}"


def _representative(test: Callable[[Party], object]) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        if invoice.representative:
            yield bool(test(invoice.representative)), f"tax representative: {invoice.representative.name}"

    return look


def br_49(invoice: Invoice) -> Found:
    """A means of payment has a code."""
    for means in invoice.payments:
        if means.stated:
            yield means.code is not None, f"means of payment: {means.code}"


def br_50(invoice: Invoice) -> Found:
    """An account for a credit transfer has a number."""
    for means in invoice.payments:
        for account in means.accounts if means.code in _TRANSFERS else ():
            yield account.iban is not None, f"account: {account.iban}"


def br_51(invoice: Invoice) -> Found:
    """Of a card's number at most the first six and last four digits are shown."""
    for means in invoice.payments:
        if means.card:
            yield len(means.card) <= 10, f"the number of the card has {len(means.card)} digits"


def br_52(invoice: Invoice) -> Found:
    """A supporting document has a reference."""
    for each in invoice.supporting:
        yield each.reference is not None, f"supporting document: {each.reference}"


def br_53(invoice: Invoice) -> Found:
    """With a currency of accounting the total of tax stands in it, too."""
    if invoice.tax_currency:
        known = invoice.totals.tax_accounting is not None or (
            invoice.tax_currency == invoice.currency and invoice.totals.tax is not None
        )
        yield known, f"tax in {invoice.tax_currency}: {invoice.totals.tax_accounting}"


def br_55(invoice: Invoice) -> Found:
    """A preceding invoice has a number."""
    for each in invoice.preceding:
        yield each.number is not None, f"preceding invoice: {each.number}"


def br_57(invoice: Invoice) -> Found:
    """The address of delivery names a country."""
    if invoice.delivery and invoice.delivery.address:
        yield invoice.delivery.address.country is not None, f"country: {invoice.delivery.address.country}"


def br_61(invoice: Invoice) -> Found:
    """A credit transfer names an account."""
    for means in invoice.payments:
        if means.code in _TRANSFERS:
            yield any(each.iban for each in means.accounts), f"accounts: {len(means.accounts)} for code {means.code}"


def _scheme(party: Callable[[Invoice], Party]) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        endpoint = party(invoice).endpoint
        if endpoint:
            yield endpoint.scheme is not None, f"electronic address {endpoint.value}, scheme {endpoint.scheme}"

    return look


rules: tuple[Rule, ...] = (
    Rule("BR-01", TOTALS, _given("BT-24 specification", lambda each: each.specification)),
    Rule("BR-02", TOTALS, _given("BT-1 number", lambda each: each.number)),
    Rule("BR-03", TOTALS, _given("BT-2 date of issue", lambda each: each.issue_date)),
    Rule("BR-04", TOTALS, _given("BT-3 type", lambda each: each.type_code)),
    Rule("BR-05", TOTALS, _given("BT-5 currency", lambda each: each.currency)),
    Rule("BR-06", TOTALS, _given("BT-27 name of the seller", lambda each: each.seller.name)),
    Rule("BR-07", TOTALS, _given("BT-44 name of the buyer", lambda each: each.buyer.name)),
    Rule("BR-08", TOTALS, _given("BG-5 address of the seller", lambda each: each.seller.address)),
    Rule("BR-09", TOTALS, br_09),
    Rule("BR-10", HEADER, _given("BG-8 address of the buyer", lambda each: each.buyer.address)),
    Rule("BR-11", HEADER, br_11),
    Rule("BR-12", HEADER, _given("BT-106 sum of lines", lambda each: each.totals.lines)),
    Rule("BR-13", TOTALS, _given("BT-109 total without VAT", lambda each: each.totals.net)),
    Rule("BR-14", TOTALS, _given("BT-112 total with VAT", lambda each: each.totals.gross)),
    Rule("BR-15", TOTALS, _given("BT-115 amount due", lambda each: each.totals.due)),
    Rule("BR-16", LINES, br_16),
    Rule("BR-17", HEADER, br_17),
    Rule("BR-18", HEADER, _representative(lambda party: party.name)),
    Rule("BR-19", HEADER, _representative(lambda party: party.address)),
    Rule("BR-20", HEADER, _representative(lambda party: party.address and party.address.country)),
    Rule("BR-49", HEADER, br_49),
    Rule("BR-50", HEADER, br_50),
    Rule("BR-51", HEADER, br_51, "warning"),
    Rule("BR-52", LINES, br_52),
    Rule("BR-53", HEADER, br_53),
    Rule("BR-55", HEADER, br_55),
    Rule("BR-56", HEADER, _representative(lambda party: party.vat_id)),
    Rule("BR-57", HEADER, br_57),
    Rule("BR-61", HEADER, br_61),
    Rule("BR-62", HEADER, _scheme(lambda each: each.seller)),
    Rule("BR-63", HEADER, _scheme(lambda each: each.buyer)),
)

"""The model as flat fields with the product's names, each with its business term and the place of its element."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pipeline.einvoices.model import Invoice, Line, TaxRow

Value = str | Decimal | dt.date | None


@dataclass(frozen=True, slots=True)
class FlatField:
    """A field: `value` in canonical form (date YYYY-MM-DD, amount as plain decimal), `term` as BT-1, `place` a path."""

    name: str
    value: str
    term: str
    place: str


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """The fields of a line (`lines`) or of a row of the tax breakdown (`taxes`), and its number from 1."""

    name: str
    number: int
    fields: tuple[FlatField, ...]


def flat(invoice: Invoice) -> list[FlatField]:
    """The fields that an invoice has once, those it does not have left out."""
    everything = (*_core(invoice), *_payment(invoice), *_references(invoice), *_sums(invoice))
    return list(_made(everything, invoice))


def groups(invoice: Invoice) -> list[FieldGroup]:
    """The lines, then the rows of the tax breakdown."""
    lines = [_group("lines", number, _line(line), line.place) for number, line in enumerate(invoice.lines, 1)]
    taxes = [_group("taxes", number, _tax(row), row.place) for number, row in enumerate(invoice.taxes, 1)]
    return [*lines, *taxes]


def canonical(value: Value) -> str:
    """A value as fields hold it; amounts keep the decimals they were written with."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.isoformat() if isinstance(value, dt.date) else value or ""


def _core(invoice: Invoice) -> tuple[tuple[str, str, Value], ...]:
    account = next((each for each in invoice.accounts if each.iban), None)
    seller, buyer = invoice.seller, invoice.buyer
    return (
        ("invoice_number", "BT-1", invoice.number),
        ("issue_date", "BT-2", invoice.issue_date),
        ("type_code", "BT-3", invoice.type_code),
        ("currency", "BT-5", invoice.currency),
        ("due_date", "BT-9", invoice.due_date),
        ("seller_name", "BT-27", seller.name or seller.trade_name),
        ("seller_vat_id", "BT-31", _compact(seller.vat_id)),
        ("seller_tax_id", "BT-32", seller.tax_id),
        ("buyer_name", "BT-44", buyer.name or buyer.trade_name),
        ("buyer_vat_id", "BT-48", _compact(buyer.vat_id)),
        ("payee_name", "BT-59", invoice.payee.name if invoice.payee else None),
        ("iban", "BT-84", _compact(account.iban) if account else None),
        ("bic", "BT-86", _compact(account.bic) if account else None),
    )


def _payment(invoice: Invoice) -> tuple[tuple[str, str, Value], ...]:
    """How it is paid; a direct debit names the account that is debited, the payer's."""
    means = invoice.payments
    return (
        ("payment_means", "BT-81", next((each.code for each in means if each.code), None)),
        ("payment_reference", "BT-83", next((each.remittance for each in means if each.remittance), None)),
        ("mandate", "BT-89", next((each.mandate for each in means if each.mandate), None)),
        ("creditor_id", "BT-90", next((each.creditor for each in means if each.creditor), None)),
        ("debited_iban", "BT-91", _compact(next((each.debited for each in means if each.debited), None))),
    )


def _compact(number: str | None) -> str | None:
    """An account or a tax number without the spaces that some write for people."""
    return "".join(number.split()) if number else None


def _references(invoice: Invoice) -> tuple[tuple[str, str, Value], ...]:
    period, delivery, before = invoice.period, invoice.delivery, next(iter(invoice.preceding), None)
    return (
        ("buyer_reference", "BT-10", invoice.references.buyer),
        ("contract_reference", "BT-12", invoice.references.contract),
        ("purchase_order", "BT-13", invoice.references.purchase_order),
        ("payment_terms", "BT-20", invoice.payment_terms),
        ("preceding_invoice", "BT-25", before.number if before else None),
        ("delivery_date", "BT-72", delivery.date if delivery else None),
        ("period_start", "BT-73", period.start if period else None),
        ("period_end", "BT-74", period.end if period else None),
    )


def _sums(invoice: Invoice) -> tuple[tuple[str, str, Value], ...]:
    totals = invoice.totals
    return (
        ("total_lines", "BT-106", totals.lines),
        ("total_allowances", "BT-107", totals.allowances),
        ("total_charges", "BT-108", totals.charges),
        ("total_net", "BT-109", totals.net),
        ("total_tax", "BT-110", totals.tax),
        ("total_gross", "BT-112", totals.gross),
        ("prepaid", "BT-113", totals.paid),
        ("rounding", "BT-114", totals.rounding),
        ("amount_due", "BT-115", totals.due),
    )


def _line(line: Line) -> tuple[tuple[str, str, Value], ...]:
    return (
        ("number", "BT-126", line.number),
        ("quantity", "BT-129", line.quantity),
        ("unit", "BT-130", line.unit),
        ("net_amount", "BT-131", line.net),
        ("price", "BT-146", line.price),
        ("tax_category", "BT-151", line.category),
        ("tax_rate", "BT-152", line.rate),
        ("name", "BT-153", line.item.name),
        ("description", "BT-154", line.item.description),
        ("item_number", "BT-155", line.item.seller_id),
    )


def _tax(row: TaxRow) -> tuple[tuple[str, str, Value], ...]:
    return (
        ("taxable_amount", "BT-116", row.base),
        ("tax_amount", "BT-117", row.tax),
        ("tax_category", "BT-118", row.category),
        ("tax_rate", "BT-119", row.rate),
        ("exemption_reason", "BT-120", row.reason),
        ("exemption_code", "BT-121", row.reason_code),
    )


def _made(several: Iterable[tuple[str, str, Value]], invoice: Invoice) -> Iterator[FlatField]:
    for name, term, value in several:
        text = canonical(value)
        if text:
            yield FlatField(name, text, term, invoice.places.get(term, ""))


def _group(name: str, number: int, several: Sequence[tuple[str, str, Value]], place: str) -> FieldGroup:
    made = ((each, term, canonical(value)) for each, term, value in several)
    return FieldGroup(name, number, tuple(FlatField(each, text, term, place) for each, term, text in made if text))

"""Invoices and receipts: numbers, dates, parties and totals, read from labels, places and sums that add up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal

from pipeline.documents.text import Document
from pipeline.handling import Extraction, Field, Handler
from pipeline.reading import amounts, identifiers
from pipeline.reading.invoices import announced, groups, labelled_amounts, names, numbers, tax_numbers, taxes, totals
from pipeline.reading.invoices.addresses import FoundName
from pipeline.reading.invoices.invoice_dates import find_dates
from pipeline.reading.invoices.recognition_doubt import doubted
from pipeline.reading.invoices.sheet import Sheet, field, sheet
from pipeline.reading.labels import Kind
from pipeline.reading.likeness import invoice_likeness
from pipeline.reading.receipts import receipts
from pipeline.reading.receipts.receipt_fields import receipt_fields
from pipeline.reading.rows import squeeze

XML = "application/xml"
# What electronic invoices say besides, by the business terms of EN 16931 (docs/querying.md).
IN_XML_ONLY = (
    "type_code",
    "payee_name",
    "payment_means",
    "mandate",
    "creditor_id",
    "debited_iban",
    "buyer_reference",
    "contract_reference",
    "payment_terms",
    "preceding_invoice",
    "total_lines",
    "total_allowances",
    "total_charges",
    "rounding",
)
SUM = ("total_net", "total_tax", "total_gross")


class InvoiceHandler:
    """Reads invoices, bills and receipts in English, German, French, Dutch, Spanish and Italian, and all in XML."""

    name = "invoice"
    fields: tuple[str, ...] = (
        "invoice_number",
        "issue_date",
        "due_date",
        "delivery_date",
        "period_start",
        "period_end",
        "seller_name",
        "buyer_name",
        "currency",
        "total_net",
        "total_tax",
        "total_gross",
        "prepaid",
        "amount_due",
        "seller_vat_id",
        "seller_tax_id",
        "buyer_vat_id",
        "iban",
        "bic",
        "purchase_order",
        "payment_reference",
        "seller_address",
        *IN_XML_ONLY,
    )

    def score(self, document: Document) -> float:
        """What its headings, labels and amounts say. XML decides."""
        return invoice_likeness(document) if document.einvoice is None else 1.0

    def extract(self, document: Document) -> Extraction:
        """Find the fields: those of the XML where there is one, each compared with the print, then what is printed.

        What is nowhere is left out; printed amounts are chosen so that they add up. Lines and taxes are all the XML's
        or all the print's.
        """
        if document.einvoice is None:
            return self._printed(document)
        # Imported here: no other document has a use for its libraries.
        from pipeline.einvoices.extraction import electronic  # noqa: PLC0415

        found = electronic(document, self.name)
        if found is None:
            return self._printed(document)
        if found.fields and document.media_type == XML:
            return found
        printed = self._printed(document)
        if not found.fields:
            return replace(printed, checks={**printed.checks, **found.checks}, messages=found.messages)
        return replace(found, fields={**printed.fields, **found.fields}, groups=found.groups or printed.groups)

    def _printed(self, document: Document) -> Extraction:
        page = sheet(document)
        found = dict(_fields(page)) if page.rows else {}
        if receipts.is_receipt(page.rows):
            found = receipt_fields(page, found)
        table = groups.listed(page)
        net, tax, gross = _sums(found)
        checks = _checks(table, net, tax, gross)
        if len(checks) > 1:
            found |= _witnessed(found)
        found |= _all_to_pay(found)
        checks |= _check_digits(page, found)
        several = {name: (each,) for name, each in doubted(document, found, checks).items()}
        return Extraction(self.name, several, checks, groups=groups.groups(table, net, tax, gross))


def _fields(sheet: Sheet) -> Iterator[tuple[str, Field]]:
    yield from _number(sheet)
    yield from find_dates(sheet)
    buyer = names.find_buyer(sheet.rows)
    for name, party in (("buyer_name", buyer), ("seller_name", names.find_seller(sheet.rows, buyer))):
        if party:
            yield name, field(squeeze(party.value), party.row, party.method, party.confidence)
    money = totals.choose(labelled_amounts.read(sheet.rows, comma=sheet.comma))
    due = totals.left_to_pay(sheet.rows, money)
    for kind, each in (money | ({Kind.PAYABLE: due} if due else {})).items():
        yield kind.value, field(amounts.plain(each.value), each.row, each.method, each.confidence)
    yield from _currency(sheet)
    yield from _identifiers(sheet, buyer)


def _sums(found: Mapping[str, Field]) -> list[Decimal | None]:
    return [Decimal(found[name].value) if name in found else None for name in SUM]


def _checks(table: groups.Table, net: Decimal | None, tax: Decimal | None, gross: Decimal | None) -> dict[str, bool]:
    """Whether the totals add up, and what else makes them: the items, and the rows of taxes.

    A list that does not make them may be misread, and is no check.
    """
    if net is None or tax is None or gross is None:
        return {}
    if abs(net + tax - gross) >= labelled_amounts.CENT:
        return {"net_plus_tax_is_gross": False}
    witnesses = {"items_add_up": table.items.adds_up(net, gross), "taxes_add_up": taxes.add_up(table.taxes, net, tax)}
    return {"net_plus_tax_is_gross": True} | {name: True for name, passed in witnesses.items() if passed}


def _check_digits(sheet: Sheet, found: Mapping[str, Field]) -> dict[str, bool]:
    """Whether the check digits of the account fit, and that those of the seller's tax number do.

    Money goes to an account, so that a misprint or a misreading must be told; another number is only less trusted.
    """
    checks = {}
    if "iban" in found or any(identifiers.looks_like_iban(row.text) for row in sheet.rows):
        checks["iban_checksum"] = "iban" in found
    if "seller_vat_id" in found and identifiers.valid_vat_id(found["seller_vat_id"].value):
        checks["seller_vat_id_checksum"] = True
    return checks


def _witnessed(found: Mapping[str, Field]) -> dict[str, Field]:
    """The totals, as sure as two independent sums make them."""
    return {name: replace(found[name], confidence=max(found[name].confidence, 0.98)) for name in SUM}


def _all_to_pay(found: Mapping[str, Field]) -> dict[str, Field]:
    """The amount due, as sure as the total where they are the same: then each is a witness of the other."""
    due, gross = found.get("amount_due"), found.get("total_gross")
    if due is None or gross is None or due.value != gross.value:
        return {}
    return {"amount_due": replace(due, confidence=max(due.confidence, gross.confidence))}


def _number(sheet: Sheet) -> Iterator[tuple[str, Field]]:
    found = numbers.find_number(sheet.rows)
    if found:
        yield "invoice_number", field(found.value, found.row, "label", found.confidence)


def _currency(sheet: Sheet) -> Iterator[tuple[str, Field]]:
    found = amounts.currency(row.text for row in sheet.rows)
    if found is None:
        return
    code, votes, total = found
    for row in sheet.rows:
        here = amounts.currency((row.text,))
        if here and here[0] == code:
            yield "currency", field(code, row, "pattern", min(0.97, 0.5 + 0.47 * votes / total))
            return


def _identifiers(sheet: Sheet, buyer: FoundName | None) -> Iterator[tuple[str, Field]]:
    account = next(((each.value, row) for row in sheet.rows for each in identifiers.find_ibans(row.text)), None)
    if account:
        yield "iban", field(*account, "pattern", 0.95)
    bank = announced.find_bic(sheet.rows, account[0][:2] if account else None)
    if bank:
        yield "bic", field(bank[0], bank[1], "label", bank[2])
    found = tax_numbers.find_tax_numbers(sheet.rows, buyer)
    numbered = (("seller_vat_id", found.seller), ("seller_tax_id", found.local), ("buyer_vat_id", found.buyer))
    for name, number in numbered:
        if number:
            yield name, field(number.value, number.row, "label" if number.whole else "derived", number.confidence)
    for name, kind in (("purchase_order", Kind.ORDER), ("payment_reference", Kind.REFERENCE)):
        code = announced.find_code(sheet.rows, kind)
        if code:
            yield name, field(code[0], code[1], "label", code[2])


handler: Handler = InvoiceHandler()

"""The right answers: what a reader of each document finds in it, as a canonical value and as it is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

from making import contract_words as words
from making import maintenance
from making.letters import NDA_PARTIES
from making.values import Invoice, Line

Answer = dict[str, str]
Entry = dict[str, Any]


def invoice(value: Invoice, *, pages: int) -> Entry:
    """The entry of an invoice."""
    money, day = value.money, value.day
    fields = {
        **({"invoice_number": [_answer(value.number)]} if value.number else {}),
        "issue_date": [_answer(value.issued.isoformat(), day(value.issued))],
        "due_date": [_answer(value.due.isoformat(), day(value.due))],
        "seller_name": [_answer(value.seller.name)],
        "buyer_name": [_answer(value.buyer.name)],
        "currency": [_answer(value.currency, value.sign)],
        "total_net": [_answer(f"{value.net:.2f}", money(value.net))],
        "total_tax": [_answer(f"{value.tax:.2f}", money(value.tax))],
        "total_gross": [_answer(f"{value.gross:.2f}", money(value.gross))],
    }
    if value.seller.tax_id:
        fields["seller_vat_id"] = [_answer(value.seller.tax_id.replace(" ", ""), value.seller.tax_id)]
    if value.iban:
        fields["iban"] = [_answer(value.iban.replace(" ", ""), value.iban)]
    entry = readable("invoice", pages, fields)
    return entry | {
        "tax_percent": str(value.tax_percent),
        "lines": [_line(value, line) for line in value.lines],
    }


def long_contract() -> Entry:
    """The entry of the 200 pages."""
    fields = {
        "title": [_answer(words.TITLE)],
        "contract_number": [_answer(words.REFERENCE)],
        "parties": [_answer(words.CUSTOMER), _answer(words.SUPPLIER)],
        "effective_date": [_answer("2026-03-01", words.EFFECTIVE_DATE)],
        "term": [_answer("5 years", words.TERM)],
        "notice_period": [_answer("90 days", words.NOTICE)],
        "governing_law": [_answer(words.LAW)],
    }
    return readable("contract", 200, fields) | {"page_marker": "Page {number} of 200"}


def nda() -> Entry:
    """The entry of the short agreement."""
    fields = {
        "title": [_answer("Mutual Non-Disclosure Agreement")],
        "parties": [_answer(party) for party in NDA_PARTIES],
        "effective_date": [_answer("2026-01-15", "January 15, 2026")],
        "term": [_answer("2 years", "two (2) years")],
        "notice_period": [_answer("30 days", "thirty (30) days")],
        "governing_law": [_answer("Delaware", "State of Delaware")],
    }
    return readable("contract", 3, fields)


def german_contract() -> Entry:
    """The entry of the German contract."""
    fields = {
        "title": [_answer("DIENSTLEISTUNGSVERTRAG")],
        "contract_number": [_answer("DV-2026-014")],
        "parties": [_answer("Brauhaus Silberquell GmbH & Co. KG"), _answer("Tannert IT-Service e. K.")],
        "effective_date": [_answer("2026-04-01", "01.04.2026")],
        "term": [_answer("24 months", "24 Monaten")],
        "notice_period": [_answer("3 months", "drei Monaten")],
        "governing_law": [_answer("Bundesrepublik Deutschland")],
    }
    return readable("contract", 1, fields)


def maintenance_agreement() -> Entry:
    """The entry of the Word document."""
    fields = {
        "title": [_answer(maintenance.TITLE)],
        "contract_number": [_answer(maintenance.REFERENCE)],
        "parties": [_answer(maintenance.CUSTOMER), _answer(maintenance.ENGINEER)],
        "effective_date": [_answer("2026-06-01", maintenance.EFFECTIVE_DATE)],
        "term": [_answer("3 years", maintenance.TERM)],
        "notice_period": [_answer("60 days", maintenance.NOTICE)],
        "governing_law": [_answer(maintenance.LAW)],
    }
    return readable("contract", maintenance.PAGES, fields)


def xml_of(value: Invoice, day: Callable[[date], str] = str) -> Entry:
    """The entry of an invoice as XML, which has plain figures, ISO dates and no spaces in identifiers."""
    seller = replace(value.seller, tax_id=value.seller.tax_id.replace(" ", ""))
    plain = replace(
        value, seller=seller, iban=value.iban.replace(" ", ""), sign=value.currency, money="{:.2f}".format, day=day
    )
    return invoice(plain, pages=1)


def carrying(value: Invoice, printed: Invoice, name: str, outer: str) -> Entry:
    """The entry of a PDF that carries its invoice as XML. The XML decides; where the print differs, a check fails."""
    entry, on_paper = invoice(value, pages=1), invoice(printed, pages=1)
    fields = {
        key: [_answer(found[0]["value"], on_paper["fields"][key][0]["printed"])]
        for key, found in entry["fields"].items()
    }
    differ = [key for key, found in fields.items() if on_paper["fields"][key][0]["value"] != found[0]["value"]]
    lines = [
        line | {"printed_amount": other["printed_amount"]}
        for line, other in zip(entry["lines"], on_paper["lines"], strict=True)
    ]
    return entry | {
        "fields": fields,
        "lines": lines,
        "failed_checks": [f"xml_vs_print_{key}" for key in differ],
        "inside": {name: xml_of(value, "{:%Y%m%d}".format) | {"rendition_of": outer}},
    }


def mail(subject: str, inside: dict[str, Entry]) -> Entry:
    """The entry of a mail with the files in it, in their order."""
    return readable("general", 1, {"title": [_answer(subject)]}) | {"inside": inside}


def memo() -> Entry:
    """The entry of the memo."""
    return readable("general", 1, {"title": [_answer("Moving desks while the windows are replaced")]})


def readable(kind: str, pages: int, fields: dict[str, list[Answer]]) -> Entry:
    """The entry of a document that can be read to its end."""
    return {"type": kind, "pages": pages, "reason": "ok", "fields": fields}


def _answer(value: str, printed: str | None = None) -> Answer:
    return {"value": value, "printed": printed or value}


def _line(value: Invoice, line: Line) -> Answer:
    return {
        "description": line.description,
        "quantity": str(line.quantity),
        "unit": line.unit,
        "unit_price": f"{line.price:.2f}",
        "amount": f"{line.amount:.2f}",
        "printed_amount": value.money(line.amount),
    }

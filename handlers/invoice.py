"""Invoices and receipts: numbers, dates, parties and totals, read from labels, places and sums that add up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from pipeline.documents.text import Document
from pipeline.handling import Extraction, Field, Handler
from pipeline.reading import amounts, dates, identifiers, items, names, numbers, receipts, taxes, totals
from pipeline.reading.labels import Kind, Label
from pipeline.reading.rows import Row, fold, rows, squeeze

_WORDS = re.compile(
    r"\b(?:invoice|rechnung(?:s\w{2,12})?|facture|factuur(?:\w{2,8})?|factura|fattura|receipt|credit note|gutschrift"
    r"|avoir"
    r"|bill to|vat|mwst|ust|tva|btw|iva|total|totaal|totale|gesamt\w{0,8}|subtotal|amount due|balance due|zahlbar"
    r"|due date"
    r"|net a payer|iban|qty|quantity|menge|unit price|einzelpreis|prix unitaire|tax)\b"
)
_TITLES = re.compile(r"\b(?:invoice|rechnung|facture|factuur|factura|fattura|receipt|credit note|gutschrift|avoir)\b")
_PRINTED_DATE = re.compile(
    r"[ :.#°]{0,9}(?:nr\.? |no\.? )?(?:[a-z]{1,4} )?(?:[a-z/_.-]{0,12}\d[\w/_.-]{0,40})?[ ,]{1,5}"
    r"(?:du|vom|von|del|dated?|van|of|le|issued at|v\.)[ :]{1,3}"
)
_TAX_WORD = re.compile(r"\b(?:vat|ust|uid|umsatzsteuer|mwst|tva|btw|iva|tax|nif|cif|p\. ?iva|steuer|moms|mva)")
XML = "application/xml"
# What electronic invoices say besides, by the business terms of EN 16931 (docs/querying.md).
IN_XML_ONLY = (
    "type_code",
    "seller_tax_id",
    "buyer_vat_id",
    "payee_name",
    "bic",
    "mandate",
    "payment_reference",
    "buyer_reference",
    "contract_reference",
    "purchase_order",
    "payment_terms",
    "preceding_invoice",
    "delivery_date",
    "period_start",
    "period_end",
    "total_lines",
    "total_allowances",
    "total_charges",
    "prepaid",
    "rounding",
)
LETTERHEAD_ROWS = 25
_BUYERS_OWN = re.compile(r"\b(?:customer|client|kunden?|your|ihre|klant|cliente|buyer|acheteur|votre|uw|su)\b")
_REGISTERED = re.compile(
    r"\b(?:hr[ab]|handelsreg\w*|registergericht|amtsgericht|geschaftsfuhr\w*|siret|rcs|kvk|iban|company (?:no|number"
    r"|reg)\w*|registered)\b"
)
SCORE_PAGES = 3
SUM = ("total_net", "total_tax", "total_gross")
LEAST_SHARE = 0.35  # of the probability; a choice below is a guess
SCORE_CHARACTERS = 12_000


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A document's rows with their labels, and the habits found in them."""

    rows: tuple[Row, ...]
    day_first: bool
    comma: bool


class InvoiceHandler:
    """Reads invoices, bills and receipts in English, German, French, Dutch, Spanish and Italian, and all in XML."""

    name = "invoice"
    fields: tuple[str, ...] = (
        "invoice_number",
        "issue_date",
        "due_date",
        "seller_name",
        "buyer_name",
        "currency",
        "total_net",
        "total_tax",
        "total_gross",
        "amount_due",
        "seller_vat_id",
        "iban",
        "seller_address",
        *IN_XML_ONLY,
    )

    def score(self, document: Document) -> float:
        """How many different words of invoices the first pages have, and whether amounts stand there. XML decides."""
        if document.einvoice is not None:
            return 1.0
        text = fold("\n".join(page.text for page in document.pages[:SCORE_PAGES])[:SCORE_CHARACTERS])
        words = {match[0] for match in _WORDS.finditer(text)}
        if not words:
            return 0.0
        money = sum(each.cents for line in text.split("\n")[:200] for each in amounts.find_amounts(line[:200])[:3])
        title = 0.2 if _TITLES.search(text[:600]) else 0.0
        return min(1.0, 0.09 * len(words) + title + min(0.25, 0.05 * money)) * (1.0 if money else 0.3)

    def extract(self, document: Document) -> Extraction:
        """Find the fields: those of the XML where there is one, each compared with the print, then what is printed.

        What is nowhere is left out; printed amounts are chosen so that they add up.
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
        checks = found.checks if found.fields else {**printed.checks, **found.checks}
        return Extraction(self.name, {**printed.fields, **found.fields}, checks, found.messages)

    def _printed(self, document: Document) -> Extraction:
        sheet = _sheet(document)
        found = dict(_fields(sheet)) if sheet.rows else {}
        if receipts.is_receipt(sheet.rows):
            found = _of_a_receipt(sheet, found)
        checks = _checks(found)
        if checks.get("net_plus_tax_is_gross"):
            witnesses = _witnesses(sheet, found)
            found = found | (_witnessed(found) if witnesses else {})
            checks |= witnesses
        return Extraction(self.name, {name: (field,) for name, field in found.items()}, checks)


def _sheet(document: Document) -> _Sheet:
    printed = rows(document)
    texts = [row.text for row in printed]
    return _Sheet(printed, dates.day_first(texts), amounts.decimal_comma(texts))


def _fields(sheet: _Sheet) -> Iterator[tuple[str, Field]]:
    yield from _number(sheet)
    yield from _dates(sheet)
    buyer = names.find_buyer(sheet.rows)
    for name, party in (("buyer_name", buyer), ("seller_name", names.find_seller(sheet.rows, buyer))):
        if party:
            yield name, _field(squeeze(party.value), party.row, party.method, party.confidence)
    money = totals.choose(totals.read(sheet.rows, comma=sheet.comma))
    for kind, each in money.items():
        yield kind.value, _field(amounts.plain(each.value), each.row, each.method, each.confidence)
    yield from _currency(sheet)
    yield from _identifiers(sheet)


def _of_a_receipt(sheet: _Sheet, found: dict[str, Field]) -> dict[str, Field]:
    """What a till prints, over what the rules for invoices found; sums that do not make the total are left out."""
    choices = {
        "seller_name": receipts.merchant(sheet.rows),
        "seller_address": receipts.address(sheet.rows),
        "issue_date": receipts.issued(sheet.rows, day_first=sheet.day_first),
        "total_gross": receipts.total(sheet.rows, comma=sheet.comma),
    }
    taken = {
        name: _field(choice.value, choice.row, "ranker", choice.confidence)
        for name, choice in choices.items()
        if choice is not None and choice.confidence >= LEAST_SHARE
    }
    gross, before = taken.get("total_gross"), found.get("total_gross")
    unlike = gross is not None and (before is None or before.value != gross.value)
    left_out = {"buyer_name", "due_date", "amount_due"} | ({"total_net", "total_tax"} if unlike else set())
    return {name: field for name, field in found.items() if name not in left_out | choices.keys()} | taken


def _field(value: str, row: Row, method: str, confidence: float) -> Field:
    return Field(value, row.page, squeeze(row.text), method, round(confidence, 2))


def _checks(found: dict[str, Field]) -> dict[str, bool]:
    parts = [found.get(name) for name in SUM]
    net, tax, gross = (Decimal(part.value) if part else None for part in parts)
    if net is None or tax is None or gross is None:
        return {}
    return {"net_plus_tax_is_gross": abs(net + tax - gross) < totals.CENT}


def _witnesses(sheet: _Sheet, found: dict[str, Field]) -> dict[str, bool]:
    """What else makes the totals: the items, and the rows of taxes. What does not may be misread, and is no check."""
    net, tax, gross = (Decimal(found[name].value) for name in SUM)
    listing = items.find_items(sheet.rows, comma=sheet.comma)
    rates = taxes.find_taxes(sheet.rows, comma=sheet.comma, listed=[item.row for item in listing.items])
    made = {"items_add_up": listing.adds_up(net, gross), "taxes_add_up": taxes.add_up(rates, net, tax)}
    return {name: True for name, passed in made.items() if passed}


def _witnessed(found: dict[str, Field]) -> dict[str, Field]:
    """The totals, as sure as two independent sums make them."""
    return {name: replace(found[name], confidence=max(found[name].confidence, 0.98)) for name in SUM}


def _number(sheet: _Sheet) -> Iterator[tuple[str, Field]]:
    found = numbers.find_number(sheet.rows)
    if found:
        yield "invoice_number", _field(found.value, found.row, "label", found.confidence)


def _dates(sheet: _Sheet) -> Iterator[tuple[str, Field]]:
    best: dict[str, tuple[float, str, Row]] = {}
    for place, row in enumerate(sheet.rows):
        found = dates.find_dates(row.folded, day_first=sheet.day_first)
        for label in row.labels:
            for name, trust, value, where in _dated(sheet, place, label, found):
                if name not in best or trust > best[name][0]:
                    best[name] = (trust, value, where)
    for name, (trust, value, row) in best.items():
        yield name, _field(value, row, "label", trust)
    if "issue_date" not in best:
        yield from _letter_date(sheet)


def _letter_date(sheet: _Sheet) -> Iterator[tuple[str, Field]]:
    """The date of the letterhead, as in "Berlin, 1.2.2024": alone in its row's last cell, among the first rows."""
    for row in sheet.rows[:LETTERHEAD_ROWS]:
        cell = row.cells[-1]
        found = dates.find_dates(fold(cell.text), day_first=sheet.day_first)
        if len(found) == 1 and len(cell.text) - found[0].end < 3 and found[0].start < 30 and not row.labels:
            yield "issue_date", _field(found[0].value, row, "pattern", 0.5)
            return


def _dated(
    sheet: _Sheet, place: int, label: Label, found: Sequence[dates.FoundDate]
) -> Iterator[tuple[str, float, str, Row]]:
    """The date that a label announces, right of it or under it."""
    row = sheet.rows[place]
    if label.kind not in _DATE_LABELS:
        return
    name, trust = _DATE_LABELS[label.kind]
    right = next((date for date in found if date.start >= label.end), None)
    if right and _reaches(row, label, right, loose=label.kind in (Kind.NUMBER, Kind.TITLE)):
        yield name, trust - (0.0 if right.certain else 0.1), right.value, row
    elif label.kind in (Kind.ISSUED, Kind.DUE, Kind.DATE):
        under = _date_below(sheet, place, label)
        if under:
            yield name, trust - 0.1, *under


def _date_below(sheet: _Sheet, place: int, label: Label) -> tuple[str, Row] | None:
    for under in sheet.rows[place + 1 : place + 3]:
        cell = under.under(label) if under.page == sheet.rows[place].page else None
        inside = dates.find_dates(fold(cell.text), day_first=sheet.day_first) if cell else []
        if cell and inside and inside[0].end - inside[0].start >= len(cell.text) - 4:
            return inside[0].value, under
    return None


_DATE_LABELS = {
    Kind.ISSUED: ("issue_date", 0.93),
    Kind.NUMBER: ("issue_date", 0.75),
    Kind.TITLE: ("issue_date", 0.65),
    Kind.DATE: ("issue_date", 0.7),
    Kind.DUE: ("due_date", 0.93),
    Kind.PAYABLE: ("due_date", 0.8),
}


def _reaches(row: Row, label: Label, date: dates.FoundDate, *, loose: bool) -> bool:
    """Whether a date right of a label is the label's: no other label and no words between, unless "of" joins them."""
    between = row.folded[label.end : date.start]
    if any(label.end <= each.start < date.start and each.kind is not Kind.DATE for each in row.labels):
        return False
    if loose:
        return _PRINTED_DATE.fullmatch(between) is not None
    if label.kind is Kind.PAYABLE:
        return (
            re.fullmatch(r" {1,3}(?:on|by|before|am|bis|zum|le|avant le|op|voor|el|il|entro il)? {0,3}", between)
            is not None
        )
    return (
        re.fullmatch(r"[^a-z0-9]{0,120}(?:(?:the|on|am|le|el|il|op|is|by|zum|den|dem)\b[ :.]{1,3})?", between)
        is not None
    )


def _currency(sheet: _Sheet) -> Iterator[tuple[str, Field]]:
    found = amounts.currency(row.text for row in sheet.rows)
    if found is None:
        return
    code, votes, total = found
    for row in sheet.rows:
        here = amounts.currency((row.text,))
        if here and here[0] == code:
            yield "currency", _field(code, row, "pattern", min(0.97, 0.5 + 0.47 * votes / total))
            return


def _identifiers(sheet: _Sheet) -> Iterator[tuple[str, Field]]:
    for row in sheet.rows:
        ibans = identifiers.find_ibans(row.text)
        if ibans:
            yield "iban", _field(ibans[0].value, row, "pattern", 0.95)
            break
    own = _tax_numbers(sheet)
    if own:
        value, row, trust = max(own, key=lambda each: each[2])
        yield "seller_vat_id", _field(value, row, "label", trust)


def _tax_numbers(sheet: _Sheet) -> list[tuple[str, Row, float]]:
    """The labelled VAT numbers that are not the buyer's, in order; more trusted beside other facts of a letterhead."""
    blocks = _buyer_columns(sheet)
    foreign: set[str] = set()
    own: list[tuple[str, Row, float]] = []
    for place, row in enumerate(sheet.rows):
        for vat in identifiers.find_vat_ids(row.text):
            before = row.folded[max(0, vat.start - 60) : vat.start]
            if _BUYERS_OWN.search(before) or _inside(blocks, place, row, vat.start):
                foreign.add(vat.value)
            elif _TAX_WORD.search(before):
                near = " ".join(each.folded for each in sheet.rows[max(0, place - 2) : place + 3])
                own.append((vat.value, row, 0.93 if _REGISTERED.search(near) else 0.85))
    return [each for each in own if each[0] not in foreign]


def _inside(blocks: Sequence[tuple[range, int, int]], place: int, row: Row, column: int) -> bool:
    """Whether a column of a row belongs to a block of the buyer; a label of the seller in the row ends that."""
    if any(label.kind is Kind.SELLER for label in row.labels):
        return False
    return any(place in block and start - 3 <= column <= end for block, start, end in blocks)


def _buyer_columns(sheet: _Sheet) -> list[tuple[range, int, int]]:
    """The places under labels of the buyer, to keep the buyer's tax number out: rows and columns."""
    return [
        (range(place, place + 9), label.start, label.end + 30)
        for place, row in enumerate(sheet.rows)
        for label in row.labels
        if label.kind is Kind.BUYER
    ]


handler: Handler = InvoiceHandler()

"""How much a document looks like an invoice: its words, and whether amounts stand there."""

from __future__ import annotations

import re

from pipeline.documents.text import Document
from pipeline.reading.amounts import find_amounts
from pipeline.reading.rows import fold

PAGES = 3
CHARACTERS = 12_000
_WORDS = re.compile(
    r"\b(?:invoice|rechnung(?:s\w{2,12})?|facture|factuur(?:\w{2,8})?|factura|fattura|receipt|credit note|gutschrift"
    r"|avoir"
    r"|bill to|vat|mwst|ust|tva|btw|iva|total|totaal|totale|gesamt\w{0,8}|subtotal|amount due|balance due|zahlbar"
    r"|due date"
    r"|net a payer|iban|qty|quantity|menge|unit price|einzelpreis|prix unitaire|tax)\b"
)
_TITLES = re.compile(r"\b(?:invoice|rechnung|facture|factuur|factura|fattura|receipt|credit note|gutschrift|avoir)\b")


def likeness(document: Document) -> float:
    """From 0 to 1: how many different words of invoices the first pages have, and whether amounts stand there."""
    text = fold("\n".join(page.text for page in document.pages[:PAGES])[:CHARACTERS])
    words = {match[0] for match in _WORDS.finditer(text)}
    if not words:
        return 0.0
    money = sum(each.cents for line in text.split("\n")[:200] for each in find_amounts(line[:200])[:3])
    title = 0.2 if _TITLES.search(text[:600]) else 0.0
    return min(1.0, 0.09 * len(words) + title + min(0.25, 0.05 * money)) * (1.0 if money else 0.3)

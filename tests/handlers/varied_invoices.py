"""Invented invoices as text, in every combination of letterhead, facts and totals, in eight countries' habits.

What a combination says is drawn from a seed; how it is laid out is the combination.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import product

from pipeline.documents.text import Document
from tests.handlers.pages import document

COUNTRIES = ("gb", "us", "de", "ch", "fr", "nl", "es", "it")
HEADS = ("left", "right", "two columns", "footer", "labels")
FACTS = ("beside", "under", "grid", "title")
SUMS = ("right", "headings", "beside taxes", "deposit", "inclusive", "no tax")
COMBINATIONS = tuple(product(HEADS, FACTS, SUMS))
WIDTH = 100

# title, number, date, due, from, to, description, quantity, price, amount, net, tax, gross, deposit, left to pay
_WORDS = {
    "gb": "Invoice|Invoice no|Invoice date|Due date|From|Bill to|Description|Qty|Unit price|Amount"
    "|Subtotal|VAT|Total|Deposit paid|Balance due",
    "de": "Rechnung|Rechnungsnummer|Rechnungsdatum|Fällig am|Verkäufer|Rechnungsempfänger|Bezeichnung|Menge|Einzelpreis"
    "|Betrag|Nettobetrag|MwSt.|Gesamtbetrag|Anzahlung|Restbetrag",
    "fr": "Facture|N° de facture|Date de facture|Échéance|Vendeur|Facturé à|Désignation|Quantité|Prix unitaire"
    "|Montant HT|Total HT|TVA|Total TTC|Acompte|Net à payer",
    "nl": "Factuur|Factuurnummer|Factuurdatum|Vervaldatum|Verkoper|Factuur aan|Omschrijving|Aantal|Prijs|Bedrag"
    "|Subtotaal|BTW|Totaal incl. BTW|Aanbetaling|Nog te betalen",
    "es": "Factura|Número de factura|Fecha de factura|Vencimiento|Vendedor|Facturar a|Descripción|Cantidad|Precio"
    "|Importe|Base imponible|IVA|Total factura|Anticipo|A pagar",
    "it": "Fattura|Numero fattura|Data fattura|Scadenza|Venditore|Cliente|Descrizione|Quantità|Prezzo|Importo"
    "|Imponibile|IVA|Totale fattura|Acconto|Da pagare",
}
_WORDS |= {"us": _WORDS["gb"].replace("|VAT|", "|Sales tax|"), "ch": _WORDS["de"]}
_CURRENCIES = {"gb": "GBP", "us": "USD", "ch": "CHF"}
_RATES = {"gb": "20", "us": "8.25", "de": "19", "ch": "8.1", "fr": "20", "nl": "21", "es": "21", "it": "22"}
_TOWNS = {
    "gb": "Leeds LS1 4DY",
    "us": "Reno, NV 89501",
    "de": "50667 Köln",
    "ch": "8001 Zürich",
    "fr": "69003 Lyon",
    "nl": "3511 AB Utrecht",
    "es": "28013 Madrid",
    "it": "20121 Milano MI",
}
_SELLERS = ("Kestrel Joinery Ltd", "Glasbläserei Moor AG", "Ateliers Verdon SARL", "Officine Falco S.r.l.")
_BUYERS = ("Lime Tree Pottery", "De Witte Zwaan B.V.", "Hornos del Norte S.L.", "Tidewater Rope LLC")
_GOODS = ("Oak panel", "Brass hinge", "Site survey", "Cable drum")


@dataclass
class Varied:
    """An invoice that is being written: its true fields, and its lines so far."""

    country: str
    chance: random.Random
    fields: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def word(self, place: int) -> str:
        """One of the country's words, by its place in the list."""
        return _WORDS[self.country].split("|")[place]

    def money(self, value: Decimal) -> str:
        """An amount as the country prints it, with its currency."""
        plain = f"{value:,.2f}"
        if self.country == "us":
            return f"${plain}"
        if self.country == "gb":
            return f"£{plain}"
        if self.country == "ch":
            return "CHF " + plain.replace(",", "'")
        groups = " " if self.country == "fr" else "."
        return plain.replace(",", "_").replace(".", ",").replace("_", groups) + " €"

    def day(self, iso: str) -> str:
        """A date as the country prints it."""
        year, month, day = iso.split("-")
        if self.country == "us":
            return f"{month}/{day}/{year}"
        mark = "." if self.country in ("de", "ch") else "/"
        return mark.join((day, month, year))

    def put(self, *cells: tuple[int, str]) -> None:
        """A row of cells at columns."""
        row = ""
        for column, text in cells:
            row = row.ljust(max(column, len(row) + 2 if row else column)) + text
        self.lines.append(row)


def varied(country: str, head: str, facts: str, sums: str, seed: int) -> tuple[Document, dict[str, str]]:
    """An invoice of that combination, and its true fields; the same arguments give the same one."""
    chance = random.Random(f"{country} {head} {facts} {sums} {seed}")  # noqa: S311 - a picture, no secret
    made = Varied(country, chance)
    made.fields |= {
        "seller_name": chance.choice(_SELLERS),
        "buyer_name": chance.choice(_BUYERS),
        "invoice_number": f"R-{chance.randint(10000, 99999)}",
        "issue_date": f"2024-{chance.randint(1, 9):02}-{chance.randint(13, 28)}",
        "due_date": f"2024-{chance.randint(10, 12)}-{chance.randint(13, 28)}",
        "currency": _CURRENCIES.get(country, "EUR"),
    }
    _parties(made, head)
    _facts(made, facts)
    net = _items(made)
    _sums(made, sums, net)
    if head == "footer":
        made.put()
        for line in _address(made, "seller_name", 4):
            made.put((0, line))
    return document("\n".join(made.lines)), made.fields


def _address(made: Varied, name: str, number: int) -> tuple[str, str, str]:
    return made.fields[name], f"{number} Mill Lane", _TOWNS[made.country]


def _parties(made: Varied, head: str) -> None:
    seller, buyer = _address(made, "seller_name", 4), _address(made, "buyer_name", 31)
    if head == "labels":
        made.put((0, made.word(4) + ":"), (50, made.word(5) + ":"))
        for left, right in zip(seller, buyer, strict=True):
            made.put((0, left), (50, right))
        return
    if head == "two columns":
        made.put((0, seller[0]), (60, seller[1]))
        made.put((60, seller[2]))
    for line in seller if head in ("left", "right") else ():
        made.put((0 if head == "left" else 60, line))
    made.put()
    for line in buyer:
        made.put((0, line))


def _facts(made: Varied, facts: str) -> None:
    labels = [made.word(place) for place in (1, 2, 3)]
    values = [made.fields["invoice_number"], *(made.day(made.fields[name]) for name in ("issue_date", "due_date"))]
    made.put()
    if facts == "title":
        made.put((0, f"{made.word(0)} {values[0]}"))
        labels, values = labels[1:], values[1:]
    else:
        made.put((0, made.word(0)))
    if facts == "grid":
        made.put(*zip((0, 25, 50), labels, strict=True))
        made.put(*zip((0, 25, 50), values, strict=True))
        return
    for label, value in zip(labels, values, strict=True):
        made.put((0, label + ":"), *([(25, value)] if facts != "under" else []))
        if facts == "under":
            made.put((0, value))


def _items(made: Varied) -> Decimal:
    made.put()
    made.put(*zip((0, 40, 55, 80), (made.word(place) for place in (6, 7, 8, 9)), strict=True))
    net = Decimal(0)
    for good in made.chance.sample(_GOODS, made.chance.randint(2, 4)):
        quantity, price = made.chance.randint(2, 12), Decimal(made.chance.randint(250, 99999)) / 100
        net += quantity * price
        made.put((0, good), (40, str(quantity)), (55, made.money(price)), (80, made.money(quantity * price)))
    made.put()
    return net


def _sums(made: Varied, sums: str, net: Decimal) -> None:
    rate = _RATES[made.country]
    tax = Decimal(0) if sums == "no tax" else (net * Decimal(rate) / 100).quantize(Decimal("0.01"))
    totals = {"total_net": net, "total_tax": tax, "total_gross": net + tax, "amount_due": net + tax}
    rows = [(made.word(10), net), (f"{made.word(11)} {rate}%", tax), (made.word(12), net + tax)]
    if sums == "no tax":
        rows, totals = [rows[2]], {"total_gross": net, "amount_due": net}
    elif sums == "inclusive":
        rows, totals = [rows[2], rows[1]], {name: totals[name] for name in ("total_tax", "total_gross", "amount_due")}
    elif sums == "deposit":
        paid = (net / 4).quantize(Decimal("0.01"))
        rows += [(made.word(13), paid), (made.word(14), net + tax - paid)]
        totals |= {"prepaid": paid, "amount_due": net + tax - paid}
    made.fields |= {name: f"{value:.2f}" for name, value in totals.items()}
    _draw(made, sums, rows, (f"{rate} %", made.money(net), made.money(tax)))


def _draw(made: Varied, sums: str, rows: Sequence[tuple[str, Decimal]], taxes: Sequence[str]) -> None:
    if sums == "headings":
        made.put(*((25 * place, label) for place, (label, _) in enumerate(rows)))
        made.put(*((25 * place, made.money(value)) for place, (_, value) in enumerate(rows)))
        return
    beside = [(made.word(11), made.word(10), made.word(11)), tuple(taxes)] if sums == "beside taxes" else []
    for place, (label, value) in enumerate(rows):
        table = zip((0, 14, 32), beside[place], strict=True) if place < len(beside) else ()
        made.put(*table, (55, label), (80, made.money(value)))

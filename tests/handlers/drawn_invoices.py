"""Invented invoices in many layouts, drawn as PDF and read back as the product reads them, each with its true fields.

A layout is where the parties stand and how the list is set; companies, words, dates and figures come from a seed, so no
layout can be learned by heart from its text.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from pipeline.config import LimitSettings
from pipeline.documents.contract import Means
from pipeline.documents.formats.pdf import format as pdf_format
from pipeline.documents.text import Document

LAYOUTS = ("window", "comma line", "one edge", "bill to", "sides", "labelled")
_WORDS = {
    "en": (
        ("Invoice", "Invoice no", "Invoice date", "Due date", "Bill to"),
        ("Description", "Qty", "Unit price", "VAT", "Amount"),
        ("Subtotal", "VAT total", "Grand total", "VAT No"),
    ),
    "de": (
        ("Rechnung", "Rechnungsnummer", "Rechnungsdatum", "Fällig am", "Rechnung an"),
        ("Bezeichnung", "Menge", "Einzelpreis", "MwSt.", "Betrag"),
        ("Nettobetrag", "MwSt. gesamt", "Gesamtbetrag", "USt-IdNr."),
    ),
    "fr": (
        ("Facture", "Facture n°", "Date de facture", "Date d'échéance", "Facturé à"),
        ("Désignation", "Quantité", "Prix unitaire", "TVA", "Montant"),
        ("Total HT", "Total TVA", "Total TTC", "N° TVA"),
    ),
    "nl": (
        ("Factuur", "Factuurnummer", "Factuurdatum", "Vervaldatum", "Factuur aan"),
        ("Omschrijving", "Aantal", "Prijs", "BTW", "Bedrag"),
        ("Totaal excl. BTW", "Totaal BTW", "Totaal incl. BTW", "BTW-nummer"),
    ),
    "es": (
        ("Factura", "Número de factura", "Fecha de factura", "Fecha de vencimiento", "Facturar a"),
        ("Descripción", "Cantidad", "Precio", "IVA", "Importe"),
        ("Base imponible", "Total IVA", "Total factura", "NIF IVA"),
    ),
    "it": (
        ("Fattura", "Numero fattura", "Data fattura", "Scadenza", "Fatturare a"),
        ("Descrizione", "Quantità", "Prezzo", "IVA", "Importo"),
        ("Imponibile", "Totale IVA", "Totale fattura", "Partita IVA"),
    ),
}
_COMPANIES = (
    "Kestrel Joinery Ltd",
    "Bäckerei Lindgrün GmbH",
    "Ateliers Verdon SARL",
    "De Witte Zwaan B.V.",
    "Hornos del Norte S.L.",
    "Officine Falco S.r.l.",
    "Tidewater Rope LLC",
    "Glasbläserei Moor AG",
)
_STREETS = ("Mill Lane", "Quay Street", "Rosenweg", "Kirchgasse", "Hafenstraße")
_TOWNS = ("70173 Stuttgart", "20095 Hamburg", "69002 Lyon", "50123 Firenze", "41001 Sevilla")
_GOODS = ("Oak panel", "Brass hinge", "Site survey", "Cable drum", "Pump seal", "Steel bracket")


@dataclass(frozen=True, slots=True)
class Drawn:
    """What an invoice says, to compare with what was read."""

    document: Document
    fields: dict[str, str]
    items: tuple[tuple[str, Decimal, Decimal, Decimal], ...]  # description, quantity, price, amount
    taxes: tuple[tuple[Decimal, Decimal, Decimal], ...]  # rate, base, tax


def drawn(layout: str, language: str, seed: int) -> Drawn:
    """An invoice of that layout and language; the same arguments give the same one."""
    chance = random.Random(f"{layout} {language} {seed}")  # noqa: S311 - a picture, no secret
    seller, buyer = chance.sample(_COMPANIES, 2)
    items = tuple(_item(chance, good) for good in chance.sample(_GOODS, chance.randint(1, 5)))
    rates = [Decimal(chance.choice((7, 20))) for _ in items]
    taxes = tuple(_taxes(items, rates))
    net, tax = sum(base for _, base, _ in taxes), sum(tax for _, _, tax in taxes)
    day, month = chance.randint(1, 28), chance.randint(1, 9)
    fields = {
        "invoice_number": f"R-{chance.randint(10000, 99999)}",
        "issue_date": f"2024-{month:02}-{day:02}",
        "due_date": f"2024-{month + 1:02}-{day:02}",
        "seller_name": seller,
        "buyer_name": buyer,
        "total_net": f"{net:.2f}",
        "total_tax": f"{tax:.2f}",
        "total_gross": f"{net + tax:.2f}",
        "currency": "EUR",
    }
    paper = _Paper(layout, language, chance, fields)
    paper.draw(items, rates, taxes)
    return Drawn(_read(paper.content()), fields, items, taxes)


def _item(chance: random.Random, good: str) -> tuple[str, Decimal, Decimal, Decimal]:
    quantity, price = Decimal(chance.randint(1, 12)), Decimal(chance.randint(250, 99999)) / 100
    return good, quantity, price, quantity * price


def _taxes(
    items: tuple[tuple[str, Decimal, Decimal, Decimal], ...], rates: list[Decimal]
) -> Iterator[tuple[Decimal, Decimal, Decimal]]:
    for rate in sorted(set(rates)):
        base = sum((item[3] for item, each in zip(items, rates, strict=True) if each == rate), Decimal(0))
        yield rate, base, (base * rate / 100).quantize(Decimal("0.01"))


def _read(content: bytes) -> Document:
    with pdf_format.open(io.BytesIO(content), Means(limits=LimitSettings())) as opened:
        pages = tuple(opened.read_page(number).storable() for number in range(1, opened.page_count + 1))
    return Document("drawn.pdf", "application/pdf", pages)


class _Paper:
    """The sheet that is drawn on, with the words of its language."""

    def __init__(self, layout: str, language: str, chance: random.Random, fields: dict[str, str]) -> None:
        self._layout, self._language, self._chance, self._fields = layout, language, chance, fields
        self._head, self._columns, self._sums = _WORDS[language]
        self._buffer = io.BytesIO()
        self._canvas = Canvas(self._buffer, pagesize=A4)
        self._canvas.setFont("Helvetica", 9.5)
        self._street, self._town = chance.choice(_STREETS), chance.choice(_TOWNS)

    def content(self) -> bytes:
        """The finished file."""
        self._canvas.save()
        return self._buffer.getvalue()

    def draw(
        self,
        items: tuple[tuple[str, Decimal, Decimal, Decimal], ...],
        rates: list[Decimal],
        taxes: tuple[tuple[Decimal, Decimal, Decimal], ...],
    ) -> None:
        """Everything, from the letterhead to the foot."""
        self._parties()
        y = self._facts(600.0)
        y = self._list(items, rates, y - 30)
        y = self._tax_table(taxes, y - 20)
        for word, name in zip(self._sums, ("total_net", "total_tax", "total_gross"), strict=False):
            self._text(330, y, word)
            self._money(540, y, Decimal(self._fields[name]))
            y -= 15
        self._text(60, 60, f"{self._fields['seller_name']}   {self._sums[3]}: DE136695976")

    def _parties(self) -> None:
        seller = [self._fields["seller_name"], f"{self._street} {self._chance.randint(1, 90)}", self._town]
        buyer = [self._fields["buyer_name"], f"{self._chance.choice(_STREETS)} 4", self._chance.choice(_TOWNS)]
        if self._layout == "window":
            self._text(60, 730, " · ".join(seller))
            self._block(60, 712, buyer)
        elif self._layout == "comma line":
            self._text(60, 730, ", ".join(seller))
            self._block(60, 712, buyer)
        elif self._layout == "one edge":
            self._block(60, 800, seller)
            self._text(60, 740, ", ".join(seller))
            self._block(60, 720, buyer)
        elif self._layout == "bill to":
            self._block(60, 800, seller)
            self._block(60, 720, [self._head[4] + ":", *buyer])
        elif self._layout == "sides":
            self._block(360, 800, seller)
            self._block(60, 720, [self._head[4] + ":", *buyer])
        else:
            self._text(60, 800, seller[0])
            self._text(60, 740, f"{self._head[4]}: {buyer[0]}")

    def _facts(self, y: float) -> float:
        self._text(60, y + 22, self._head[0])
        values = (
            self._fields["invoice_number"],
            *(self._day(self._fields[name]) for name in ("issue_date", "due_date")),
        )
        if self._chance.random() < 0.5:
            for place, (word, value) in enumerate(zip(self._head[1:4], values, strict=True)):
                self._text(60 + 150 * place, y, word)
                self._text(60 + 150 * place, y - 13, value)
            return y - 13
        for word, value in zip(self._head[1:4], values, strict=True):
            self._text(60, y, word + ":")
            self._text(200, y, value)
            y -= 13
        return y

    def _list(self, items: tuple[tuple[str, Decimal, Decimal, Decimal], ...], rates: list[Decimal], y: float) -> float:
        for x, word in zip((60, 300, 390, 440), (self._columns[0], *self._columns[1:4]), strict=True):
            self._text(x, y, word)
        self._right(540, y, self._columns[4])
        for (good, quantity, price, amount), rate in zip(items, rates, strict=True):
            y -= 14
            self._text(60, y, good)
            self._right(320, y, f"{quantity:f}")
            self._money(425, y, price)
            self._text(445, y, f"{rate:f} %")
            self._money(540, y, amount)
        return y

    def _tax_table(self, taxes: tuple[tuple[Decimal, Decimal, Decimal], ...], y: float) -> float:
        for rate, base, tax in taxes:
            self._text(60, y, f"{self._columns[3]} {rate:f} %")
            self._money(180, y, base)
            self._money(250, y, tax)
            y -= 14
        return y - 10

    def _day(self, iso: str) -> str:
        year, month, day = iso.split("-")
        return f"{day}/{month}/{year}" if self._language in ("en", "fr", "es", "it") else f"{day}.{month}.{year}"

    def _money(self, x: float, y: float, value: Decimal) -> None:
        printed = f"{value:,.2f}"
        if self._language != "en":
            printed = printed.replace(",", " ").replace(".", ",").replace(" ", ".")
        self._right(x, y, f"{printed} €")

    def _block(self, x: float, y: float, lines: list[str]) -> None:
        for place, line in enumerate(lines):
            self._text(x, y - 13 * place, line)

    def _text(self, x: float, y: float, text: str) -> None:
        self._canvas.drawString(x, y, text)

    def _right(self, x: float, y: float, text: str) -> None:
        self._canvas.drawRightString(x, y, text)

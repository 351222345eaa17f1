"""Invoices of invented issuers, each with words and places of its own, drawn as PDF and read as the product reads it.

Every issuer draws its layout once: how it calls each field, often by a word that no lexicon has, where the facts and
the totals stand, and which other numbers and dates stand near them. Its invoices differ in everything else.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from bench.fields import Sample
from pipeline.config import LimitSettings
from pipeline.documents.contract import Means
from pipeline.documents.formats.pdf import format as pdf_format
from pipeline.documents.text import Document

INVOICES = 3  # of each issuer
_WORDS: Mapping[str, tuple[str, ...]] = {
    "title": ("Statement of charges", "Abrechnung", "Rechnung", "Invoice", "Note", "Facture", "Honorarnote", "Fattura"),
    "invoice_number": ("Voucher", "Vorgang", "Belegkennung", "Our sign", "Pièce", "Doc ref", "Invoice no.", "Dok.-Nr"),
    "issue_date": ("Made out", "Stichtag", "Ort/Tag", "As of", "Établi", "Day", "Rechnungsdatum", "Emesso"),
    "due_date": ("Settle until", "Ultimo", "Wir erwarten Ihr Geld am", "Funds at", "Échu", "Due date", "Termine"),
    "buyer_name": ("Attention", "Für", "Abonnent", "Ordered from us by", "Bill to", "Pour", "Spett.le"),
    "total_net": ("Goods", "Warenwert", "Leistung", "Before levy", "Hors T.", "Net total", "Merce"),
    "total_tax": ("Levy", "Abgabe", "Steueranteil", "State takes", "Taxe d'État", "VAT", "Quota"),
    "total_gross": ("You owe", "Endsumme", "Alles zusammen", "Comes to", "Somme", "Total", "Saldo fattura"),
}
# Stand near, and are none of the fields.
_OTHERS = (
    "Order",
    "Auftrag",
    "Customer",
    "Kunde",
    "Contract",
    "Delivery",
    "Lieferung",
    "Commande",
    "Shipped",
    "Cliente",
)
_NAMES = ("Alder", "Brook", "Cedar", "Dorn", "Esche", "Falke", "Ginster", "Hazel", "Iris", "Jasper", "Kiefer", "Linde")
_TRADES = (
    "Metallbau GmbH",
    "Supplies Ltd",
    "Services SARL",
    "Logistik AG",
    "Studio B.V.",
    "Trading Ltd",
    "Servizi S.r.l.",
)
_CUSTOMERS = ("Osprey Museum Trust", "Stadtwerke Grünfeld GmbH", "Moulin Neuf SAS", "Pine Hospital", "Hof Birkenau KG")
_GOODS = (
    "Oak panel",
    "Brass hinge",
    "Site survey",
    "Cable drum",
    "Pump seal",
    "Steel bracket",
    "Night shift",
    "Filter",
)


@dataclass(frozen=True, slots=True)
class _Style:
    """What an issuer never changes."""

    seller: str
    vat_id: str
    iban: str
    words: Mapping[str, str]
    facts: str  # pairs, table, sentence
    facts_at: tuple[float, float]
    others: tuple[str, str, str]  # a number and a date that are nobody's, and whether they come first
    totals: str  # pairs, table, row
    letterhead: str  # top, foot, none: a logo
    prefix: str
    digits: int
    comma: bool
    buyers: tuple[str, ...]


def drawn(seeds: int) -> Iterator[Sample]:
    """The invoices of so many issuers; always the same ones."""
    for seed in range(seeds):
        chance = random.Random(f"issuer {seed}")  # noqa: S311 - a picture, no secret
        style = _style(chance, seed)
        for number in range(INVOICES):
            yield _sample(style, chance, f"{seed:03}-{number}.pdf")


def _style(chance: random.Random, seed: int) -> _Style:
    return _Style(
        seller=f"{_NAMES[seed % 12]} & {_NAMES[seed // 12 % 12]} {chance.choice(_TRADES)}",  # no two the same
        vat_id=f"DE{chance.randint(10**8, 10**9 - 1)}" if seed % 4 else "",
        iban=_iban(chance) if seed % 4 != 1 else "",
        words={name: chance.choice(words) for name, words in _WORDS.items()},
        facts=chance.choice(("pairs", "table", "sentence")),
        facts_at=(chance.choice((60.0, 330.0)), chance.choice((640.0, 600.0, 560.0))),
        others=(chance.choice(_OTHERS), chance.choice(_OTHERS), chance.choice(("first", "last"))),
        totals=chance.choice(("pairs", "table", "row")),
        letterhead=chance.choice(("top", "foot", "none")),
        prefix=chance.choice(("", "RE-", "A/", "2024-", "F")),
        digits=chance.choice((4, 5, 7)),
        comma=chance.random() < 0.6,
        buyers=tuple(chance.sample(_CUSTOMERS, chance.choice((1, 3)))),
    )


def _iban(chance: random.Random) -> str:
    account = f"{chance.randint(10**17, 10**18 - 1)}"
    check = 98 - int(account + "131400") % 97  # DE as numbers, then 00
    return f"DE{check:02}{account}"


def _sample(style: _Style, chance: random.Random, name: str) -> Sample:
    sheet = _Sheet(style, chance)
    sheet.draw()
    with pdf_format.open(io.BytesIO(sheet.content()), Means(limits=LimitSettings())) as opened:
        pages = tuple(opened.read_page(number).storable() for number in range(1, opened.page_count + 1))
    return Sample(name, Document(name, "application/pdf", pages), sheet.gold, {}, {})


class _Sheet:
    """One invoice on paper."""

    def __init__(self, style: _Style, chance: random.Random) -> None:
        self._style, self._chance = style, chance
        self._buffer = io.BytesIO()
        self._canvas = Canvas(self._buffer, pagesize=A4)
        self._canvas.setFont("Helvetica", 9.5)
        items = [self._item() for _ in range(chance.randint(1, 9))]
        net = sum((amount for *_, amount in items), Decimal(0))
        tax = (net * chance.choice((7, 19, 20)) / 100).quantize(Decimal("0.01"))
        self._items = items
        day, month = chance.randint(1, 28), chance.randint(1, 9)
        digits = chance.randint(10 ** (style.digits - 1), 10**style.digits - 1)
        self.gold: dict[str, str | None] = {
            "invoice_number": f"{style.prefix}{digits}",
            "issue_date": f"2024-{month:02}-{day:02}",
            "due_date": f"2024-{month + 1:02}-{chance.randint(1, 28):02}",
            "seller_name": style.seller,
            "buyer_name": chance.choice(style.buyers),
            "total_net": f"{net:.2f}",
            "total_tax": f"{tax:.2f}",
            "total_gross": f"{net + tax:.2f}",
            "currency": "EUR",
        }
        self.gold |= {"seller_vat_id": style.vat_id} if style.vat_id else {}
        self.gold |= {"iban": style.iban} if style.iban else {}

    def content(self) -> bytes:
        """The finished file."""
        self._canvas.save()
        return self._buffer.getvalue()

    def draw(self) -> None:
        """Everything, from the letterhead to the foot."""
        words, style = self._style.words, self._style
        if style.letterhead == "top":
            self._text(60, 800, style.seller)
        self._text(60, 720, f"{words['buyer_name']}: {self._value('buyer_name')}")
        self._text(60, 706, f"{self._chance.choice(_NAMES)}weg {self._chance.randint(1, 99)}, 20095 Hamburg")
        self._text(60, 670, words["title"])
        self._facts(*style.facts_at)
        self._totals(self._list(500))
        foot = [style.seller] if style.letterhead == "foot" else []
        foot += [f"UID {style.vat_id}"] if style.vat_id else []
        foot += [f"Konto {' '.join(style.iban[at : at + 4] for at in range(0, 22, 4))}"] if style.iban else []
        self._text(60, 50, "   ".join(foot))

    def _facts(self, x: float, y: float) -> None:
        names = ("invoice_number", "issue_date", "due_date")
        pairs = [(self._style.words[name], self._value(name)) for name in names]
        number, day, place = self._style.others
        other = [(number, str(self._chance.randint(10000, 99999))), (day + " ", self._day("2024-03-02"))]
        pairs = [*other, *pairs] if place == "first" else [*pairs, *other]
        if self._style.facts == "sentence":
            self._text(60, y, ", ".join(f"{word} {value}" for word, value in pairs[:3]) + ".")
            self._text(60, y - 13, ", ".join(f"{word} {value}" for word, value in pairs[3:]) + ".")
        for place_, (word, value) in enumerate(pairs):
            if self._style.facts == "table":
                self._text(60 + 95 * place_, y, word[:17])
                self._text(60 + 95 * place_, y - 13, value)
            elif self._style.facts == "pairs":
                self._text(x, y - 12 * place_, word)
                self._text(x + 125, y - 12 * place_, value)

    def _list(self, y: float) -> float:
        for x, word in ((60, "What"), (300, "Units"), (420, "Each"), (510, "Sum")):
            self._text(x, y, word)
        for good, quantity, price, amount in self._items:
            y -= 14
            self._text(60, y, good)
            self._right(325, y, str(quantity))
            self._right(440, y, self._money(price))
            self._right(540, y, self._money(amount))
        return y - 30

    def _totals(self, y: float) -> None:
        names = ("total_net", "total_tax", "total_gross")
        pairs = [(self._style.words[name], self._money(Decimal(self._value(name)))) for name in names]
        for place, (word, money) in enumerate(pairs):
            if self._style.totals == "pairs":
                self._text(330, y - 15 * place, word)
                self._right(540, y - 15 * place, f"{money} EUR")
            elif self._style.totals == "table":
                self._right(220 + 160 * place, y, word)
                self._right(220 + 160 * place, y - 14, f"{money} €")
            else:
                self._text(60 + 170 * place, y, f"{word}  {money} €")

    def _item(self) -> tuple[str, int, Decimal, Decimal]:
        quantity, price = self._chance.randint(1, 12), Decimal(self._chance.randint(250, 99999)) / 100
        return self._chance.choice(_GOODS), quantity, price, quantity * price

    def _value(self, name: str) -> str:
        value = self.gold[name] or ""
        return self._day(value) if name.endswith("_date") else value

    def _day(self, iso: str) -> str:
        year, month, day = iso.split("-")
        return f"{day}.{month}.{year}" if self._style.comma else f"{day}/{month}/{year}"

    def _money(self, value: Decimal) -> str:
        printed = f"{value:,.2f}"
        return printed.translate(str.maketrans(",.", ".,")) if self._style.comma else printed

    def _text(self, x: float, y: float, text: str) -> None:
        self._canvas.drawString(x, y, text)

    def _right(self, x: float, y: float, text: str) -> None:
        self._canvas.drawRightString(x, y, text)

"""Documents to measure with: contracts of any length, invoices and scans of them, all invented, no two the same."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Iterator

import pypdfium2
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader, simpleSplit
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

LINES_A_PAGE = 46
INVOICE_ITEMS = 55  # which make two pages
_LEFT, _TOP, _LEADING, _SIZE = 62.0, 770.0, 14.6, 9.5
_WIDTH = A4[0] - 2 * _LEFT
_FULL = 0.85  # of the width; a shorter line is the last one of its paragraph
_FONT, _BOLD = "Vera", "VeraBd"  # embedded, as word processors do it; reportlab brings them along
_COLUMNS = (62.0, 330.0, 420.0, 530.0)
_ROWS_A_PAGE = 30
_SCAN_ITEMS = 12
_SCAN_DPI, _SCAN_QUALITY, _MOST_SKEW_DEGREES = 200, 80, 0.8

_WORDS = {
    "who": "the Customer|the Supplier|each party|the Receiving Party|the Contractor|a permitted assignee",
    "thing": (
        "the Services|the Deliverables|any Confidential Information|the Charges|the Premises|every purchase order"
        "|the Documentation|all records kept for the audit|the equipment on loan|the Key Personnel|the Escrow Material"
    ),
    "duty": (
        "keep and maintain|deliver|return without delay|insure at replacement value|make available on request"
        "|hold in trust|inspect with reasonable care|replace at its own expense|report on|reconcile"
    ),
    "when": (
        "within {n} business days of written notice|not later than the {n}th working day of the quarter"
        "|for as long as this Agreement is in force|on termination or expiry for whatever cause|in good time"
        "|before the next Milestone Date|as soon as is reasonably practicable|in each case without being asked"
        "|whenever the Steering Committee so resolves|once the Acceptance Tests are passed|at its own cost"
        "|in the manner that Schedule {n} describes|until the Charges are settled in full"
    ),
    "but": (
        "except as clause {n}.{m} provides otherwise|unless the other party has agreed in writing"
        "|save where applicable law requires a longer period|provided that nothing in Schedule {n} is prejudiced"
        "|and shall bear all reasonable costs of doing so|without limiting any other right or remedy it may have"
    ),
    "head": "Records|Standards|Access|Care|Reporting|Remedies|Personnel|Acceptance|Changes|Assistance|Security|Return",
}
_SENTENCES = (
    "{who} shall {duty} {thing} {when}, {but}.",
    "Where {who} fails to {duty} {thing}, the other party may suspend its own performance {when}, {but}.",
    "Nothing in this clause obliges {who} to {duty} {thing} {when}.",
    "It is a condition of this Agreement that {thing} and {thing} are dealt with {when}, {but}.",
    "{who} warrants that it is entitled to {duty} {thing}, and that it will do so {when}.",
    "A failure to {duty} {thing} that is not remedied {when} is a material breach, {but}.",
)
_OPENING = (
    (
        'This Master Services Agreement, reference {reference} (the "Agreement"), is made on {day} March 2026 between'
        ' Harlowe Freight {number} Limited, a company incorporated in England and Wales (the "Customer"), and Tessaly'
        ' Systems GmbH, a company organised under the laws of Germany (the "Supplier").'
    ),
    "The Customer moves goods by road and rail, and wishes to be supplied with software, and with people who know it.",
    (
        "This Agreement commences on 1 April 2026 and continues in force for an initial term of three (3) years. Either"
        " party may terminate it for convenience by giving at least ninety (90) days written notice."
    ),
    "This Agreement is governed by and construed in accordance with the laws of England and Wales.",
)
_THINGS = "Steel bracket|Hinge, brass|Oak panel|Cable drum|Filter cartridge|Site survey|Paint, matt white|Pump seal"


def contract(pages: int, seed: int) -> bytes:
    """A contract of running text on so many pages, justified; the same arguments give the same text.

    Its words are placed one by one, as converters write them: to read a page costs what it costs with real contracts.
    """
    _register_fonts()
    chance = random.Random(f"contract {seed}")  # noqa: S311 - prose
    lines = _lines(chance, seed)
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=A4, pageCompression=1)
    for page in range(1, pages + 1):
        _draw_prose(canvas, [next(lines) for _ in range(LINES_A_PAGE)])
        canvas.setFont(_FONT, 9)
        canvas.drawCentredString(A4[0] / 2, 40, f"Page {page} of {pages}")
        canvas.showPage()
    canvas.save()
    return content.getvalue()


def invoice(seed: int, items: int = INVOICE_ITEMS) -> bytes:
    """An invoice whose list of items runs over to a second page, unless there are fewer of them."""
    _register_fonts()
    chance = random.Random(f"invoice {seed}")  # noqa: S311 - amounts
    content = io.BytesIO()
    canvas = Canvas(content, pagesize=A4, pageCompression=1)
    top = _draw_head(canvas, seed)
    total = 0
    for place in range(items):
        if place == _ROWS_A_PAGE:
            canvas.showPage()
            top = _TOP
        quantity, cents = chance.randint(1, 40), chance.randint(90, 90_000)
        total += quantity * cents
        thing = f"{chance.choice(_THINGS.split('|'))} {chance.randint(10, 999)}"
        _draw_row(canvas, top, (thing, str(quantity), _money(cents), _money(quantity * cents)))
        top -= 16
    for label, cents in (("Net", total), ("VAT 20%", total // 5), ("Total", total + total // 5)):
        top -= 16
        _draw_row(canvas, top, ("", "", label, _money(cents)))
    canvas.save()
    return content.getvalue()


def scan(seed: int) -> bytes:
    """An invoice of one page as a scanner delivers it: a grey picture, a little askew, and no text."""
    chance = random.Random(f"scan {seed}")  # noqa: S311 - how it lay on the glass
    printed = pypdfium2.PdfDocument(invoice(seed, _SCAN_ITEMS))
    page: Image.Image = printed[0].render(scale=_SCAN_DPI / 72, grayscale=True).to_pil().convert("L")
    skew = chance.uniform(-_MOST_SKEW_DEGREES, _MOST_SKEW_DEGREES)
    picture, content = io.BytesIO(), io.BytesIO()
    page.rotate(skew, Image.Resampling.BICUBIC, fillcolor=255).save(picture, "JPEG", quality=_SCAN_QUALITY)
    canvas = Canvas(content, pagesize=A4)
    canvas.drawImage(ImageReader(picture), 0, 0, *A4)
    canvas.save()
    return content.getvalue()


def _lines(chance: random.Random, seed: int) -> Iterator[str]:
    facts = {"reference": f"MSA-2026-{seed:05}", "day": chance.randint(1, 28), "number": seed}
    yield f"# MASTER SERVICES AGREEMENT MSA-2026-{seed:05}"
    for paragraph in _OPENING:
        yield from (*simpleSplit(paragraph.format(**facts), _FONT, _SIZE, _WIDTH), "")
    article = 0
    while True:
        article += 1
        yield f"# {article}. {chance.choice(_WORDS['head'].split('|'))} and {chance.choice(_WORDS['head'].split('|'))}"
        for clause in range(1, chance.randint(5, 9)):
            sentences = " ".join(_sentence(chance) for _ in range(chance.randint(2, 5)))
            yield from simpleSplit(f"{article}.{clause} {sentences}", _FONT, _SIZE, _WIDTH)
            yield ""


def _sentence(chance: random.Random) -> str:
    def word(slot: re.Match[str]) -> str:
        return chance.choice(_WORDS[slot[1]].split("|"))

    filled = re.sub(r"\{(\w{3,})\}", word, chance.choice(_SENTENCES))
    filled = filled.format(n=chance.randint(2, 30), m=chance.randint(1, 9))
    return filled[:1].upper() + filled[1:]


def _register_fonts() -> None:
    for name in (_FONT, _BOLD):
        pdfmetrics.registerFont(TTFont(name, f"{name}.ttf"))


def _draw_prose(canvas: Canvas, lines: list[str]) -> None:
    for place, line in enumerate(lines):
        font = _BOLD if line.startswith("# ") else _FONT
        canvas.setFont(font, _SIZE)
        _draw_line(canvas, line.removeprefix("# "), _TOP - place * _LEADING, font)


def _draw_line(canvas: Canvas, line: str, top: float, font: str) -> None:
    words = line.split()
    widths = [stringWidth(word, font, _SIZE) for word in words]
    if stringWidth(line, font, _SIZE) < _FULL * _WIDTH:
        canvas.drawString(_LEFT, top, line)
        return
    gap = (_WIDTH - sum(widths)) / (len(words) - 1)
    drawn, left = canvas.beginText(), _LEFT
    for word, width in zip(words, widths, strict=True):
        drawn.setTextOrigin(left, top)
        drawn.textOut(word)
        left += width + gap
    canvas.drawText(drawn)


def _draw_head(canvas: Canvas, seed: int) -> float:
    """The letterhead and what stands above the items; returns where they begin."""
    canvas.setFont(_BOLD, 16)
    canvas.drawString(_LEFT, 790, "Brackenfold Supplies Ltd")
    canvas.setFont(_FONT, _SIZE)
    block = ("14 Quay Road, Portmere PM2 7QT", "", "Bill to: Larkhall Joinery Ltd", "3 Mill Lane, Oldcastle OC2 7BN")
    facts = (f"Invoice number: INV-2026-{seed:05}", "Invoice date: 09/03/2026", "Due date: 08/04/2026", "VAT 123456789")
    for place, (left, right) in enumerate(zip(block, facts, strict=True)):
        canvas.drawString(_LEFT, 760 - 15 * place, left)
        canvas.drawString(370, 760 - 15 * place, right)
    _draw_row(canvas, 670, ("Description", "Qty", "Unit price", "Amount"))
    return 650.0


def _draw_row(canvas: Canvas, top: float, cells: tuple[str, str, str, str]) -> None:
    canvas.setFont(_FONT, _SIZE)
    canvas.drawString(_COLUMNS[0], top, cells[0])
    for column, cell in zip(_COLUMNS[1:], cells[1:], strict=True):
        canvas.drawRightString(column, top, cell)


def _money(cents: int) -> str:
    return f"{cents / 100:,.2f}"

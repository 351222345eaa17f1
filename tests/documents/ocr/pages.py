"""Pages with known text, drawn and rendered here: what recognition gives can be compared with what is written."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import pypdfium2 as pdfium
from PIL import Image
from reportlab.lib.pagesizes import A5
from reportlab.pdfgen import canvas

DPI = 200
LETTER = (
    "Alder Freight Limited, 12 Quay Road, Bristol",
    "Invoice number AF-2026-0417 of 14 March 2026",
    "For the carriage of eleven pallets to Antwerp",
    "we charge the amount of EUR 1,284.50 net and",
    "value added tax at 21 percent: EUR 269.75.",
    "Total amount payable: EUR 1,554.25",
    "Please pay within thirty days of this date.",
)


def letter(lines: Sequence[str] = LETTER) -> Image.Image:
    """Half a page of plain lines, as a scanner at 200 dpi would see a perfect print."""

    def draw(page: canvas.Canvas) -> None:
        page.setFont("Helvetica", 12)
        for number, line in enumerate(lines):
            page.drawString(60, 500 - 24 * number, line)

    return rendered(draw)


def rendered(draw: Callable[[canvas.Canvas], None]) -> Image.Image:
    """An A5 page that `draw` fills, as an RGB image."""
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=A5)
    draw(page)
    page.save()
    document = pdfium.PdfDocument(buffer.getvalue())
    try:
        image: Image.Image = document[0].render(scale=DPI / 72).to_pil()
        return image.convert("RGB")
    finally:
        document.close()


def fallen(image: Image.Image, degrees: float) -> Image.Image:
    """The image turned clockwise by some degrees, white in the corners."""
    return image.rotate(-degrees, resample=Image.Resampling.BICUBIC, expand=True, fillcolor="white")


TABLE = (
    ("Article", "Quantity", "Price", "Amount"),
    ("Copper valve", "12", "14.50", "174.00"),
    ("Bearing, sealed", "3", "120.25", "360.75"),
    ("Plywood sheet", "40", "9.10", "364.00"),
    ("Engine oil", "6", "31.00", "186.00"),
)
LEFT = (
    "The committee met twice in March",
    "and heard the report of the depot",
    "on losses during the last winter.",
    "It found that the roof had leaked",
    "since the repair of the gutters.",
)
RIGHT = (
    "Members asked for three offers",
    "from builders of the region and",
    "will decide at the next meeting.",
    "Until then the goods are stored",
    "in the hall beside the railway.",
)


def table() -> Image.Image:
    """Four columns of cells, figures flush right."""

    def draw(page: canvas.Canvas) -> None:
        page.setFont("Helvetica", 11)
        for number, row in enumerate(TABLE):
            page.drawString(50, 500 - 20 * number, row[0])
            for right, cell in zip((220, 290, 370), row[1:], strict=True):
                page.drawRightString(right, 500 - 20 * number, cell)

    return rendered(draw)


def two_columns() -> Image.Image:
    """Running text in two columns, the lines of both at the same heights."""

    def draw(page: canvas.Canvas) -> None:
        page.setFont("Times-Roman", 11)
        for left, column in ((40, LEFT), (230, RIGHT)):
            for number, line in enumerate(column):
                page.drawString(left, 500 - 16 * number, line)

    return rendered(draw)


def in_mode(image: Image.Image, mode: str) -> Image.Image:
    """The image in another mode, deep ones with 16 bits."""
    if mode in ("I", "I;16", "F"):
        deep = image.convert("L").convert("I").point(lambda value: value * 257)
        return deep if mode == "I" else deep.convert(mode)
    return image.convert(mode)

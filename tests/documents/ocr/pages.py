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

"""PDF pages that are pictures: with stamps, recognition layers, turned, in odd boxes, beside pages of text."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import pypdfium2
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

from tests.documents.seeing import draw

A4 = (595.0, 842.0)
PROSE = (
    "The supplier delivers the goods to the address of the buyer within thirty days of the order and bears the cost",
    "of the carriage. The buyer pays the price that is named in the order, without any deduction, to the account of",
    "the supplier. If the buyer does not pay in time, the supplier may ask for interest from the day after the term.",
    "No change of this agreement is valid unless it is made in writing and signed by both of the parties to it.",
)


def sheets(*painters: Callable[[canvas.Canvas], None], size: tuple[float, float] = A4, compress: bool = False) -> bytes:
    """A PDF with a page for each painter."""
    file = io.BytesIO()
    book = canvas.Canvas(file, pagesize=size, pageCompression=int(compress), invariant=True)
    for paint in painters:
        paint(book)
        book.showPage()
    book.save()
    return file.getvalue()


def picture(text: str) -> Callable[[canvas.Canvas], None]:
    """A picture at the top of the page that shows the text to `Seeing`, and nothing else."""
    image = draw(text)
    height = image.height / image.width * A4[0]
    return lambda page: page.drawImage(ImageReader(image), 0, A4[1] - height, A4[0], height)


def shown(
    image: Image.Image, stamp: Sequence[str] = (), layer: Sequence[str] = (), size: tuple[float, float] = A4
) -> Callable[[canvas.Canvas], None]:
    """An image over the whole page, with visible lines below its middle and invisible ones from the top."""

    def paint(page: canvas.Canvas) -> None:
        page.drawImage(ImageReader(image), 0, 0, *size)
        lines(page, stamp, 60, mode=0)
        lines(page, layer, size[1] - 60, mode=3)

    return paint


def prose(count: int = 40) -> Callable[[canvas.Canvas], None]:
    """Real text, line by line."""
    return lambda page: lines(page, [PROSE[row % len(PROSE)] for row in range(count)], 780)


def lines(page: canvas.Canvas, each: Sequence[str], top: float, mode: int = 0) -> None:
    """Lines of text downwards from `top`."""
    block = page.beginText(30, top)
    block.setFont("Helvetica", 9)
    block.setTextRenderMode(mode)
    for line in each:
        block.textLine(line)
    page.drawText(block)


def printed(count: int = 40) -> Image.Image:
    """A picture of a page of prose, as a scanner sees it."""
    document = pypdfium2.PdfDocument(sheets(prose(count)))
    try:
        image: Image.Image = document[0].render(scale=100 / 72, grayscale=True).to_pil().copy()
    finally:
        document.close()
    return image

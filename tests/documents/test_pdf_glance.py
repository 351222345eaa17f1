"""A glance at some objects accepts pages full of text, and none that may hold something else."""

from __future__ import annotations

import io

import pypdfium2
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from pipeline.documents.pdf.look import look, shows_text
from pipeline.documents.pdf.page_need import Figures

LINE = "the supplier shall deliver the goods to the customer not later than on the day on which they are due "


def _drawn(*, lines: int = 40, image_after: int | None = None, invisible: bool = False, nested: bool = False) -> bytes:
    content = io.BytesIO()
    canvas = Canvas(content)
    if nested:
        canvas.beginForm("page")
    for place in range(lines):
        if place == image_after:
            canvas.drawImage(ImageReader(Image.new("L", (50, 50), 128)), 0, 0, 595, 842)
        drawn = canvas.beginText(20, 800 - 18 * place)
        drawn.setTextRenderMode(3 if invisible else 0)
        drawn.textLine(LINE)
        canvas.drawText(drawn)
    if nested:
        canvas.endForm()
        canvas.doForm("page")
    canvas.showPage()
    canvas.save()
    return content.getvalue()


def _looked(content: bytes) -> tuple[Figures, bool]:
    page = pypdfium2.PdfDocument(content)[0]
    text_page = page.get_textpage()
    return look(page, text_page, text_page.get_text_range()), shows_text(page)


def test_a_page_full_of_text_is_plain_at_a_glance() -> None:
    figures, shown = _looked(_drawn())
    assert (figures.plain, figures.image_area, figures.objects, shown) == (True, 0.0, 40, True)
    assert figures.characters > 2_000


@pytest.mark.parametrize("place", [0, 39])
def test_a_scan_below_or_above_the_text_is_seen(place: int) -> None:
    figures, shown = _looked(_drawn(image_after=place))
    assert (figures.plain, figures.image_area > 0.9, shown) == (False, True, False)


def test_a_text_that_is_not_painted_is_not_taken_for_print() -> None:
    figures, shown = _looked(_drawn(invisible=True))
    assert (figures.plain, figures.invisible, shown) == (False, 1.0, False)


def test_what_is_nested_is_looked_into() -> None:
    figures, shown = _looked(_drawn(nested=True, image_after=20))
    assert (figures.image_area > 0.9, shown) == (True, False)


def test_an_image_on_a_page_with_less_text_is_seen_wherever_it_stands() -> None:
    figures, _ = _looked(_drawn(lines=20, image_after=11))
    assert (figures.plain, figures.image_area > 0.9) == (False, True)


def test_a_blank_page_shows_no_text() -> None:
    assert not _looked(_drawn(lines=0))[1]

"""The layout of a page costs nothing where it tells nothing, and keeps rows and columns where there are any."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable

import pypdfium2
import pytest
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from pipeline.documents.pdf.layout import page_layout
from tests.documents.drawn_invoices import HEAD, STYLES, invoice, rows

CLAUSE = (
    "The parties agree that the licensor grants to the licensee a right to use the software at the places named in the"
    " schedule, that the licensee pays the fee within thirty days of the date of the invoice, and that neither of them"
    " is liable for what could not be foreseen when this agreement was signed. "
)


def _text_and_layout(content: bytes) -> tuple[str, str]:
    document = pypdfium2.PdfDocument(content)
    page = document[0].get_textpage()
    text = page.get_text_range()
    found = text, page_layout(page, text).text
    document.close()
    return found


def _drawn(draw: Callable[[Canvas], None]) -> tuple[str, str]:
    content = io.BytesIO()
    canvas = Canvas(content)
    canvas.setFont("Helvetica", 10)
    draw(canvas)
    canvas.save()
    return _text_and_layout(content.getvalue())


def _paragraphs(canvas: Canvas, top: float, count: int) -> float:
    for number in range(1, count + 1):
        canvas.drawString(60, top, f"{number}. Grant of Rights")
        for line in simpleSplit(CLAUSE * 2, "Helvetica", 10, 470):
            top -= 13
            canvas.drawString(60, top, line)
        top -= 26
    return top


@pytest.mark.parametrize("terms", [False, True])
@pytest.mark.parametrize("style", STYLES)
def test_every_row_is_one_line_of_cells_whoever_wrote_the_page(style: str, terms: bool) -> None:
    items = rows(random.Random(style), 20)  # noqa: S311
    _, layout = _text_and_layout(invoice(style, items, terms=terms))
    cells = [tuple(re.split(" {2,}", line.strip())) for line in layout.split("\n")]
    assert [row for row in cells if len(row) == 4] == [HEAD, *items]


def test_columns_stand_below_each_other() -> None:
    _, layout = _text_and_layout(invoice("columns", rows(random.Random(1), 20), terms=True))  # noqa: S311
    ends = [len(line.rstrip()) for line in layout.split("\n") if re.search(r" {2,}[\d,]+\.\d\d$", line.rstrip())]
    assert len(ends) == 20
    assert max(ends) - min(ends) <= 4


def test_a_page_of_running_text_is_its_own_layout() -> None:
    text, layout = _drawn(lambda canvas: [_paragraphs(canvas, 780, 6), canvas.drawString(290, 40, "Page 3")][0])
    assert layout is text


def test_a_line_that_no_printer_has_is_searched_in_time_of_its_length() -> None:
    document = pypdfium2.PdfDocument(invoice("columns", rows(random.Random(1), 3)))  # noqa: S311
    lines = [CLAUSE[:100]] * 20
    text = "\n".join([*lines, "1" * 1_000_000, *lines])  # in time of its square this takes an hour
    assert page_layout(document[0].get_textpage(), text).text is text
    document.close()


def test_signatures_under_running_text_stand_side_by_side() -> None:
    def draw(canvas: Canvas) -> None:
        top = _paragraphs(canvas, 780, 4)
        for left, name in ((60, "Ann Miller"), (330, "Bob Stone")):
            for place, line in enumerate(("Seller:", "By: ____________", f"Name: {name}", "Title: Director")):
                canvas.drawString(left, top - 14 * place, line)

    text, layout = _drawn(draw)
    assert "Seller: Seller:" not in " ".join(text.split())
    assert re.search(r"Name: Ann Miller {2,}Name: Bob Stone\n", layout)


def test_a_short_table_between_paragraphs_keeps_its_rows() -> None:
    def draw(canvas: Canvas) -> None:
        top = _paragraphs(canvas, 780, 3)
        for left, lines in ((60, ("First year", "Second year", "Third year")), (400, ("90.00", "95.00", "99.50"))):
            for place, line in enumerate(lines):
                canvas.drawString(left, top - 14 * place, line)
        _paragraphs(canvas, top - 60, 1)

    assert re.search(r"First year {2,}90.00\n.*Second year {2,}95.00\n.*Third year {2,}99.50\n", _drawn(draw)[1])


def test_running_text_in_a_page_with_a_table_is_not_torn() -> None:
    _, layout = _text_and_layout(invoice("cell", rows(random.Random(2), 10), terms=True))  # noqa: S311
    assert "The goods stay ours until they are paid for in full. Complaints are to be made" in layout


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_words_that_run_another_way_are_read_along_their_way(angle: int) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "An upright label of some length")
        canvas.translate(300, 400)
        canvas.rotate(angle)
        canvas.drawString(0, 0, "CONFIDENTIAL COPY")

    assert _drawn(draw)[1].split("\n") == ["An upright label of some length", "CONFIDENTIAL COPY"]


def test_a_column_of_single_letters_that_are_turned_reads_on() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(200, 700, "An upright label of some length")
        canvas.translate(40, 300)
        canvas.rotate(90)
        for place, sign in enumerate("X Y Z"):
            canvas.drawString(6 * place, 0, sign)

    assert _drawn(draw)[1].split("\n")[-1] == "X Y Z"


@pytest.mark.parametrize("words", ["", " ", "    "])
def test_a_page_of_spaces_is_blank(words: str) -> None:
    assert _drawn(lambda canvas: canvas.drawString(60, 700, words))[1].strip() == ""


def test_amounts_close_behind_long_descriptions_are_cells() -> None:
    lines = simpleSplit(CLAUSE * 6, "Helvetica", 10, 440)

    def draw(canvas: Canvas) -> None:
        for place, line in enumerate(lines):
            canvas.drawString(60, 780 - 14 * place, line)
            canvas.drawRightString(545, 780 - 14 * place, f"{17 * place + 10}.00")

    cells = [re.split(" {2,}", line.strip()) for line in _drawn(draw)[1].split("\n")]
    assert cells == [[line, f"{17 * place + 10}.00"] for place, line in enumerate(lines)]


def test_a_longer_amount_after_equal_lines_of_text_is_a_cell() -> None:
    """One table row among lines that are no wider: only its numbers tell of the gap."""
    text = "as to the goods that are named in the schedule to it and their prices each month"

    def draw(canvas: Canvas) -> None:
        for place in range(20):
            canvas.drawString(60, 780 - 14 * place, text)
        for left, name in ((60, "Director"), (330, "Manager")):
            for place in range(5):
                canvas.drawString(left, 460 - 14 * place, name)
        canvas.drawString(60, 300, text[:70])
        canvas.drawString(60 + stringWidth(text[:70], "Helvetica", 10) + 10, 300, "11.11")

    assert f"{text[:70].rstrip()}  11.11" in _drawn(draw)[1].split("\n")[-1]


def test_columns_are_right_also_behind_characters_beyond_sixteen_bits() -> None:
    smiling = b"1 beginbfrange <41> <41> <D83DDE00> endbfrange"
    cmap = b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange " + smiling + b" endcmap"
    drawn = b"BT /F 10 Tf 50 700 Td (AAAA net) Tj 300 0 Td (gross) Tj ET"
    pieces = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >> stream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
        b"<< /Length %d >> stream\n%s\nendstream" % (len(cmap), cmap),
    )
    objects = b"".join(b"%d 0 obj %s endobj\n" % (number, piece) for number, piece in enumerate(pieces, 1))
    _, layout = _text_and_layout(b"%PDF-1.7\n" + objects + b"trailer << /Root 1 0 R >>\n%%EOF\n")
    assert re.split(" {2,}", layout) == ["\U0001f600" * 4 + " net", "gross"]


def test_long_cells_without_numbers_stand_apart() -> None:
    left, right = "the licensee and all of its subsidiaries", "the licensor, its heirs and its successors"

    def draw(canvas: Canvas) -> None:
        top = _paragraphs(canvas, 780, 3)
        for place in range(6):
            canvas.drawString(60, top - 14 * place, left)
            canvas.drawString(330, top - 14 * place, right)

    assert [re.split(" {2,}", line) for line in _drawn(draw)[1].split("\n")[-6:]] == [[left, right]] * 6

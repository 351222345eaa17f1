"""PDFs as they come: locked, cut, with junk before the header, with filled forms, readable by one parser only."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import BinaryIO

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText
from reportlab.pdfgen import canvas

from pipeline.documents.contract import Format, Means
from pipeline.documents.formats.pdf import format as pdf
from pipeline.documents.pdf.by_pdfium import PdfiumReader
from pipeline.documents.pdf.by_pypdf import PypdfReader
from pipeline.documents.text import Page
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason
from tests.documents.samples.pdf import build

ALGORITHMS = ["RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"]
TEXT = "Invoice INV-2026-0042 for a hundred chairs"


def _file(content: bytes) -> io.BytesIO:
    return io.BytesIO(content)


def _pages(content: bytes, each: Format = pdf) -> list[Page]:
    with each.open(_file(content), Means()) as document:
        return [document.read_page(number) for number in range(1, document.page_count + 1)]


def _reason(content: bytes) -> str:
    with pytest.raises(DocumentError) as refusal:
        pdf.inspect(_file(content), Means())
    return refusal.value.reason


def _encrypted(user_password: str, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(build([TEXT, "Second page of the invoice"]))))
    writer.encrypt(user_password, "the owner", algorithm=algorithm)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_the_owner_restricts_opens_by_itself(algorithm: str) -> None:
    content = _encrypted("", algorithm)
    inspection = pdf.inspect(_file(content), Means())
    assert (inspection.page_count, inspection.restricted) == (2, True)
    assert TEXT in _pages(content)[0].text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_needs_a_password_says_so(algorithm: str) -> None:
    assert _reason(_encrypted("secret", algorithm)) == Reason.NEEDS_PASSWORD


@pytest.mark.parametrize("reader", [PdfiumReader, PypdfReader])
def test_each_parser_knows_a_locked_file_by_itself(reader: Callable[[BinaryIO], object]) -> None:
    with pytest.raises(DocumentError) as refusal:
        reader(_file(_encrypted("secret", "AES-256")))
    assert refusal.value.reason is Reason.NEEDS_PASSWORD


def test_a_locked_file_that_is_also_cut_is_not_called_fine() -> None:
    whole = _encrypted("secret", "AES-256")
    assert _reason(whole[: len(whole) // 2]) in (Reason.NEEDS_PASSWORD, Reason.TRUNCATED)


def test_a_file_cut_in_half_is_truncated() -> None:
    whole = build([TEXT])
    assert _reason(whole[: len(whole) // 2]) == Reason.TRUNCATED


def test_a_whole_file_that_no_parser_opens_is_corrupt() -> None:
    assert _reason(b"%PDF-1.7\n" + b"nothing here\n" * 20 + b"startxref\n0\n%%EOF\n") == Reason.CORRUPT


def test_a_page_whose_content_was_cut_off_is_a_gap_and_not_blank() -> None:
    whole = build([TEXT, "Second page that will be lost"])
    trailer = whole[whole.rindex(b"trailer") : whole.rindex(b"startxref")]
    for_the_web = whole.replace(b"1 0 obj", trailer + b"1 0 obj", 1)  # such files have what opens them at the front
    lost_from = for_the_web.rindex(b"9 0 obj", 0, for_the_web.index(b"Second page"))
    with pdf.open(_file(for_the_web[:lost_from]), Means()) as document:
        assert document.page_count == 2
        assert TEXT in document.read_page(1).text
        with pytest.raises(UnreadablePage) as gap:
            document.read_page(2)
    assert gap.value.reason == Reason.TRUNCATED


def test_a_blank_page_of_a_whole_file_is_a_page() -> None:
    assert [page.text.strip() for page in _pages(build([TEXT, ""]))] == [TEXT, ""]


@pytest.mark.parametrize("junk", [b"\x00\x01scanner\r\n", b" " * 1000])
def test_junk_before_the_header_does_not_matter(junk: bytes) -> None:
    content = junk + build([TEXT])
    assert pdf.recognises(content[:4096], content[-4096:], "") == "application/pdf"
    assert TEXT in _pages(content)[0].text


def test_a_header_after_the_first_kilobyte_is_none() -> None:
    content = b" " * 1020 + build([TEXT])
    assert pdf.recognises(content[:4096], content[-4096:], "a.pdf") is None


def test_what_pdfium_refuses_pypdf_reads_and_the_page_says_so() -> None:
    content = build([TEXT]).replace(b"/Root", b"/Rxxt")
    (page,) = _pages(content)
    assert TEXT in page.text
    assert page.engine.startswith("pypdf ")
    assert pdf.inspect(_file(content), Means()).page_count == 1


def test_a_page_that_no_parser_finds_is_a_gap_beside_good_ones() -> None:
    two = build([TEXT, "another page of text"])
    three = re.sub(rb"/Count 2 /Kids \[ (.*?) \]", rb"/Count 3 /Kids [ \1 99 0 R ]", two)
    with pdf.open(_file(three), Means()) as document:
        assert document.page_count == 3
        with pytest.raises(UnreadablePage):
            document.read_page(3)
        assert TEXT in document.read_page(1).text


def test_a_broken_page_is_never_given_the_text_of_the_next() -> None:
    whole = build([TEXT, "Another page of text"])
    first = whole.index(b"3 0 obj\n") + len(b"3 0 obj\n")
    broken = whole[:first] + b"null\n" + whole[whole.index(b"endobj", first) :]
    with pdf.open(_file(broken), Means()) as document:
        with pytest.raises(UnreadablePage):
            document.read_page(1)
        assert document.read_page(2).text == "Another page of text"


def test_a_nul_in_the_text_never_gets_out() -> None:
    content = build(["before@after and three more words"]).replace(b"before@after", b"before\\000after")
    (page,) = _pages(content)
    assert "\x00" not in page.text + page.layout
    assert "after and three more words" in page.text


def test_filled_fields_are_part_of_the_text_again_and_again() -> None:
    with pdf.open(_file(_form()), Means()) as document:
        first, again = document.read_page(1), document.read_page(1)
    assert first.text.count("Filled value 4711") == 1
    assert first.layout.count("Filled value 4711") == 1
    assert (again.text, again.layout) == (first.text, first.layout)


def _form() -> bytes:
    file = io.BytesIO()
    sheet = canvas.Canvas(file)
    sheet.drawString(72, 700, "Customer number as filled in:")
    sheet.acroForm.textfield(name="customer", value="Filled value 4711", x=72, y=650, width=300, height=20)
    sheet.save()
    return file.getvalue()


def test_words_broken_at_the_end_of_a_line_are_whole_again() -> None:
    (page,) = _pages(build(["The parties to this agree-\nment are named above"]))
    assert "agreement are named" in page.text
    assert "agree-" in page.layout


def test_cells_of_a_table_stay_apart_and_in_one_line() -> None:
    file = io.BytesIO()
    sheet = canvas.Canvas(file)
    rows = [("Desk lamp", "2", "19.90", "39.80"), ("Chair with a long name", "12", "100.00", "1,200.00")]
    for column, place in enumerate((72, 300, 380, 460)):  # column by column, as some programs write
        for number, row in enumerate(rows):
            sheet.drawString(place, 700 - 14 * number, row[column])
    sheet.save()
    (page,) = _pages(file.getvalue())
    cells = [tuple(part.strip() for part in line.split("  ") if part.strip()) for line in page.layout.split("\n")]
    assert cells == rows


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_a_page_written_sideways_has_the_rows_its_reader_sees(angle: int) -> None:
    file = io.BytesIO()
    sheet = canvas.Canvas(file, pagesize=(800, 800))
    sheet.translate(400, 400)
    sheet.rotate(angle)
    for row, (label, value) in enumerate([("Net", "100.00"), ("Tax", "19.00"), ("Total", "119.00")]):
        sheet.drawString(-300, 300 - 14 * row, label)
        sheet.drawRightString(300, 300 - 14 * row, value)
    sheet.save()
    (page,) = _pages(file.getvalue())
    assert [line.split() for line in page.layout.split("\n")] == [
        ["Net", "100.00"],
        ["Tax", "19.00"],
        ["Total", "119.00"],
    ]


def test_a_note_that_the_viewer_must_paint_is_kept_again_and_again() -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(build([TEXT]))))
    writer.add_annotation(0, FreeText(text="Paid in M\u00e4rz", rect=(72, 400, 300, 430)))
    file = io.BytesIO()
    writer.write(file)
    with pdf.open(_file(file.getvalue()), Means()) as document:
        first, again = document.read_page(1), document.read_page(1)
    assert first.text.split("\n") == [TEXT, "Paid in M\u00e4rz"]
    assert first.layout == first.text
    assert (again.text, again.layout) == (first.text, first.layout)

"""Every field says how it is printed and where: the box of a value holds that value, in whatever notation it is."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas

from pipeline.documents.pdf.by_pdfium import PdfiumReader
from pipeline.documents.text import Box, Page
from pipeline.handling import Extraction, Field, Group
from pipeline.reading.places.placing import place, placed

SIZE = (595.0, 842.0)
CLAUSE = (
    "The supplier delivers the goods to the buyer within thirty (30) days of the order and bears the cost of carriage."
    " This agreement is made on 3 March 2026 between Kestrel Papermill Holdings B.V. and Oldham & Sons Limited, and is"
    " governed by the laws of the State of New York. Either party may end it on sixty days' notice in writing. "
)


class Sheet:
    """A drawn page as it is read, and what pdfium finds inside a box of it."""

    def __init__(self, draw: Callable[[Canvas], None], *, number: int = 1) -> None:
        content = io.BytesIO()
        canvas = Canvas(content, pagesize=SIZE)
        canvas.setFont("Helvetica", 10)
        draw(canvas)
        canvas.save()
        reader = PdfiumReader(content)
        seen = reader.read(1)
        reader.close()
        self.page = Page(number, seen.text, seen.layout, places=seen.places).storable()
        self._content = content.getvalue()

    def inside(self, box: Box | None) -> str:
        assert box is not None
        left, right = (edge * SIZE[0] for edge in (box.left - 0.001, box.right + 0.001))
        bottom, top = ((1 - edge) * SIZE[1] for edge in (box.bottom + 0.001, box.top - 0.001))
        with closing(pypdfium2.PdfDocument(self._content)) as document:
            return " ".join(document[0].get_textpage().get_text_bounded(left, bottom, right, top).split())


def _table(*rows: Sequence[str], columns: Sequence[float] = (50, 300, 380, 460)) -> Sheet:
    def draw(canvas: Canvas) -> None:
        for number, row in enumerate(rows):
            for left, cell in zip(columns, row, strict=False):
                canvas.drawString(left, 780 - 15 * number, cell)

    return Sheet(draw)


INVOICE = _table(
    ("Invoice no.: INV-2026/0042", "", "", "Date: 03.11.2026"),
    ("IBAN DE89 3704 0044 0532 0130 00", "", "", "VAT id NL 8234.56.789 B01"),
    ("Oldham & Sons", "", "", "Kestrel Papermill"),
    ("Limited, London", "", "", "Holdings B.V."),
    ("Ordered", "", "", "1.469,06 €"),
    ("Paper, white", "2", "100,00 €", "200,00 €"),
    ("Paper, blue", "1", "50,00 €", "50,00 €"),
    ("Paper, blue", "1", "50,00 €", "50,00 €"),
    ("Net", "", "", "1.234,50 €"),
    ("VAT 19,00 %", "", "", "234,56 €"),
    ("Total", "", "", "1.469,06 €"),
    ("Credit", "", "", "(12,00)"),
    ("Payable", "", "", "1.469,06 €"),
)

FOUND = {
    "an identifier": ("INV-2026/0042", "Invoice no.: INV-2026/0042 Date: 03.11.2026", "INV-2026/0042"),
    "a date": ("2026-11-03", "Invoice no.: INV-2026/0042 Date: 03.11.2026", "03.11.2026"),
    "an account": ("DE89370400440532013000", "", "DE89 3704 0044 0532 0130 00"),
    "a tax number": ("NL823456789B01", "", "NL 8234.56.789 B01"),
    "an amount": ("1234.50", "Net 1.234,50 €", "1.234,50"),
    "an amount without its sign": ("-1234.50", "Net 1.234,50 €", "1.234,50"),
    "an amount in brackets": ("-12.00", "Credit (12,00)", "12,00"),
    "a rate": ("19.00", "VAT 19,00 % 234,56 €", "19,00"),
    "a currency": ("EUR", "Net 1.234,50 €", "€"),
    "another case": ("OLDHAM & SONS", "Oldham & Sons Kestrel Papermill", "Oldham & Sons"),
    "a name on two lines of a column": (
        "Kestrel Papermill Holdings B.V.",
        "Oldham & Sons Kestrel Papermill",
        "Kestrel Papermill Holdings B.V.",
    ),
    "a snippet that is cut": ("1469.06", "Payable 1.469,0", "1.469,06"),
}


@pytest.mark.parametrize("kind", FOUND)
def test_a_value_is_found_in_its_notation_and_its_box_holds_it(kind: str) -> None:
    value, snippet, printed = FOUND[kind]
    found, box = place(Field(value, 1, snippet), INVOICE.page)
    assert found == printed
    assert all(word in INVOICE.inside(box) for word in printed.split())
    assert box is not None
    assert box.bottom - box.top < 0.02 * (1 + kind.endswith("of a column"))


def test_of_two_rows_that_print_a_value_the_one_of_the_snippet_is_meant() -> None:
    _, total = place(Field("1469.06", 1, "Total 1.469,06 €"), INVOICE.page)
    _, payable = place(Field("1469.06", 1, "Payable 1.469,06 €"), INVOICE.page)
    assert total is not None
    assert payable is not None
    assert total.bottom < payable.top


def test_no_part_of_a_longer_number_is_taken_for_a_value() -> None:
    sheet = _table(("Total", "11,100.00", "100.005", "100.00"))
    found, box = place(Field("100.00", 1, "Total 11,100.00 100.005 100.00"), sheet.page)
    assert (found, sheet.inside(box)) == ("100.00", "100.00")
    assert box is not None
    assert box.left == pytest.approx(460 / SIZE[0], abs=0.002)


def test_equal_cells_of_equal_rows_have_places_of_their_own() -> None:
    line = "Paper, blue 1 50,00 € 50,00 €"
    cells = {"name": "Paper, blue", "net_amount": "50.00", "quantity": "1", "price": "50.00"}
    groups = [_group("lines", number, cells, snippet=line) for number in (1, 2)]
    found = placed(Extraction("invoice", groups=groups), [INVOICE.page]).groups
    boxes = [box for group in found for name in ("quantity", "price", "net_amount") if (box := group.fields[name].box)]
    assert [round(box.left * SIZE[0] / 80) for box in boxes] == [round(left / 80) for left in (300, 380, 460)] * 2
    assert len(set(boxes)) == 6
    assert max(box.bottom for box in boxes[:3]) < min(box.top for box in boxes[3:])


def test_a_value_that_was_worked_out_has_the_place_of_what_it_was_worked_out_from() -> None:
    found, box = place(Field("1469.06", 1, "VAT 19,00 % 234,56 €", method="derived"), INVOICE.page)
    assert (found, INVOICE.inside(box)) == ("", "VAT 19,00 % 234,56 €")


def test_what_is_nowhere_on_its_page_has_no_place() -> None:
    assert place(Field("Nobody & Co", 1, "a row of another page"), INVOICE.page) == ("", None)
    assert place(Field("7", 1, "a row of another page"), INVOICE.page) == ("", None)


def test_a_line_that_has_other_words_than_places_has_no_box_and_the_others_have_theirs() -> None:
    layout = INVOICE.page.layout.replace("Net ", "Net of all ")
    page = replace(INVOICE.page, layout=layout)
    assert place(Field("Net of all", 1, "Net of all 1.234,50 €"), page) == ("Net of all", None)
    _, box = place(Field("234.56", 1, "VAT 19,00 % 234,56 €"), page)
    assert INVOICE.inside(box) == "234,56"


def test_a_page_without_geometry_says_how_a_value_is_printed_and_not_where() -> None:
    page = replace(INVOICE.page, places=b"")
    assert place(Field("1234.50", 1, "Net 1.234,50 €"), page) == ("1.234,50", None)


def test_what_a_handler_places_itself_is_left_as_it_is() -> None:
    field = Field("1234.50", 1, "Net 1.234,50 €", box=Box(0, 0, 1, 1))
    assert placed(Extraction("invoice", {"total_net": [field]}), [INVOICE.page]).fields["total_net"] == (field,)


@pytest.mark.parametrize("font", ["Helvetica", "Times-Roman", "Courier"])
def test_boxes_in_running_text_hold_their_words_whatever_the_font(font: str) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, 10)
        for number, line in enumerate(simpleSplit(CLAUSE * 6, font, 10, 480)):
            canvas.drawString(50, 780 - 13 * number, line)

    sheet = Sheet(draw)
    assert sheet.page.layout == sheet.page.text
    sentence = CLAUSE[CLAUSE.index("This agreement") : CLAUSE.index(" Either")]
    values = ("2026-03-03", "Kestrel Papermill Holdings B.V.", "Oldham & Sons Limited", "New York")
    shown = ("3 March 2026", *values[1:])
    for value, printed in zip(values, shown, strict=True):
        found, box = place(Field(value, 1, sentence[:300]), sheet.page)
        assert found == printed
        assert all(word in sheet.inside(box) for word in printed.split())
        assert box is not None
        assert box.bottom - box.top > 0.02 or len(sheet.inside(box)) < len(printed) + 8
    assert place(Field("30 days", 1, CLAUSE[:110]), sheet.page)[0] == "thirty (30) days"


@pytest.mark.parametrize("font", ["Helvetica", "Times-Roman", "Courier"])
def test_widths_of_letters_tell_where_in_a_line_a_word_is(font: str) -> None:
    line = "till it is illicit, I lift it, still " + "or later 4711 " + "WHOM MAMMON WARMS MOM"

    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, 9)
        for number in range(12):
            canvas.drawString(50, 780 - 13 * number, line + ("" if number % 2 else " it will, till I fill it"))

    sheet = Sheet(draw)
    assert sheet.page.layout == sheet.page.text
    _, box = place(Field("4711", 1, line), sheet.page)
    inside = sheet.inside(box)
    assert "4711" in inside
    assert len(inside) <= 8


def test_a_word_that_is_broken_at_the_end_of_a_line_is_on_both() -> None:
    lines = (
        "the supplier grants to the buyer for as long as this agreement runs a licence to use what the devel-",
        "opment under the order of June brings about, number 4711, in all of the places that the schedule says, and",
    )

    def draw(canvas: Canvas) -> None:
        for number in range(40):
            canvas.drawString(50, 780 - 13 * number, lines[number % 2])

    sheet = Sheet(draw)
    assert "development" in sheet.page.text
    snippet = "to use what the development under the order of June brings about, number 4711,"
    printed, box = place(Field("the development under", 1, snippet), sheet.page)
    assert printed == "the development under"
    assert all(piece in sheet.inside(box) for piece in ("the devel", "opment under"))
    for value in ("4711", "June"):
        _, box = place(Field(value, 1, snippet), sheet.page)
        assert value in sheet.inside(box)
        assert len(sheet.inside(box)) < len(value) + 5


def test_a_sentence_that_begins_on_the_page_before_is_still_known() -> None:
    clauses = (
        "what one of the parties owes under it is paid in New York unless they agree on another place in writing, and",
        "each of them may bring a claim before the courts of New York as long as the other one has a seat there, and",
    )

    def draw(canvas: Canvas) -> None:
        for number in range(10):
            canvas.drawString(50, 780 - 13 * number, clauses[number % 2])

    sheet = Sheet(draw)
    _, first = place(Field("New York", 1, "Until it ends on the last day of the year " + clauses[0]), sheet.page)
    _, second = place(Field("New York", 1, "Until it ends on the last day of the year " + clauses[1]), sheet.page)
    assert first is not None
    assert second is not None
    assert second.top - first.top == pytest.approx(13 / SIZE[1], abs=0.002)


XML = {"total_gross": "1469.06", "amount_due": "1469.06", "tax_rate": "19.00", "issue_date": "2026-11-03"}


def test_fields_of_an_electronic_invoice_are_found_on_the_page_beside_their_labels() -> None:
    fields = {name: [Field(value, 0, "BT-1 /Invoice", method="xml")] for name, value in XML.items()}
    found = placed(Extraction("invoice", fields), [Page(1, "A cover"), replace(INVOICE.page, number=2)]).fields
    assert {name: (each[0].page, each[0].printed) for name, each in found.items()} == {
        "total_gross": (2, "1.469,06"),
        "amount_due": (2, "1.469,06"),
        "tax_rate": (2, "19,00"),
        "issue_date": (2, "03.11.2026"),
    }
    _, ordered = place(Field("1469.06", 1, "Ordered 1.469,06 €"), INVOICE.page)
    boxes = [ordered, found["total_gross"][0].box, found["amount_due"][0].box]
    tops = [box.top for box in boxes if box]
    assert tops == sorted(set(tops))
    assert len(tops) == 3


def test_lines_of_an_electronic_invoice_are_placed_by_their_names() -> None:
    cells = {"number": "7", "name": "Paper, white", "quantity": "2", "price": "100.00", "net_amount": "200"}
    (row,) = placed(Extraction("invoice", groups=[_group("lines", 1, cells, page=0)]), [INVOICE.page]).groups
    assert {name: each.printed for name, each in row.fields.items() if each.printed} == {
        "name": "Paper, white",
        "quantity": "2",
        "price": "100,00",
        "net_amount": "200,00",
    }
    assert list(row.fields) == list(cells)


def test_a_line_whose_name_is_printed_otherwise_is_told_by_two_of_its_amounts() -> None:
    cells = {"name": "Writing paper", "quantity": "2", "price": "100.00", "net_amount": "200.00"}
    others = {"name": "Envelopes", "quantity": "2", "price": "100.00", "net_amount": "1234.50"}
    groups = [_group("lines", number, each, page=0) for number, each in enumerate((others, cells), 1)]
    other, row = placed(Extraction("invoice", groups=groups), [INVOICE.page]).groups
    assert [each.printed for each in row.fields.values()] == ["", "2", "100,00", "200,00"]
    assert [each.printed for each in other.fields.values()] == [""] * 4
    boxes = [each.box for each in row.fields.values() if each.box]
    assert len({box.top for box in boxes}) == 1
    assert len(boxes) == 3


@given(
    st.text(max_size=60),
    st.text(st.sampled_from("1a. \n,-€"), max_size=300),
    st.binary(max_size=100),
    st.text(st.sampled_from("1a. \n,-€"), max_size=60),
    st.sampled_from(["xml", "label", "derived"]),
)
def test_nothing_that_is_found_on_any_page_makes_it_raise(
    value: str, text: str, places: bytes, snippet: str, method: str
) -> None:
    page = Page(1, text, text, places=places)
    field = Field(value, 1 if method != "xml" else 0, snippet, method)
    group = Group("lines", 1, {"name": field, "price": replace(field, value=snippet)})
    found = placed(Extraction("x", {"a": [field], "b": [replace(field, value=snippet)]}, groups=[group]), [page])
    assert found.fields["a"][0].value == value


def _group(name: str, number: int, cells: Mapping[str, str], *, snippet: str = "", page: int = 1) -> Group:
    method = "label" if page else "xml"
    return Group(name, number, {each: Field(value, page, snippet, method) for each, value in cells.items()})

"""Excel workbooks: cells as they show, exact where typed, ISO where dates; rows with content only; sheets as pages."""

from __future__ import annotations

import pytest

from pipeline.documents.office.numbers import NumberFormat, parse_format, shown_number
from pipeline.documents.office.spreadsheet_xml import column_number
from pipeline.reasons import Reason
from tests.documents.packing import packed
from tests.documents.reading import layout, pages, refusal, text, texts
from tests.documents.samples.docx import body, paragraph, relations
from tests.documents.samples.xlsx import part, workbook


def _row(number: int, *cells: str) -> str:
    return f'<row r="{number}">{"".join(cells)}</row>'


def _number(reference: str, value: str, style: int = 0, formula: str = "") -> str:
    return f'<c r="{reference}" s="{style}">{formula}<v>{value}</v></c>'


def _inline(reference: str, words: str) -> str:
    return f'<c r="{reference}" t="inlineStr"><is><t>{words}</t></is></c>'


@pytest.mark.parametrize(
    ("code", "raw", "shown"),
    [
        ("General", "1.0E+19", "10000000000000000000"),
        ("General", "123456789012345678", "123456789012345678"),
        ("General", "0.30000000000000004", "0.3"),
        ("General", "1E-5", "0.00001"),
        ("0.00", "1234.5", "1234.50"),
        ("#,##0.00", "1234567.891", "1234567.891"),
        ("0%", "0.19", "19%"),
        ("0.0%", "0.075", "7.5%"),
        ("00000", "421", "00421"),
        ('#,##0.00\\ "€"', "12.5", "12.50 €"),
        ("[$$-409]#,##0.00", "12.5", "$ 12.50"),
        ("[$EUR]\\ #,##0.00", "3", "EUR 3.00"),
        ("_-* #,##0.00\\ [$kr-41D]_-", "7", "7.00 kr"),
        ('"Total "0', "5", "5"),
        ("yyyy-mm-dd", "43363", "2018-09-20"),
        ("[$-407]d. mmmm yyyy;@", "43363", "2018-09-20"),
        ("m/d/yy h:mm", "43363.75", "2018-09-20 18:00"),
        ("h:mm:ss", "0.5", "12:00"),
        ("[h]:mm:ss", "1.5", "36:00:00"),
        ("mmm-yy", "1", "1900-01-01"),
        ("yyyy", "60", "1900-02-29"),
        ("yyyy", "-5", "-5"),
        ("yyyy", "99999999", "99999999"),
        ("0.00", "text", "text"),
        ("0.00", "NaN", "NaN"),
        ("0.00", "1E+400", "1E+400"),
        ("# ?/?", "0.5", "0.5"),
        ("0.00E+00", "1234", "1234"),
        ('[Red]0.00;[Blue]"minus" 0.00', "2", "2.00"),
    ],
)
def test_a_typed_number_is_shown_as_its_format_says_with_every_digit(code: str, raw: str, shown: str) -> None:
    assert shown_number(raw, parse_format(code)) == shown


@pytest.mark.parametrize(("raw", "shown"), [("23.7481", "23.75"), ("2.675", "2.68"), ("1E-20", "0.00")])
def test_a_computed_number_is_rounded_to_the_decimals_it_shows(raw: str, shown: str) -> None:
    assert shown_number(raw, parse_format("0.00"), computed=True) == shown


def test_days_count_from_1904_where_the_workbook_says_so() -> None:
    assert shown_number("0", NumberFormat("date"), from_1904=True) == "1904-01-01"


def test_columns_are_numbered_from_their_letters() -> None:
    assert [column_number(letters) for letters in ("A", "z", "AA", "XFD")] == [0, 25, 26, 16_383]


def test_every_kind_of_cell_is_shown() -> None:
    rows = _row(
        1,
        '<c r="A1" t="s"><v>1</v></c>',
        _inline("B1", "inline"),
        '<c r="C1" t="b"><v>1</v></c>',
        '<c r="D1" t="e"><v>#DIV/0!</v></c>',
        '<c r="E1" t="str"><f>A1&amp;"x"</f><v>made</v></c>',
        '<c r="F1" t="d"><v>2026-01-31T10:00:00</v></c>',
        '<c r="G1" t="s"><v>99</v></c>',
        _number("H1", "5"),
    )
    shown = text(workbook({"S": rows}, shared=["zero", "shared"]))
    assert shown.split("  ") == ["shared", "inline", "TRUE", "#DIV/0!", "made", "2026-01-31 10:00:00", "5"]


def test_styles_and_the_year_of_the_workbook_reach_the_cells() -> None:
    styles = (
        '<numFmts><numFmt numFmtId="164" formatCode="0.00&quot; &quot;[$€-407]"/></numFmts>'
        '<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/></cellXfs>'
    )
    rows = _row(1, _number("A1", "5"), _number("B1", "7.1", 1), _number("C1", "1", 2))
    content = workbook({"S": rows}, styles=styles, properties='<workbookPr date1904="1"/>')
    assert text(content) == "5  7.10 €  1904-01-02"


def test_a_phonetic_reading_is_not_part_of_a_text() -> None:
    content = workbook({"S": '<row><c t="inlineStr"><is><t>東京</t><rPh><t>トウキョウ</t></rPh></is></c></row>'})
    assert text(content) == "東京"
    shared = part("sst", "<si><t>大阪</t><rPh><t>オオサカ</t></rPh></si>")
    content = workbook({"S": '<row><c t="s"><v>0</v></c></row>'}, parts={"xl/sharedStrings.xml": shared})
    assert text(content) == "大阪"


def test_cells_without_references_follow_each_other() -> None:
    assert text(workbook({"S": "<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row>"})) == "1  2\n3"


def test_columns_stand_below_each_other_and_a_title_pushes_nothing() -> None:
    rows = _row(1, _inline("A1", "A title that is longer than any column")) + _row(
        2, _inline("A2", "Item"), _inline("B2", "Qty"), _inline("C2", "Price")
    )
    rows += _row(4, _inline("A4", "Bolts"), _inline("C4", "12.50"))
    assert layout(workbook({"S": rows})) == [
        "A title that is longer than any column",
        "Item   Qty  Price",
        "Bolts       12.50",
    ]


def test_a_cell_of_two_lines_stands_beside_its_neighbours() -> None:
    rows = _row(1, _inline("A1", "one&#10;two"), _inline("B1", "x"))
    assert layout(workbook({"S": rows})) == ["one  x", "two"]


def test_one_cell_in_the_last_corner_costs_one_line() -> None:
    rows = _row(1, _number("A1", "1")) + _row(1_048_576, _number("XFD1048576", "2"))
    (page,) = pages(workbook({"S": rows}))
    assert page.text == "1\n2"
    assert page.note == "sheet S, rows 1 to 1048576"


def test_a_long_sheet_has_pages_that_name_their_rows_and_loses_none() -> None:
    rows = "".join(_row(number, _number(f"A{number}", str(number))) for number in range(1, 502))
    found = pages(workbook({"Data": rows, "Empty": "", "More": _row(1, _number("A1", "7"))}, states={"More": "hidden"}))
    assert [page.note for page in found] == [
        "sheet Data, rows 1 to 200",
        "sheet Data, rows 201 to 400",
        "sheet Data, rows 401 to 501",
        "hidden sheet More, rows 1 to 1",
    ]
    assert "\n".join(page.text for page in found[:3]).split("\n") == [str(number) for number in range(1, 502)]


def test_wide_rows_that_fill_more_than_a_page_name_their_rows_too() -> None:
    rows = "".join(_row(number, _inline(f"A{number}", "x" * 40_000)) for number in range(1, 5))
    assert [page.note[-11:] for page in pages(workbook({"S": rows}))] == ["rows 1 to 2", "rows 3 to 4"]


def test_a_workbook_without_content_has_one_blank_page() -> None:
    assert texts(workbook({"A": "", "B": ""})) == [""]


def test_text_boxes_and_comments_follow_the_rows() -> None:
    drawing = f"<x:txBody xmlns:x='x'>{body(paragraph('a box'), 'p').partition('?>')[2]}</x:txBody>"
    comments = part("comments", '<commentList><comment ref="A1"><text><t>a remark</t></text></comment></commentList>')
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(
            {"r1": ("drawing", "../drawings/drawing1.xml"), "r2": ("comments", "../comments1.xml")}
        ),
        "xl/drawings/drawing1.xml": drawing,
        "xl/comments1.xml": comments,
    }
    assert text(workbook({"S": _row(1, _number("A1", "1"))}, parts=parts)) == "1\na box\nComment:\na remark"


def test_one_text_shared_by_every_cell_is_a_bomb() -> None:
    row = _row(1, *('<c t="s"><v>0</v></c>' for _ in range(200)))
    reason, sentence = refusal(workbook({"S": row}, shared=["x" * 32_000]))
    assert reason is Reason.BOMB
    assert "row 1 shows 6,400,000 characters" in sentence


def test_a_binary_workbook_is_refused_with_what_to_do() -> None:
    reason, sentence = refusal(packed({"[Content_Types].xml": "", "xl/workbook.bin": "x"}))
    assert reason is Reason.UNSUPPORTED
    assert "save it as XLSX" in sentence

"""OpenDocument spreadsheets: cells as shown, dates that are not ambiguous, and repetition that costs nothing."""

from __future__ import annotations

from tests.documents.reading import layout, pages, text
from tests.documents.samples.ods import cell, row, spreadsheet
from tests.documents.samples.odt import paragraph

DATE = 'office:value-type="date" office:date-value="{}"'
FLOAT = 'office:value-type="float" office:value="{}"'


def _text(cells: str) -> str:
    return text(spreadsheet({"S": row(cells)}))


def test_a_date_in_digits_alone_is_written_as_iso_and_any_other_as_shown() -> None:
    assert _text(cell("01/02/26", DATE.format("2026-02-01"))) == "2026-02-01"
    assert _text(cell("01.02.2026 10:00", DATE.format("2026-02-01T10:00:00"))) == "2026-02-01 10:00:00"
    assert _text(cell("1. Februar 2026", DATE.format("2026-02-01"))) == "1. Februar 2026"


def test_a_number_is_as_shown_but_for_an_exponent() -> None:
    assert _text(cell("1.234,50 €", FLOAT.format("1234.5"))) == "1.234,50 €"
    assert _text(cell("1.23E+018", FLOAT.format("1234567890123456789"))) == "1234567890123456789"
    assert _text(cell("", FLOAT.format("7"))) == "7"


def test_empty_cells_keep_the_columns_in_place() -> None:
    rows = row(cell("a") + cell("bb") + cell("c")) + row(
        cell("x") + '<table:table-cell table:number-columns-repeated="1"/>' + cell("y")
    )
    assert layout(spreadsheet({"S": rows})) == ["a  bb  c", "x      y"]


def test_blank_rows_and_columns_without_end_cost_nothing() -> None:
    blank = row('<table:table-cell table:number-columns-repeated="16384"/>', 'table:number-rows-repeated="1048570"')
    (page,) = pages(spreadsheet({"S": row(cell("top")) + blank + row(cell("bottom"))}))
    assert page.text == "top\nbottom"
    assert page.note == "sheet S, rows 1 to 1048572"


def test_repeated_content_is_repeated() -> None:
    rows = row(cell("a", 'table:number-columns-repeated="3"'), 'table:number-rows-repeated="2"')
    assert text(spreadsheet({"S": rows})) == "a  a  a\na  a  a"


def test_repetition_without_end_is_cut() -> None:
    filling = row(cell("a", 'table:number-columns-repeated="16384"'), 'table:number-rows-repeated="1048576"')
    found = pages(spreadsheet({"S": filling * 200}))
    assert sum(page.text.count("a") for page in found) < 5_000_000


def test_hidden_sheets_are_noted_and_each_sheet_has_its_page() -> None:
    styles = '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    sheets = {"One": row(cell("1")), "Two": row(cell("2"))}
    found = pages(spreadsheet(sheets, styles, {"Two": "h"}))
    assert [page.note for page in found] == ["sheet One, rows 1 to 1", "hidden sheet Two, rows 1 to 1"]


def test_lines_in_a_cell_and_a_table_within_one_stay_in_it() -> None:
    inner = f"<table:table>{row(cell('in'))}</table:table>"
    rows = row(f"<table:table-cell>{paragraph('one')}{paragraph('two')}{inner}</table:table-cell>" + cell("x"))
    assert layout(spreadsheet({"S": rows})) == ["one  x", "two", "in"]

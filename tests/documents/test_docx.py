"""Word documents: what is on paper, once, in order, with numbers, notes and pages; and the files inside."""

from __future__ import annotations

import pytest

from pipeline.documents.office.symbols import symbol
from pipeline.reasons import Reason
from tests.documents.packing import packed
from tests.documents.reading import layout, pages, refusal, small, text, texts
from tests.documents.samples.docx import body, build, document, paragraph

RENDERED = "<w:r><w:lastRenderedPageBreak/></w:r>"


def _run(inside: str) -> str:
    return f"<w:p><w:r>{inside}</w:r></w:p>"


def _cell(inside: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>"


def _table(*rows: str) -> str:
    return "<w:tbl><w:tblPr/>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"


def test_tracked_changes_are_read_as_accepted() -> None:
    content = (
        "<w:p><w:r><w:t>The price is </w:t></w:r><w:del><w:r><w:delText>100</w:delText><w:t>100</w:t></w:r></w:del>"
        "<w:ins><w:r><w:t>200</w:t></w:r></w:ins></w:p>"
    )
    assert text(document(content)) == "The price is 200"


def test_moved_text_stands_only_where_it_went() -> None:
    content = (
        "<w:p><w:moveFrom><w:r><w:t>clause</w:t></w:r></w:moveFrom></w:p>"
        "<w:p><w:moveTo><w:r><w:t>clause</w:t></w:r></w:moveTo></w:p>"
    )
    assert text(document(content)) == "clause"


def test_hidden_runs_and_field_codes_are_not_on_paper() -> None:
    content = (
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown </w:t></w:r>'
        "<w:r><w:instrText>PAGEREF x</w:instrText></w:r><w:r><w:t>7</w:t></w:r></w:p>"
    )
    assert text(document(content)) == "shown 7"


def test_a_text_box_is_read_once_though_it_is_written_twice() -> None:
    box = "<w:txbxContent>" + paragraph("in the box") + "</w:txbxContent>"
    content = (
        "<w:p><w:r><AlternateContent><Choice>"
        + box
        + "</Choice><Fallback>"
        + box
        + "</Fallback></AlternateContent></w:r>"
        "<w:r><w:t>beside it</w:t></w:r></w:p>"
    )
    assert text(document(content)) == "in the box\nbeside it"


def test_the_second_version_of_a_drawing_is_read_when_the_first_has_no_text() -> None:
    box = "<w:txbxContent>" + paragraph("old box") + "</w:txbxContent>"
    content = f"<w:p><w:r><AlternateContent><Choice/><Fallback>{box}</Fallback></AlternateContent></w:r></w:p>"
    assert text(document(content)) == "old box"


def test_tabs_breaks_hyphens_and_symbols_are_characters() -> None:
    inside = (
        "<w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>non</w:t><w:noBreakHyphen/><w:t>stop soft</w:t><w:softHyphen/>"
        '<w:t>ly </w:t><w:sym w:font="Wingdings" w:char="F0FE"/>'
    )
    assert text(document(_run(inside))) == "a\tb\nnon-stop softly \u2611"


def test_tab_stops_are_no_tabs() -> None:
    tabs = '<w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs></w:pPr>'
    assert text(document(paragraph("text", tabs))) == "text"


def test_rows_are_lines_with_columns_below_each_other() -> None:
    content = _table(
        _cell(paragraph("Item")) + _cell(paragraph("Qty")) + _cell(paragraph("Total")),
        _cell(paragraph("Bolts, large")) + _cell("<w:p/>") + _cell(paragraph("12.50")),
    )
    assert layout(document(content)) == ["Item          Qty  Total", "Bolts, large       12.50"]
    assert text(document(content)) == "Item  Qty  Total\nBolts, large  12.50"


def test_cells_of_several_lines_stand_side_by_side_in_the_layout_and_in_turn_in_the_text() -> None:
    seller = paragraph("Acme Ltd") + paragraph("1 High Street")
    content = document(_table(_cell(seller) + _cell(paragraph("Invoice 7"))))
    assert layout(content) == ["Acme Ltd       Invoice 7", "1 High Street"]
    assert text(content) == "Acme Ltd\n1 High Street\nInvoice 7"


def test_a_merged_cell_leaves_the_columns_after_it_in_place() -> None:
    content = _table(
        _cell(paragraph("a")) + _cell(paragraph("bb")) + _cell(paragraph("c")),
        _cell(paragraph("x"), '<w:gridSpan w:val="2"/>') + _cell(paragraph("y")),
    )
    assert layout(document(content)) == ["a  bb  c", "x      y"]


def test_a_table_in_a_cell_belongs_to_the_cell() -> None:
    content = _table(_cell(_table(_cell(paragraph("in")) + _cell(paragraph("ner")))) + _cell(paragraph("outer")))
    assert layout(document(content)) == ["in  ner  outer"]


def test_pages_end_where_word_last_ended_them() -> None:
    content = paragraph("one") + paragraph("two", RENDERED) + f"<w:p><w:r><w:t>still two</w:t></w:r>{RENDERED}"
    assert texts(document(content + "<w:r><w:t>three</w:t></w:r></w:p>")) == ["one", "two\nstill two", "three"]


def test_a_written_and_a_rendered_break_at_one_place_are_one() -> None:
    content = paragraph("one") + '<w:p><w:r><w:br w:type="page"/></w:r></w:p>' + paragraph("two", RENDERED)
    assert texts(document(content)) == ["one", "two"]


def test_a_page_that_ends_within_a_table_ends_with_its_row() -> None:
    content = _table(_cell(paragraph("a", RENDERED)) + _cell(paragraph("b")), _cell(paragraph("c")))
    assert texts(document(content)) == ["a  b", "c"]


def test_sections_start_pages_unless_they_are_continuous() -> None:
    def end(kind: str) -> str:
        return f'<w:p><w:pPr><w:sectPr><w:type w:val="{kind}"/></w:sectPr></w:pPr></w:p>'

    content = paragraph("one") + end("nextPage") + paragraph("still one") + end("continuous")
    assert texts(document(content + paragraph("two"))) == ["one\nstill one", "two"]


def test_headers_open_and_footers_and_footnotes_close_the_page() -> None:
    content = '<w:p><w:r><w:t>body</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>' + paragraph(
        "next page", RENDERED
    )
    parts: dict[str, str | bytes] = {
        "header1.xml": body(paragraph("letterhead"), "hdr"),
        "header2.xml": body(paragraph("letterhead"), "hdr"),
        "footer1.xml": body(paragraph("bank account"), "ftr"),
        "footnotes.xml": body(
            f'<w:footnote w:type="separator" w:id="0">{paragraph("line")}</w:footnote>'
            f'<w:footnote w:id="2">{paragraph("the note")}</w:footnote>',
            "footnotes",
        ),
    }
    kinds = {"header1.xml": "header", "header2.xml": "header", "footer1.xml": "footer", "footnotes.xml": "footnotes"}
    assert texts(document(content, parts, kinds)) == ["letterhead\nbody\nbank account\nthe note", "next page"]


def test_comments_are_marked_as_such() -> None:
    content = '<w:p><w:r><w:t>text</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>'
    parts: dict[str, str | bytes] = {
        "comments.xml": body(f'<w:comment w:id="0">{paragraph("too dear")}</w:comment>', "comments")
    }
    assert text(document(content, parts, {"comments.xml": "comments"})) == "text\nComment:\ntoo dear"


def _numbering(*levels: tuple[str, str]) -> str:
    written = "".join(
        f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{pattern}"/></w:lvl>'
        for number, (form, pattern) in enumerate(levels)
    )
    return body(
        f'<w:abstractNum w:abstractNumId="0">{written}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>',
        "numbering",
    )


def _item(words: str, level: int = 0, number: int = 1) -> str:
    return paragraph(words, f'<w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr></w:pPr>')


def test_clauses_carry_the_numbers_that_word_shows() -> None:
    content = (
        _item("Term") + _item("Start", 1) + _item("End", 1) + _item("Price") + _item("Net", 1) + _item("Six", 0, 2)
    )
    parts: dict[str, str | bytes] = {"numbering.xml": _numbering(("decimal", "%1."), ("lowerRoman", "%1.%2"))}
    assert text(document(content, parts, {"numbering.xml": "numbering"})).split("\n") == [
        "1. Term", "1.i Start", "1.ii End", "2. Price", "2.i Net", "5. Six",
    ]  # fmt: skip


def test_a_style_numbers_its_paragraphs_and_number_zero_takes_it_off() -> None:
    styles = body(
        '<w:style w:styleId="Base"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="Clause"><w:basedOn w:val="Base"/></w:style>'
        '<w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>',
        "styles",
    )
    content = "".join(
        paragraph(words, f'<w:pPr><w:pStyle w:val="{style}"/>{off}</w:pPr>')
        for words, style, off in (
            ("first", "Clause", ""),
            ("none", "Clause", '<w:numPr><w:numId w:val="0"/></w:numPr>'),
            ("loop", "Loop", ""),
            ("second", "Clause", ""),
        )
    )
    parts: dict[str, str | bytes] = {"numbering.xml": _numbering(("upperLetter", "(%1)")), "styles.xml": styles}
    kinds = {"numbering.xml": "numbering", "styles.xml": "styles"}
    assert text(document(content, parts, kinds)) == "(A) first\nnone\nloop\n(B) second"


@pytest.mark.parametrize("namespace", ["http://purl.oclc.org/ooxml/wordprocessingml/main", "urn:whatever"])
def test_strict_and_unknown_editions_are_read_alike(namespace: str) -> None:
    plain = (
        body(paragraph("strict"))
        .replace("http://schemas.openxmlformats.org/wordprocessingml/2006/main", namespace)
        .replace("UTF-8", "UTF-16")
    )
    assert text(packed({"[Content_Types].xml": "", "word/document.xml": plain.encode("utf-16")})) == "strict"


def test_the_body_may_have_another_name() -> None:
    content = packed(
        {
            "[Content_Types].xml": "",
            "_rels/.rels": '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="/word/document2.xml"/>'
            "</Relationships>",
            "word/document2.xml": body(paragraph("from the cloud")),
        }
    )
    assert text(content) == "from the cloud"


MILLION_WORDS = f"<w:r><w:t>{'words ' * 1_000_000}</w:t></w:r>"


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (f'<!DOCTYPE x [<!ENTITY a "b">]>{body(paragraph("x")).partition("?>")[2]}', "document type"),
        (body("<w:a>" * 3000 + "</w:a>" * 3000), "nested more than 2,000 deep"),
        (body(f'<w:p w:a="{"x" * 9_000_000}"/>'), "a tag of more than 8 MB"),
        (body(f"<w:p>{MILLION_WORDS * 6}</w:p>"), "30,000,000"),
    ],
    ids=["entities", "depth", "tag", "paragraph"],
)
def test_xml_that_grows_without_end_is_a_bomb(part: str, words: str) -> None:
    reason, sentence = refusal(packed({"[Content_Types].xml": "", "word/document.xml": part}))
    assert reason is Reason.BOMB
    assert words in sentence


def test_deeply_nested_tables_and_boxes_are_read() -> None:
    deep = "<w:tbl><w:tr><w:tc>" * 500 + paragraph("core") + "</w:tc></w:tr></w:tbl>" * 500
    assert text(document(deep)).split() == ["core"]


def test_more_pages_than_allowed_end_the_reading() -> None:
    reason, sentence = refusal(build(["x"] * 6), "document", small(1, max_pages=5))
    assert reason is Reason.TOO_MANY_PAGES
    assert "limits.max_pages" in sentence


def test_a_document_without_marks_is_cut_by_length_and_loses_no_line() -> None:
    lines = [f"Paragraph {number}" for number in range(450)]
    found = texts(document("".join(map(paragraph, lines))))
    assert len(found) == 3
    assert "\n".join(found).split("\n") == lines


def test_broken_xml_is_corrupt_and_names_the_part() -> None:
    reason, sentence = refusal(packed({"[Content_Types].xml": "", "word/document.xml": "<w:document><w:body>"}))
    assert reason is Reason.CORRUPT
    assert "word/document.xml" in sentence


def test_signs_of_picture_fonts_are_characters_and_unknown_ones_are_nothing() -> None:
    assert symbol("Symbol", "F061") == "\u03b1"
    assert symbol("Wingdings 2", "F052") == "\u2611"
    assert symbol("Wingdings", "F001") == ""
    assert symbol("Arial", "20AC") == "\u20ac"
    assert [symbol("x", code) for code in ("", "zz", "D800", "FFFFFFFF")] == ["", "", "", ""]


def test_the_note_of_a_page_is_empty_when_nothing_is_to_be_said() -> None:
    assert [page.note for page in pages(build(["a", "b"]))] == ["", ""]


def test_a_section_that_word_began_on_a_new_page_keeps_it_though_it_is_continuous() -> None:
    continuous = '<w:p><w:pPr><w:sectPr><w:type w:val="continuous"/></w:sectPr></w:pPr></w:p>'
    first = "<w:p><w:pPr><w:sectPr/></w:pPr><w:r><w:t>one</w:t></w:r></w:p>"
    assert texts(document(first + paragraph("two", RENDERED) + continuous)) == ["one", "two"]


def test_the_paragraph_that_ends_a_section_belongs_to_it() -> None:
    last = "<w:p><w:pPr><w:sectPr/></w:pPr><w:r><w:t>of one</w:t></w:r></w:p>"
    assert texts(document(paragraph("one") + last + paragraph("two") + "<w:sectPr/>")) == ["one\nof one", "two"]


def test_a_title_across_a_table_pushes_no_column() -> None:
    title = _cell(paragraph("A title as long as a line"), '<w:gridSpan w:val="2"/>')
    found = layout(document(_table(title, _cell(paragraph("a")) + _cell(paragraph("b")))))
    assert found == ["A title as long as a line", "a  b"]

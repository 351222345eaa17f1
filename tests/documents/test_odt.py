"""OpenDocument text and slides: paragraphs, lists, tables, notes and pages; changes and formulas are no text."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from pipeline.reasons import Reason
from tests.documents.packing import packed
from tests.documents.reading import files, layout, refusal, text, texts
from tests.documents.samples import odp
from tests.documents.samples.odt import SPACES, TURN, content, document, paragraph

NUMBERS = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"'
    ' style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" text:display-levels="2"'
    ' style:num-prefix="(" style:num-suffix=")"/></text:list-style>'
    '<text:list-style style:name="B"><text:list-level-style-bullet text:level="1"/></text:list-style>'
)


def _list(items: str, style: str = "L") -> str:
    return f'<text:list text:style-name="{style}">{items}</text:list>'


def _item(words: str, inner: str = "", attributes: str = "") -> str:
    return f"<text:list-item {attributes}>{paragraph(words)}{inner}</text:list-item>"


def test_spaces_tabs_and_breaks_are_characters_and_spaces_have_an_end() -> None:
    inside = '<text:p>a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d\n e<text:s text:c="200000"/>f</text:p>'
    assert text(document("text", inside)) == "a   b\tc\nd  e" + " " * 200 + "f"


def test_tracked_changes_and_alternative_texts_are_left_out() -> None:
    inside = (
        f"<text:tracked-changes><text:deletion>{paragraph('deleted')}</text:deletion></text:tracked-changes>"
        '<text:p>kept<draw:frame><svg:title xmlns:svg="s">a picture</svg:title></draw:frame></text:p>'
    )
    assert text(document("text", inside)) == "kept"


def test_list_items_and_headings_carry_their_numbers() -> None:
    outline = (
        '<text:outline-style style:name="O"><text:outline-level-style text:level="1" style:num-format="I"'
        ' style:num-suffix="."/></text:outline-style>'
    )
    parts: dict[str, str | bytes] = {
        "styles.xml": f"<office:document-styles {SPACES}>{outline}</office:document-styles>"
    }
    inner = f"<text:list>{_item('in')}{_item('ner')}</text:list>"
    inside = (
        '<text:h text:outline-level="1">Terms</text:h>'
        + _list(_item("one", inner) + _item("two"))
        + _list(_item("anew") + _item("nine", attributes='text:start-value="9"'))
        + _list(_item("dot"), "B")
        + '<text:h text:outline-level="1">End</text:h>'
    )
    assert text(document("text", inside, parts, styles=NUMBERS)).split("\n") == [
        "I. Terms", "1. one", "(1.a) in", "(1.b) ner", "2. two", "1. anew", "9. nine", "\u2022 dot", "II. End",
    ]  # fmt: skip


def test_rows_are_lines_and_covered_cells_keep_the_columns() -> None:
    def cells(*words: str) -> str:
        shown = (f"<table:table-cell>{paragraph(word)}</table:table-cell>" for word in words)
        return f"<table:table-row>{''.join(shown)}</table:table-row>"

    covered = (
        f"<table:table-row><table:table-cell>{paragraph('x')}</table:table-cell><table:covered-table-cell/>"
        f"<table:table-cell>{paragraph('y')}</table:table-cell></table:table-row>"
    )
    inside = f"<table:table>{cells('Item', 'Qty', 'Total')}{covered}</table:table>"
    assert layout(document("text", inside)) == ["Item  Qty  Total", "x          y"]


def test_notes_close_their_page_and_comments_are_marked() -> None:
    inside = (
        "<text:p>text<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        f"{paragraph('the note')}</text:note-body></text:note><office:annotation>"
        "<dc:creator xmlns:dc='d'>me</dc:creator>"
        f"{paragraph('a remark')}</office:annotation></text:p>{paragraph('next', 'turn')}"
    )
    assert texts(document("text", inside)) == ["text\nthe note\nComment:\na remark", "next"]


def test_pages_end_at_styles_master_pages_and_where_the_program_ended_them() -> None:
    master = '<style:style style:name="m" style:family="paragraph" style:master-page-name="Landscape"/>'
    inside = (
        paragraph("one")
        + paragraph("two", "turn")
        + "<text:p>still<text:soft-page-break/>three</text:p>"
        + paragraph("four", "m")
    )
    assert texts(document("text", inside, styles=TURN + master)) == ["one", "two\nstill", "three", "four"]


def test_headers_open_and_footers_close_the_first_page_each_once() -> None:
    pages = "".join(
        f"<style:master-page><style:header>{paragraph('letterhead')}</style:header>"
        f"<style:footer>{paragraph('bank')}</style:footer></style:master-page>"
        for _ in range(2)
    )
    parts: dict[str, str | bytes] = {
        "styles.xml": f"<office:document-styles {SPACES}><office:master-styles>{pages}</office:master-styles>"
        "</office:document-styles>"
    }
    inside = paragraph("body") + paragraph("next", "turn")
    assert texts(document("text", inside, parts)) == ["letterhead\nbody\nbank", "next"]


def test_a_flat_file_is_read_like_a_package() -> None:
    raw = content("text", paragraph("flat") + paragraph("second", "turn"))
    raw = raw.replace(
        "<office:document-content", '<office:document office:mimetype="application/vnd.oasis.opendocument.text"'
    )
    raw = raw.replace("</office:document-content>", "</office:document>")
    assert texts(f'<?xml version="1.0"?>{raw}'.encode()) == ["flat", "second"]


@pytest.mark.parametrize("name", ["a.odt", "a"])
def test_a_package_that_does_not_say_what_it_is_goes_by_its_name(name: str) -> None:
    raw = packed({"content.xml": content("text", paragraph("unsaid")), "META-INF/manifest.xml": ""})
    assert texts(raw, name) == ["unsaid"]


def test_an_encrypted_document_needs_a_password() -> None:
    manifest = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>"
    reason, _ = refusal(document("text", "", {"META-INF/manifest.xml": manifest, "content.xml": b"\x00\x01"}))
    assert reason is Reason.NEEDS_PASSWORD


def test_entities_are_refused() -> None:
    assert refusal(document("text", "", {"content.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'}))[0] is Reason.BOMB


def test_a_pasted_scan_is_a_child_and_a_logo_is_not() -> None:
    file = io.BytesIO()
    Image.new("L", (800, 1100)).save(file, "PNG")
    found = files(document("text", paragraph("short"), {"Pictures/1.png": file.getvalue(), "Pictures/2.png": b"x"}))
    assert found == [("1.png", "", file.getvalue()), ("2.png", "decoration: a drawing", None)]


def test_a_slide_is_a_page_with_its_notes_and_a_blank_one_counts() -> None:
    notes = f"<presentation:notes>{paragraph('say this')}</presentation:notes>"
    inside = odp.slide(paragraph("title")).replace("</draw:page>", f"{notes}</draw:page>") + "<draw:page/>"
    assert texts(document("presentation", inside)) == ["title\nsay this", ""]

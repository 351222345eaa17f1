"""PowerPoint presentations: a slide a page, in the order of the show, with what belongs to it."""

from __future__ import annotations

from tests.documents.packing import packed
from tests.documents.reading import files, layout, pages, texts
from tests.documents.samples.docx import relations
from tests.documents.samples.pptx import A, build, paragraphs, presentation, slide


def test_a_slide_without_text_is_a_page_all_the_same() -> None:
    assert texts(presentation([slide(""), slide(paragraphs("second"))])) == ["", "second"]


def test_slides_come_in_the_order_of_the_show_not_of_their_names() -> None:
    content = packed(
        {
            "[Content_Types].xml": "",
            "ppt/presentation.xml": '<p xmlns:r="r"><sldId r:id="b"/><sldId r:id="a"/><sldId r:id="gone"/></p>',
            "ppt/_rels/presentation.xml.rels": relations(
                {"a": ("slide", "slides/slide1.xml"), "b": ("slide", "slides/slide2.xml")}
            ),
            "ppt/slides/slide1.xml": slide(paragraphs("last")),
            "ppt/slides/slide2.xml": slide(paragraphs("first")),
        }
    )
    assert texts(content) == ["first", "last"]


def test_a_hidden_slide_is_read_and_noted() -> None:
    found = pages(presentation([slide(paragraphs("a")), slide(paragraphs("b"), attributes=' show="0"')]))
    assert [(page.text, page.note) for page in found] == [("a", ""), ("b", "slide 2, hidden")]


def test_tables_are_rows_and_line_breaks_are_lines() -> None:
    cells = "".join(f"<a:tc><a:txBody>{paragraphs(words)}</a:txBody></a:tc>" for words in ("Item", "Price"))
    table = f"<a:tbl><a:tr>{cells}</a:tr></a:tbl><a:p><a:r><a:t>one</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r></a:p>"
    assert layout(presentation([slide(table)])) == ["Item  Price", "one", "two"]


def test_notes_diagrams_and_charts_follow_the_slide_and_its_number_is_left_out() -> None:
    number = '<a:p><a:fld type="slidenum"><a:t>1</a:t></a:fld></a:p>'
    parts: dict[str, str | bytes] = {
        "ppt/slides/_rels/slide0.xml.rels": relations(
            {
                "r1": ("notesSlide", "../notesSlides/notesSlide1.xml"),
                "r2": ("diagramData", "../diagrams/data1.xml"),
                "r3": ("chart", "../charts/chart1.xml"),
            }
        ),
        "ppt/notesSlides/notesSlide1.xml": slide(paragraphs("say this") + number, root="notes"),
        "ppt/diagrams/data1.xml": f"<d xmlns:a='{A}'><t>{paragraphs('step one')}</t></d>",
        "ppt/charts/chart1.xml": f"<c xmlns:a='{A}'>{paragraphs('Sales')}</c>",
    }
    assert texts(presentation([slide(paragraphs("title"))], parts)) == ["title\nstep one\nSales\nsay this"]


def test_embedded_files_are_children() -> None:
    assert files(presentation([slide("")], {"ppt/embeddings/data.xlsx": b"PK"})) == [("data.xlsx", "", b"PK")]
    assert files(build(["a"])) == []

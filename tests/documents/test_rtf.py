"""RTF: every character set, what is on paper only, rows as lines, pages, and groups that have an end."""

from __future__ import annotations

import pytest

from pipeline.reasons import Reason
from tests.documents.reading import layout, pages, refusal, text, texts
from tests.documents.samples.rtf import build, document, escaped


def test_every_character_survives() -> None:
    words = "Müller \\ {braces} € 東京 \U00010332 ß"
    assert text(build([words])) == words


@pytest.mark.parametrize(
    ("charset", "raw", "shown"),
    [
        (128, "\\'93\\'8c\\'8b\\'9e", "東京"),
        (128, "\\'83A", "ア"),
        (204, "\\'cf\\'f0", "Пр"),
        (238, "\\'b3", "ł"),
        (2, "\\'61", "α"),
        (0, "\\'80", "€"),
    ],
)
def test_bytes_are_read_in_the_character_set_of_their_font(charset: int, raw: str, shown: str) -> None:
    content = f"{{\\rtf1\\ansi{{\\fonttbl{{\\f0\\fcharset0 A;}}{{\\f1\\fcharset{charset} B;}}}}\\f1 {raw}\\f0 x}}"
    assert text(content.encode()) == f"{shown}x"


@pytest.mark.parametrize(("page", "shown"), [(1251, "П"), (65001, "?"), (99999, "Ï"), (10000, "œ")])
def test_the_code_page_of_the_document_holds_where_the_font_says_nothing(page: int, shown: str) -> None:
    found = text(f"{{\\rtf1\\ansi\\ansicpg{page} \\'cf}}".encode())
    assert found == shown.replace("?", "\N{REPLACEMENT CHARACTER}")


def test_the_stand_in_of_a_character_is_passed_over_as_often_as_is_said() -> None:
    assert text(b"{\\rtf1\\uc1 \\u26481?\\u20140\\'3f{\\uc2 \\u8364??}\\uc0\\u8364 ?}") == "東京€€?"


def test_what_is_not_on_paper_is_left_out() -> None:
    content = (
        "{\\*\\generator Writer;}{\\info{\\title T}}{\\stylesheet{Normal;}}{\\pict\\pngblip 89504e47 {\\nested 00}}"
        "{\\v hidden}{\\deleted removed}{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt link}} kept{\\*\\unknown {x}}"
    )
    assert text(document(content)) == "link kept"


def test_binary_data_is_passed_over() -> None:
    assert text(b"{\\rtf1 a{\\pict\\bin5 }}{}\\}b}") == "ab"


def test_a_picture_of_many_digits_is_passed_over_to_its_end() -> None:
    assert text(document("a{\\pict " + "00ff\n" * 200_000 + "}b")) == "ab"


def test_rows_are_lines_with_columns_below_each_other() -> None:
    def row(*cells: str) -> str:
        return "\\trowd\\pard\\intbl " + "".join(f"{cell}\\cell " for cell in cells) + "\\row "

    content = document("before\\par " + row("Item", "Qty", "Total") + row("Bolts", "", "12.50") + "\\pard after\\par")
    assert layout(content) == [
        "before",
        "Item   Qty  Total",
        "Bolts       12.50".replace("       ", "       ", 1),
        "after",
    ]


def test_several_lines_and_a_table_within_a_cell_stay_in_it() -> None:
    content = (
        "\\trowd\\pard\\intbl Acme\\par High Street\\cell\\pard\\intbl\\itap2 in\\nestcell ner\\nestcell"
        "{\\*\\nesttableprops\\trowd\\nestrow}{\\nonesttables\\par}\\pard\\intbl x\\cell\\row\\pard after\\par"
    )
    assert layout(document(content)) == ["Acme         in  ner", "High Street  x", "after"]


def test_headers_open_and_footers_and_notes_close_the_page() -> None:
    content = (
        "{\\header letterhead\\par}{\\headerf letterhead\\par}{\\footer bank\\par}body{\\footnote the note}\\par"
        "{\\*\\annotation {\\*\\atnid 1}a remark}\\page next\\par"
    )
    assert texts(document(content)) == ["letterhead\nbody\nbank\nthe note\nComment:\na remark", "next"]


def test_a_text_box_is_read_once() -> None:
    content = (
        "{\\shp{\\*\\shpinst{\\sp{\\sn x}{\\sv 1}}{\\shptxt in the box\\par}}{\\shprslt in the box}}beside it\\par"
    )
    assert text(document(content)) == "in the box\nbeside it"


def test_sections_start_pages_unless_they_continue() -> None:
    content = "one\\par\\sect\\sectd\\sbknone still one\\par\\sect\\sectd two\\par"
    assert texts(document(content)) == ["one\nstill one", "two"]


def test_a_file_without_its_end_is_read_and_noted() -> None:
    (page,) = pages(document("all there is")[:-6])
    assert page.text == "all the"
    assert page.note == "the end of the file is missing"


@pytest.mark.parametrize(
    "content", ["}" * 50 + "after", "\\u", "\\'", "\\cell\\row\\nestrow\\nestcell", "\\fcharset9 x"]
)
def test_words_out_of_place_harm_nothing(content: str) -> None:
    assert isinstance(texts(b"{\\rtf1 " + content.encode() + b"}"), list)


def test_groups_without_end_are_a_bomb() -> None:
    reason, sentence = refusal(b"{\\rtf1 " + b"{" * 100_000)
    assert reason is Reason.BOMB
    assert "2,000 deep" in sentence


def test_escaping_is_plain_for_plain_text() -> None:
    assert escaped("a b") == "a b"

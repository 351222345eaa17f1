"""Of a web page a reader's text remains: blocks, rows and columns, nothing hidden, in a time by its length alone."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.contract import Means
from pipeline.documents.formats.html import format as html
from pipeline.documents.paging import PAGE_CHARACTERS
from pipeline.documents.text import Page
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

LOGIN = b"<html><head><title>Sign in</title></head><body><form>Password <input type='password'></form></body></html>"
LETTER = (
    b"<html><body>" + b"<p>Dear Madam, we thank you for the order and send the invoice.</p>" * 12 + b"</body></html>"
)


def _pages(content: bytes | str) -> list[Page]:
    raw = content.encode() if isinstance(content, str) else content
    with html.open(io.BytesIO(raw), Means()) as document:
        return [document.read_page(number) for number in range(1, document.page_count + 1)]


def _text(body: str) -> str:
    return "\n".join(page.text for page in _pages(f"<html><body>{body}</body></html>"))


def _layout(body: str) -> str:
    return "\n".join(page.layout for page in _pages(f"<html><body>{body}</body></html>"))


def test_blocks_begin_lines_and_inline_tags_do_not() -> None:
    body = "<h1>Invoice&nbsp;7</h1><div>for <b>Chairs</b> &amp;\n  <i>tables</i><p>due<br>soon</div>tail<hr>end"
    assert _text(body) == "Invoice 7\nfor Chairs & tables\ndue\nsoon\ntail\nend"


def test_what_nobody_sees_is_left_out() -> None:
    body = (
        "a<script>var x = '<p>no</p>';</script><style>p {}</style><!-- no <b>no</b> --><template>no</template>"
        "<div style='display : none'>no<div>no</div>no</div><p hidden>no<p>b<span style='mso-hide:all'>no</span>"
        "<div title='hidden here'>c</div><div aria-label=\"a > b\">d</div>"
    )
    assert _text(body).split() == ["a", "b", "c", "d"]


def test_rows_of_a_table_are_rows_and_its_columns_line_up() -> None:
    body = (
        "<table><tr><th>Item<th>Pieces<th>Amount</tr><tr><td>Chair, oak<td>2<td>100.00</td></tr>"
        "<tr><td>Lamp</td><td></td><td>9.50</td><tr><td colspan=2>Total</td><td>109.50</td></table>after"
    )
    assert _text(body) == "Item  Pieces  Amount\nChair, oak  2  100.00\nLamp  9.50\nTotal  109.50\nafter"
    assert _layout(body).split("\n") == [
        "Item        Pieces  Amount",
        "Chair, oak  2       100.00",
        "Lamp                9.50",
        "            Total   109.50",
        "after",
    ]


def test_cells_of_several_lines_stand_side_by_side_in_the_layout_and_in_order_in_the_text() -> None:
    body = "<table><tr><td>Chairs Ltd<br>1 Oak Street<td><p>Invoice 7<p>of May</table>"
    assert _text(body) == "Chairs Ltd\n1 Oak Street\nInvoice 7\nof May"
    assert _layout(body) == "Chairs Ltd    Invoice 7\n1 Oak Street  of May"


def test_tables_in_tables_keep_all_their_words() -> None:
    body = "<table><tr><td>a<table><tr><td>b<td>c</table>d<td>e</table>"
    assert _text(body).split() == ["a", "b", "c", "d", "e"]


def test_preformatted_text_keeps_its_lines_and_blanks() -> None:
    assert _text("<pre>Chair   10.00\n  Lamp  9.50</pre>") == "Chair   10.00\n  Lamp  9.50"


@pytest.mark.parametrize(
    ("encoding", "meta"),
    [
        ("utf-8", "<meta charset=utf-8>"),
        ("cp1252", "<meta http-equiv='Content-Type' content='text/html; charset=iso-8859-1'>"),
        ("utf-16", ""),
        ("utf-16-le", "<meta charset='utf-16le'>"),
        ("utf-8", "<meta charset='iso-8859-1'>"),
        ("utf-8", "<meta http-equiv=Content-Type content='text/html; charset=shift_jis'>"),
        ("cp1252", "<meta charset=utf-8>"),
        ("cp1252", ""),
    ],
)
def test_the_bytes_decide_on_the_encoding_and_the_page_may_say_what_it_likes(encoding: str, meta: str) -> None:
    content = f"<html><head>{meta}</head><body>Büro für Möbel, Größe über alles</body></html>".encode(encoding)
    (page,) = _pages(content)
    assert page.text == "Büro für Möbel, Größe über alles"
    assert page.figures["encoding"]


def test_a_declared_encoding_is_believed_where_nothing_speaks_against_it() -> None:
    content = "<html><meta charset='koi8-r'><body>Счёт за март</body></html>".encode("koi8-r")
    assert _pages(content)[0].text == "Счёт за март"


def test_xhtml_is_read_and_its_document_type_fetched_from_nowhere() -> None:
    content = (
        "<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' "
        "'http://127.0.0.1:9/x.dtd'>\n<html xmlns='http://www.w3.org/1999/xhtml'><body><p>Größe</p><script/><p>B</p></body></html>"
    )
    assert _pages(content)[0].text == "Größe\nB"


@pytest.mark.parametrize(
    "hostile",
    [
        "<div>" * 200_000 + "deep",
        "<b><i>" * 200_000 + "deep",
        "<table><tr><td>" * 100_000 + "deep",
        "<a " * 300_000 + "deep",
        "<a '" * 200_000 + "deep",
        "<!--" * 300_000 + "deep",
        "<" * 500_000 + "deep",
        "<script>" * 200_000 + "deep",
        "</script " * 200_000 + "deep",
        "&" * 500_000 + "deep",
        "<p style='" + "a" * 1_000_000 + "'>deep",
        "<p hidden><div hidden>" * 100_000,
    ],
)
def test_no_depth_and_no_brokenness_costs_more_than_its_length(hostile: str) -> None:
    assert _pages(f"<html><body>{hostile}")


def test_a_line_without_end_is_cut_into_pages_that_can_be_searched() -> None:
    pages = _pages("<html><body>" + "word " * 50_000)
    assert max(len(page.text) for page in pages) <= PAGE_CHARACTERS
    assert sum(page.text.count("word") for page in pages) == 50_000


@pytest.mark.parametrize(
    ("content", "name", "is_read"),
    [
        (LOGIN, "login.html", True),
        (LOGIN, "page.HTM", True),
        (LOGIN, "invoice.pdf", False),
        (LOGIN, "invoice", False),
        (LETTER, "letter.html", True),
        (LETTER, "letter", True),
        (LETTER, "letter.txt", True),
        (LETTER, "letter.pdf", False),
        (b"plain text <b>with</b> a tag", "a.html", False),
        (b"<?xml version='1.0'?><order/>", "a.html", False),
    ],
)
def test_a_page_is_a_document_when_it_is_named_so_or_plainly_is_one(content: bytes, name: str, is_read: bool) -> None:
    assert (html.recognises(content, content, name) == "text/html") is is_read


@given(st.binary(max_size=600), st.sampled_from(["<table><tr><td>", "<p hidden>", "<pre>", "<!--", "<a href='"]))
def test_any_bytes_in_a_page_give_pages_or_a_named_refusal(noise: bytes, before: str) -> None:
    assert _pages(b"<html><body>" + before.encode() + noise + b"<td>x</html>")


def test_a_page_that_is_too_large_for_memory_is_refused_by_its_size() -> None:
    class Huge(io.BytesIO):
        def seek(self, offset: int, whence: int = 0) -> int:
            return super().seek(offset, whence) if whence == 0 or offset else 60_000_000

    with pytest.raises(DocumentError) as refusal, html.open(Huge(LETTER), Means()):
        pass
    assert refusal.value.reason is Reason.TOO_LARGE
    assert "60.0 MB" in str(refusal.value)

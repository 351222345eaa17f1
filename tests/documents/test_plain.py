"""Plain text in every encoding that arrives, in pages of bounded size, and never what only looks like text."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.contract import Means
from pipeline.documents.formats.plain import format as plain
from pipeline.documents.paging import PAGE_CHARACTERS, PAGE_LINES
from pipeline.documents.text import Page
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

GERMAN = "Rechnung Nr. 4711\nBetrag: 1.234,50 \u20ac f\u00fcr B\u00fcrost\u00fchle\n"


def _pages(content: bytes) -> list[Page]:
    with plain.open(io.BytesIO(content), Means()) as document:
        return [document.read_page(number) for number in range(1, document.page_count + 1)]


def _texts(content: bytes) -> list[str]:
    return [page.text for page in _pages(content)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_umlauts_and_the_euro_survive_every_encoding(encoding: str) -> None:
    assert _texts(GERMAN.encode(encoding)) == [GERMAN]


@pytest.mark.parametrize(("mark", "encoding"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
def test_a_byte_order_mark_tells_the_order_and_is_no_text(mark: bytes, encoding: str) -> None:
    assert _texts(mark + GERMAN.encode(encoding)) == [GERMAN]


def test_one_bad_byte_does_not_spoil_a_long_utf8_text() -> None:
    (text,) = _texts(GERMAN.encode() * 20 + b"\xff\n")
    assert text.count("B\u00fcrost\u00fchle") == 20


def test_a_form_feed_ends_a_page_and_one_at_the_end_starts_none() -> None:
    assert _texts(b"one\ftwo\f\n") == ["one", "two"]


def test_long_text_has_pages_and_loses_no_line() -> None:
    lines = [f"line {number}" for number in range(2 * PAGE_LINES + 1)]
    pages = _texts("\r\n".join(lines).encode())
    assert len(pages) == 3
    assert "\n".join(pages).split("\n") == lines


def test_one_endless_line_is_cut_into_pages_that_can_be_searched() -> None:
    pages = _texts(b"word " * 50_000)
    assert "".join(pages) == "word " * 50_000
    assert max(map(len, pages)) == PAGE_CHARACTERS


def test_the_name_tells_csv_from_other_text() -> None:
    content = b"number;amount\n4711;1,50\n"
    assert plain.recognises(content, content, "export.CSV") == "text/csv"
    assert plain.recognises(content, content, "export") == "text/plain"


@pytest.mark.parametrize(
    "content",
    [
        b"a long text with one NUL\x00 in it" + b" and more words" * 50,
        b"\x01\x02\x03" * 50 + b"words",
        b"<html><body>Session expired</body></html>",
        b"  <!DOCTYPE html>\n<p>x</p>",
        b"\xef\xbb\xbf<?xml version='1.0'?><Invoice/>",
        b"<Invoice xmlns='urn:x'><ID>1</ID></Invoice>",
        b"Subject: invoice\nMIME-Version: 1.0\n\nbody",
        b"%PDF-1.4 in text",
        b"{\\rtf1 hello}",
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.pdf"])
def test_what_only_looks_like_text_is_refused(content: bytes, name: str) -> None:
    assert plain.recognises(content, content, name) is None
    with pytest.raises(DocumentError) as refusal:
        _texts(content)
    assert refusal.value.reason is Reason.UNSUPPORTED


@pytest.mark.parametrize(
    "content", [b"BMW 320d, 2 pieces", b"MZ: 12", b"a < b and c > d", b"<joe@example.org> wrote", b"\n"]
)
def test_what_only_begins_like_something_else_is_text(content: bytes) -> None:
    assert plain.recognises(content, content, "") == "text/plain"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1).filter(lambda text: "<" not in text))
def test_any_utf8_text_is_recognised(text: str) -> None:
    content = ("- " + text).encode()
    assert plain.recognises(content, content, "") == "text/plain"


TABLE = 'Item;Pieces;Amount\nChair, oak;2;100,00\n"Lamp; small";;9,50\n'


def test_the_layout_of_a_table_has_its_cells_in_columns_and_the_text_is_as_written() -> None:
    (page,) = _pages(TABLE.encode())
    assert page.text == TABLE
    assert page.layout.split("\n") == [
        "Item         Pieces  Amount",
        "Chair, oak   2       100,00",
        "Lamp; small          9,50",
    ]
    assert page.figures["delimiter"] == ";"


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_every_usual_delimiter_is_found(sign: str) -> None:
    rows = [["Number", "Name", "City"], ["1", "Ada", "London"], ["2", "Bo", "Oslo"]]
    (page,) = _pages("\n".join(sign.join(row) for row in rows).encode())
    assert page.layout == "Number  Name  City\n1       Ada   London\n2       Bo    Oslo"


@pytest.mark.parametrize(
    "prose",
    [
        "Dear Madam,\nwe send, as agreed, the chairs; the lamps follow.\nYours, A",
        "one line; only\n",
        "Chair    100.00\nLamp       9.50\n",
    ],
)
def test_prose_is_no_table(prose: str) -> None:
    (page,) = _pages(prose.encode())
    assert page.layout == page.text == prose


def test_a_field_of_megabytes_and_a_quote_that_is_never_closed_cost_nothing() -> None:
    field = "x" * 3_000_000
    assert "".join(_texts(f'a,b\n1,"{field}"\n2,"open\n'.encode())).count("x") == len(field)


def test_a_wide_cell_does_not_swell_every_row() -> None:
    (page,) = _pages(("a,b\n" + "x" * 50_000 + ",1\n" + "1,2\n" * 150).encode())
    assert len(page.layout) < 70_000


def test_the_encoding_is_told() -> None:
    assert [_pages(GERMAN.encode(each))[0].figures["encoding"] for each in ("utf-8", "cp1252")] == ["utf-8", "cp1252"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "cp500", "cp866", "cp932"])
def test_text_without_a_mark_is_recognised_in_encodings_that_look_like_binary(encoding: str) -> None:
    words = {"cp866": "Счёт-фактура от пятого марта", "cp932": "請求書番号、お支払いありがとうございます"}.get(
        encoding, "Invoice 4711 for the delivery of forty chairs, total 1,234.50"
    )
    content = words.encode(encoding)
    assert plain.recognises(content, content, "") == "text/plain"
    assert _texts(content) == [words]


def test_noise_is_no_text_in_any_encoding() -> None:
    for seed in range(300):
        noise = random.Random(seed).randbytes(40 + 13 * seed)  # noqa: S311
        assert plain.recognises(noise, noise, "a.txt") is None

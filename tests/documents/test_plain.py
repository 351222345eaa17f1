"""Plain text in every encoding that arrives, in pages of bounded size, and never what only looks like text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.formats.plain import PAGE_CHARACTERS, PAGE_LINES
from pipeline.documents.formats.plain import format as plain
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

GERMAN = "Rechnung Nr. 4711\nBetrag: 1.234,50 \u20ac f\u00fcr B\u00fcrost\u00fchle\n"


def _texts(folder: Path, content: bytes) -> list[str]:
    path = folder / "document"
    path.write_bytes(content)
    with plain.open(path) as document:
        return [document.read_page(number).text for number in range(1, document.page_count + 1)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_umlauts_and_the_euro_survive_every_encoding(encoding: str, tmp_path: Path) -> None:
    assert _texts(tmp_path, GERMAN.encode(encoding)) == [GERMAN]


@pytest.mark.parametrize(("mark", "encoding"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
def test_a_byte_order_mark_tells_the_order_and_is_no_text(mark: bytes, encoding: str, tmp_path: Path) -> None:
    assert _texts(tmp_path, mark + GERMAN.encode(encoding)) == [GERMAN]


def test_one_bad_byte_does_not_spoil_a_long_utf8_text(tmp_path: Path) -> None:
    (text,) = _texts(tmp_path, GERMAN.encode() * 20 + b"\xff\n")
    assert text.count("B\u00fcrost\u00fchle") == 20


def test_a_form_feed_ends_a_page_and_one_at_the_end_starts_none(tmp_path: Path) -> None:
    assert _texts(tmp_path, b"one\ftwo\f\n") == ["one", "two"]


def test_long_text_has_pages_and_loses_no_line(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(2 * PAGE_LINES + 1)]
    pages = _texts(tmp_path, "\r\n".join(lines).encode())
    assert len(pages) == 3
    assert "\n".join(pages).split("\n") == lines


def test_one_endless_line_is_cut_into_pages_that_can_be_searched(tmp_path: Path) -> None:
    pages = _texts(tmp_path, b"word " * 50_000)
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
def test_what_only_looks_like_text_is_refused(content: bytes, name: str, tmp_path: Path) -> None:
    assert plain.recognises(content, content, name) is None
    with pytest.raises(DocumentError) as refusal:
        _texts(tmp_path, content)
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

"""Whatever a document says, what is stored can be stored; names and numbers are compared as people compare them."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.text import Document, Page, clean, display_name, identifier, identifiers

any_text = st.text(st.characters())  # surrogates and controls included


@given(any_text)
def test_clean_text_can_always_be_stored_and_is_clean_already(text: str) -> None:
    once = clean(text)
    once.encode("utf-8")
    assert clean(once) == once
    assert not {
        sign for sign in once if unicodedata.category(sign) in ("Cs", "Cc") and not sign.isspace() and sign < "\x80"
    }
    assert "\x00" not in once
    assert "\r" not in once


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"])))
def test_cleaning_keeps_every_readable_character(text: str) -> None:
    assert clean(text) == unicodedata.normalize("NFC", text)


def test_tabs_newlines_and_form_feeds_stay() -> None:
    assert clean("a\tb\r\nc\rd\fe\x00\x1b\ud800\ufffe") == "a\tb\nc\nd\fe"


@given(any_text, any_text, any_text)
def test_a_storable_page_is_storable_already(text: str, layout: str, error: str) -> None:
    page = Page(1, text, layout, error=error).storable()
    (page.text + page.layout + (page.error or "")).encode("utf-8")
    assert page.storable() == page


@given(st.binary())
def test_any_bytes_make_a_name_that_can_be_shown_and_stored(raw: bytes) -> None:
    name = display_name(raw)
    encoded = name.encode("utf-8")
    assert "\x00" not in name
    assert display_name(encoded) == name
    assert not any(unicodedata.category(sign) in ("Cc", "Cf", "Cs") for sign in name)


def test_a_name_that_hides_its_ending_is_shown_as_it_is() -> None:
    assert display_name("invoice\u202efdp.exe".encode()) == "invoice\ufffdfdp.exe"


@given(any_text)
def test_identifiers_are_plain_tokens_each_once(text: str) -> None:
    tokens = identifiers(text).split()
    assert len(tokens) == len(set(tokens))
    assert all(token.isascii() and token.isalnum() and len(token) >= 3 for token in tokens)


def test_a_part_of_an_invoice_number_is_found_however_it_is_written() -> None:
    assert identifiers("Invoice No. INV-2026/0042, due 7") == "inv20260042"
    assert identifier("0042") in identifiers("Invoice INV-2026-0042")
    assert identifier("inv 2026\u20110042") == identifier("INV-2026/0042")


def test_the_text_of_a_document_is_its_pages_joined() -> None:
    assert Document("a.pdf", "application/pdf", (Page(1, "one"), Page(2, "two"))).text == "one\ftwo"


@given(st.text(st.characters(categories=["Mn", "Lu"], max_codepoint=0x1200) | st.sampled_from("\u0344\u0301\u0323a")))
def test_text_full_of_marks_is_clean_already(text: str) -> None:
    stacked = text + "\u0344\u0323\u0301" * 20 + text
    assert clean(clean(stacked)) == clean(stacked)


def test_of_marks_without_end_on_one_letter_thirty_are_kept() -> None:
    marks = "\u0301\u0323" * 500_000  # in the wrong order: to sort a million takes hours
    assert len(clean(f"be{marks}fore")) < 40
    assert len(display_name(f"be{marks}fore.pdf".encode())) < 45
    assert identifier(f"7{marks}8") == "78"


def test_every_readable_mark_of_real_writing_is_kept() -> None:
    vietnamese = "Hợp đồng số 42 giữa các bên: Nguyễn Thị Hường, Đặng Quốc Việt " * 20
    assert clean(unicodedata.normalize("NFD", vietnamese)) == vietnamese

"""A message that Outlook saved is read as the mail that it was, messages inside of it included."""

from __future__ import annotations

import io
import struct
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.documents.formats import discover
from pipeline.documents.formats.eml import format as eml
from pipeline.documents.formats.msg import format as msg
from pipeline.documents.identify import identify
from pipeline.documents.mail.compressed_rtf import decompressed
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.documents import trees
from tests.documents.samples.msg import (
    TABLE,
    Tree,
    attached,
    binary,
    compound,
    enclosed,
    message,
    message_tree,
    record,
    wide,
)
from tests.documents.trees import unpack

PDF = trees.invoice_pdf("INV-1")
RTF = rb"{\rtf1\ansi The words of the RTF\par}"


def _packed(rtf: bytes) -> bytes:
    """RTF in Outlook's compression, every byte as it is but the first five, which stand in the window."""
    body = bytearray(b"\x01" + struct.pack(">H", 0 << 4 | 3) + rtf[5:12])
    for start in range(12, len(rtf), 8):
        body += b"\x00" + rtf[start : start + 8]
    return struct.pack("<II4sI", len(body) + 12, len(rtf), b"LZFu", 0) + bytes(body)


def _text(content: bytes) -> str:
    return "\f".join(unpack(msg, content)[0])


def test_the_text_says_who_wrote_whom_when_about_what_and_which_files_came() -> None:
    recipients: Tree = {
        f"__recip_version1.0_#0000000{number}": {
            TABLE: bytes(8) + record(0x0C15, 3, kind),
            wide(0x3001): name.encode("utf-16-le"),
            wide(0x39FE): f"{name}@example.org".encode("utf-16-le"),
        }
        for number, (kind, name) in enumerate([(1, "books"), (2, "boss"), (1, "bert")])
    }
    text = _text(message("Please pay.", "Invoice", recipients, attached("invoice.pdf", PDF)))
    assert text.split("\n") == [
        "From: Anna <anna@example.org>",
        "To: books <books@example.org>, bert <bert@example.org>",
        "Cc: boss <boss@example.org>",
        "Date: Mon, 02 Mar 2026 08:00:00 +0000",
        "Subject: Invoice",
        "",
        "Please pay.",
        "",
        "Attachments:",
        f"invoice.pdf ({len(PDF):,} bytes)",
    ]


def test_files_come_out_byte_by_byte_and_a_logo_is_left_out() -> None:
    html = {binary(0x1013): b'<p>Hello <img src="cid:logo"></p>'}
    large, logo = trees.picture(900, 1200), trees.picture(300, 100)
    files = attached("../a.pdf", PDF), attached("scan.png", large), attached("l.png", logo, "image/png", "logo")
    first, second, third = unpack(msg, message("", "s", html, *files))[1]
    assert (first.name, first.content) == ("a.pdf", PDF)
    assert second.content == large
    assert third.left_out == "decoration: an image of 300 x 100 pixels"


def test_a_message_in_a_message_in_a_message_is_a_mail_of_each() -> None:
    inner = message_tree("the innermost", "Inner", None, attached("a.pdf", PDF, "application/pdf"))
    middle = message_tree("the middle", "Middle", None, enclosed(inner))
    content = message("outer", "Outer", None, enclosed(middle))
    (found,) = unpack(msg, content)[1]
    assert (found.name, found.left_out) == ("Middle.eml", "")
    assert found.content == unpack(msg, content)[1][0].content
    pages, (deeper,) = unpack(eml, found.content or b"")
    assert "the middle" in pages[0]
    assert "Subject: Middle" in pages[0]
    pages, (deepest,) = unpack(eml, deeper.content or b"")
    assert "the innermost" in pages[0]
    assert (deepest.name, deepest.content) == ("a.pdf", PDF)


def test_messages_nested_deeper_than_allowed_are_left_out() -> None:
    tree = message_tree("innermost", "0", None)
    for depth in range(1, 9):
        tree = message_tree("text", str(depth), None, enclosed(tree))
    content = (
        unpack(msg, message("outer", "Outer", None, enclosed(tree)), trees.means(max_nesting=3))[1][0].content or b""
    )
    depth = 0
    while found := unpack(eml, content)[1]:
        content = found[0].content or b""
        depth += 1
    assert depth == 2


def test_html_is_read_where_there_is_no_plain_text() -> None:
    assert "caf\u00e9" in _text(message("", "s", {binary(0x1013): "<p>caf\u00e9</p>".encode()}))
    codepage = {binary(0x1013): "<p>\u0434\u043e\u043a\u0443\u043c\u0435\u043d\u0442</p>".encode("cp1251")}
    codepage[TABLE] = bytes(32) + record(0x3FDE, 3, 1251)
    assert "\u0434\u043e\u043a\u0443\u043c\u0435\u043d\u0442" in _text(message("", "s", codepage))


def test_rtf_is_read_where_there_is_nothing_else() -> None:
    assert decompressed(_packed(RTF)) == RTF
    assert "The words of the RTF" in _text(message("", "s", {binary(0x1009): _packed(RTF)}))
    assert "The words" not in _text(message("the plain text", "s", {binary(0x1009): _packed(RTF)}))


def test_texts_in_a_code_page_are_read() -> None:
    narrow = {
        "__substg1.0_0037001E": "M\u00e4rz f\u00fcr B\u00fcros".encode("cp1252"),
        TABLE: bytes(32) + record(0x3FFD, 3, 1252),
    }
    tree = {name: content for name, content in message_tree("x", "", None).items() if name != TABLE}
    assert "Subject: M\u00e4rz f\u00fcr B\u00fcros" in _text(compound({**tree, **narrow}))


def test_what_has_no_bytes_is_left_out_with_its_reason() -> None:
    linked: Tree = {TABLE: bytes(8) + record(0x3705, 3, 2), wide(0x3707): "a.doc".encode("utf-16-le")}
    other: Tree = {TABLE: bytes(8) + record(0x3705, 3, 6), "__substg1.0_3701000D": {"CONTENTS": b"x"}}
    reasons = [each.left_out for each in unpack(msg, message("x", "s", None, linked, other))[1]]
    assert reasons == ["a reference to a file that is elsewhere", "an object of another program"]


def test_another_compound_file_is_no_message() -> None:
    word = compound({"WordDocument": b"x" * 5_000, "1Table": b"y"})
    with pytest.raises(DocumentError) as refusal:
        unpack(msg, word)
    assert refusal.value.reason is Reason.UNSUPPORTED
    with pytest.raises(DocumentError) as unclaimed:
        identify(io.BytesIO(word), "a.msg", discover())
    assert unclaimed.value.reason is Reason.UNSUPPORTED


def test_a_message_whose_table_of_names_is_far_inside_is_told_by_its_content() -> None:
    content = message("x", "s", None, *(attached(f"{number}.bin", b"z" * 5_000) for number in range(12)))
    assert identify(io.BytesIO(content), "a.doc", discover())[0] is msg


def test_a_size_larger_than_the_file_is_damage_and_costs_no_memory() -> None:
    content = bytearray(message("x", "s", None, attached("a.pdf", b"%PDF" * 2_000)))
    at = content.index("__substg1.0_37010102".encode("utf-16-le"))
    content[at + 120 : at + 124] = struct.pack("<I", 2_000_000_000)
    with pytest.raises(DocumentError, match="damaged: a part of 2,000,000,000 bytes") as refusal:
        unpack(msg, bytes(content))
    assert refusal.value.reason is Reason.CORRUPT


@given(st.binary(max_size=300), st.integers(0, 10**9))
def test_compressed_rtf_never_grows_beyond_what_it_declares(junk: bytes, size: int) -> None:
    assert len(decompressed(struct.pack("<II4sI", 0, size, b"LZFu", 0) + junk)) <= size


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 255)), min_size=1, max_size=20), st.integers(0, 3_000))
def test_whatever_is_in_a_message_nothing_but_named_refusals_leave(
    changes: list[tuple[int, int]], dropped: int
) -> None:
    inner = enclosed(message_tree("inner", "Inner", None, attached("a.pdf", PDF)))
    content = bytearray(message("text", "s", {binary(0x1009): _packed(RTF)}, attached("b.png", PDF), inner))
    for at, value in changes:
        content[at % len(content)] = value
    with suppress(DocumentError):
        unpack(msg, bytes(content[: len(content) - dropped]))

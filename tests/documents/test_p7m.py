"""A signed file gives what is signed as its attachment and says who signed it, and believes no signature."""

from __future__ import annotations

import base64
import io
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.documents.contract import Means, Tree
from pipeline.documents.formats.p7m import format as p7m
from pipeline.documents.text import Page
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.documents.samples.p7m import sign

INVOICE = b"<?xml version='1.0'?><FatturaElettronica><a>1</a></FatturaElettronica>"
SIGNED = sign(INVOICE, "Ada Rossi")
ENVELOPED = b"\x30\x82\x01\x00\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03" + bytes(250)


def _read(content: bytes) -> tuple[Page, list[tuple[str, bytes]]]:
    with p7m.open(io.BytesIO(content), Means()) as document:
        assert isinstance(document, Tree)
        files = [(each.name, b"".join(each.content or ())) for each in document.attachments()]
        return document.read_page(1), files


def _armoured(content: bytes, label: str = "") -> bytes:
    lines = "\n".join(textwrap.wrap(base64.b64encode(content).decode(), 64)) + "\n"
    return (f"-----BEGIN {label}-----\n{lines}-----END {label}-----\n" if label else lines).encode()


@pytest.mark.parametrize("content", [SIGNED, _armoured(SIGNED), _armoured(SIGNED, "PKCS7"), _armoured(SIGNED, "CMS")])
def test_what_is_signed_is_the_attachment_and_the_page_says_by_whom(content: bytes) -> None:
    assert p7m.recognises(content[:4096], content[-4096:], "") == "application/pkcs7-mime"
    page, files = _read(content)
    assert files == [("signed.xml", INVOICE)]
    assert page.text.startswith("Signed by: Ada Rossi, certified by Ada Rossi, at 20")
    assert page.figures == {"signers": 1, "digests": "match"}
    assert page.note == "signatures are shown, not verified"


def test_content_that_is_not_what_was_signed_is_told() -> None:
    page, files = _read(SIGNED.replace(b"<a>1</a>", b"<a>9</a>"))
    assert files == [("signed.xml", INVOICE.replace(b"1</a>", b"9</a>"))]
    assert page.figures["digests"] == "differ"
    assert "its digest differs" in page.note


def test_a_signature_without_its_content_has_no_attachment() -> None:
    page, files = _read(sign(INVOICE, "Ada Rossi", detached=True))
    assert files == []
    assert "Signed content: elsewhere" in page.text


def test_encrypted_content_needs_its_owner() -> None:
    with pytest.raises(DocumentError) as refusal:
        _read(ENVELOPED)
    assert refusal.value.reason is Reason.NEEDS_PASSWORD


@pytest.mark.parametrize("content", [SIGNED[: len(SIGNED) // 2], _armoured(SIGNED)[:900]])
def test_a_cut_file_is_told_as_cut(content: bytes) -> None:
    with pytest.raises(DocumentError) as refusal:
        _read(content)
    assert refusal.value.reason is Reason.TRUNCATED


def test_content_of_indefinite_length_is_read() -> None:
    """As programs write that sign while they read: in pieces, without saying how many."""
    octets = (
        b"\x24\x80" + b"".join(b"\x04" + bytes([len(part)]) + part for part in (INVOICE[:30], INVOICE[30:])) + b"\0\0"
    )
    data = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01" + b"\xa0\x80" + octets + b"\0\0"
    inner = b"\x02\x01\x01" + b"\x31\x00" + b"\x30\x80" + data + b"\0\0" + b"\x31\x00"
    outer = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02" + b"\xa0\x80" + b"\x30\x80" + inner + b"\0\0" + b"\0\0"
    _, files = _read(b"\x30\x80" + outer + b"\0\0")
    assert files == [("signed.xml", INVOICE)]


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(DocumentError):
        _read(SIGNED[:19] + b"\x30\x80\xa0\x80\x24\x80" * 200_000)


@settings(deadline=None)
@given(st.integers(0, len(SIGNED) - 1), st.integers(0, 255), st.integers(0, len(SIGNED) - 1))
def test_a_bent_or_cut_file_gives_pages_or_a_named_refusal(place: int, byte: int, end: int) -> None:
    bent = bytearray(SIGNED)
    bent[place] = byte
    for content in (bytes(bent), bytes(bent[: end + 1]), _armoured(bytes(bent))):
        try:
            _read(content)
        except DocumentError:
            pass

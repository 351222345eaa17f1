"""A file is what its content is; what cannot be read is named in words."""

from __future__ import annotations

import io

import pytest

from pipeline.documents import formats
from pipeline.documents.contract import Means
from pipeline.documents.identify import identify, inspect
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.documents.samples.pdf import build

FORMATS = formats.discover()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<html><body>Session expired</body></html>", "an HTML page"),
        (b"\x7fELF" + bytes(50), "a program"),
        (b"MZ\x90\x00" + bytes(50), "a Windows program"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), "an old Office document"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(50), "a 7-Zip archive"),
        (b"Rar!\x1a\x07\x01\x00" + bytes(50), "a RAR archive"),
        (bytes(5000), "a transfer that never finished"),
        (bytes(range(256)) * 9, "binary data"),
    ],
)
def test_the_refusal_says_what_the_file_looks_like(content: bytes, words: str) -> None:
    with pytest.raises(DocumentError, match=f"looks like {words}.*reads .*pdf") as refusal:
        identify(io.BytesIO(content), "invoice.pdf", FORMATS)
    assert refusal.value.reason is Reason.UNSUPPORTED


def test_an_empty_file_is_empty_whatever_its_name() -> None:
    with pytest.raises(DocumentError) as refusal:
        inspect(io.BytesIO(b""), "invoice.pdf", FORMATS, Means())
    assert refusal.value.reason is Reason.EMPTY_FILE


@pytest.mark.parametrize(
    ("name", "expected"), [("notes.txt", "text/plain"), ("notes.pdf", "application/pdf"), ("notes", "application/pdf")]
)
def test_the_name_decides_only_between_formats_that_both_claim_the_content(name: str, expected: str) -> None:
    file = io.BytesIO(b"The header of such a file is %PDF-1.7, as you know.")
    assert identify(file, name, FORMATS)[1] == expected
    assert identify(file, name, tuple(reversed(FORMATS)))[1] == expected


def test_a_pdf_named_as_text_is_a_pdf() -> None:
    assert inspect(io.BytesIO(build(["one", "two"])), "scan.txt", FORMATS, Means()).page_count == 2


def test_inspecting_a_csv_says_csv() -> None:
    assert inspect(io.BytesIO(b"a;b\n1;2\n"), "list.csv", FORMATS, Means()).media_type == "text/csv"

"""Files inside PDFs: found wherever they hang, each once, in pieces, under whatever name."""

from __future__ import annotations

import io
import zlib
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    NameObject,
    NumberObject,
    RectangleObject,
    StreamObject,
    TextStringObject,
)

from pipeline.config import LimitSettings
from pipeline.documents.contract import Attachment, Means, Tree
from pipeline.documents.formats.pdf import format as pdf
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from tests.documents.samples.pdf import build

PAGES = ["Invoice INV-2026-0042 for a hundred chairs", "The second page of this invoice"]
INVOICE = (
    b'<?xml version="1.0"?><!-- ' + b"a comment before the root " * 400 + b"-->"
    b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>1</ID></Invoice>'
)


def _writer() -> PdfWriter:
    return PdfWriter(clone_from=PdfReader(io.BytesIO(build(PAGES))))


def _saved(writer: PdfWriter) -> bytes:
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def _specification(writer: PdfWriter, name: str, stream: StreamObject) -> DictionaryObject:
    reference = writer._add_object(stream)
    return DictionaryObject({
        NameObject("/Type"): NameObject("/Filespec"),
        NameObject("/F"): TextStringObject(name),
        NameObject("/EF"): DictionaryObject({NameObject("/F"): reference}),
    })  # fmt: skip


def _stream(content: bytes, filters: str = "") -> StreamObject:
    stream = StreamObject()
    stream._data = content
    stream[NameObject("/Type")] = NameObject("/EmbeddedFile")
    if filters:
        stream[NameObject("/Filter")] = NameObject(filters)
    return stream


def _embedded(writer: PdfWriter) -> Any:
    catalog: Any = writer.root_object
    return catalog["/Names"].get_object()["/EmbeddedFiles"].get_object()


def _pinned(writer: PdfWriter, page: int, name: str, content: bytes) -> None:
    note = DictionaryObject({
        NameObject("/Type"): NameObject("/Annot"),
        NameObject("/Subtype"): NameObject("/FileAttachment"),
        NameObject("/Rect"): RectangleObject((10, 10, 30, 30)),
        NameObject("/FS"): _specification(writer, name, _stream(content)),
    })  # fmt: skip
    writer.pages[page][NameObject("/Annots")] = ArrayObject([writer._add_object(note)])


def _files(content: bytes, *, read: int = 2, means: Means | None = None) -> list[tuple[Attachment, bytes]]:
    """The files of a document of which the first `read` pages were read before."""
    with pdf.open(io.BytesIO(content), means or Means()) as document:
        for number in range(1, read + 1):
            document.read_page(number)
        assert isinstance(document, Tree)
        return [(each, b"".join(each.content or ())) for each in document.attachments()]


def test_a_pdf_without_files_has_none() -> None:
    assert _files(build(PAGES)) == []


@pytest.mark.parametrize("name", ["invoice.xml", "../../etc/passwd", "a\u202efdp.exe", "", "x" * 4000])
def test_an_embedded_file_comes_out_byte_by_byte_whatever_its_name(name: str) -> None:
    writer = _writer()
    content = bytes(range(256)) * 20_000
    writer.add_attachment(name, content)
    ((attachment, got),) = _files(_saved(writer))
    assert got == content
    assert (attachment.number, attachment.name) == (1, name[:500])


def test_an_invoice_as_data_shows_the_same_as_the_pages() -> None:
    writer = _writer()
    writer.add_attachment("factur-x.xml", INVOICE)
    writer.add_attachment("terms.txt", b"<!-- no invoice -->")
    found = {each.name: each.rendition_of for each, _ in _files(_saved(writer))}
    assert found == {"factur-x.xml": 0, "terms.txt": None}


@pytest.mark.parametrize("read", [0, 1, 2])
def test_a_file_pinned_to_a_page_is_found_also_by_an_attempt_that_did_not_read_the_page(read: int) -> None:
    writer = _writer()
    _pinned(writer, 0, "receipt.txt", b"paid")
    assert [(each.name, got) for each, got in _files(_saved(writer), read=read)] == [("receipt.txt", b"paid")]


def test_a_file_that_hangs_in_two_places_is_one() -> None:
    writer = _writer()
    writer.add_attachment("a.txt", b"once")
    names = _embedded(writer)["/Names"]
    writer.root_object[NameObject("/AF")] = ArrayObject([names[1]])
    assert [got for _, got in _files(_saved(writer))] == [b"once"]


def test_a_tree_of_names_that_loops_ends() -> None:
    writer = _writer()
    writer.add_attachment("a.txt", b"once")
    tree = _embedded(writer)
    reference = writer._add_object(tree)
    tree[NameObject("/Kids")] = ArrayObject([reference, reference])
    catalog: Any = writer.root_object
    catalog["/Names"].get_object()[NameObject("/EmbeddedFiles")] = reference
    assert [got for _, got in _files(_saved(writer))] == [b"once"]


def test_a_file_that_swells_comes_in_pieces_and_is_never_held_whole() -> None:
    writer = _writer()
    swollen = zlib.compress(bytes(200_000_000), 9)
    writer.add_attachment("bomb.bin", b"")
    names = _embedded(writer)["/Names"]
    names[1] = writer._add_object(_specification(writer, "bomb.bin", _stream(swollen, "/FlateDecode")))
    with pdf.open(io.BytesIO(_saved(writer)), Means()) as document:
        assert isinstance(document, Tree)
        (attachment,) = document.attachments()
        assert attachment.content is not None
        sizes = [len(next(attachment.content)) for _ in range(5)]
    assert 0 < max(sizes) <= 1_000_000


def test_a_damaged_file_is_left_out_and_the_others_come() -> None:
    writer = _writer()
    for name in ("bad.bin", "good.txt"):
        writer.add_attachment(name, b"fine")
    names = _embedded(writer)["/Names"]
    names[1] = writer._add_object(_specification(writer, "bad.bin", _stream(b"no deflate at all", "/FlateDecode")))
    found = {each.name: (each.left_out[:7], got) for each, got in _files(_saved(writer))}
    assert found == {"bad.bin": ("corrupt", b""), "good.txt": ("", b"fine")}


def test_more_files_than_allowed_are_a_bomb_after_those_that_are() -> None:
    writer = _writer()
    for number in range(5):
        writer.add_attachment(f"{number}.txt", b"x")
    with pdf.open(io.BytesIO(_saved(writer)), Means(LimitSettings(max_children=3))) as document:
        assert isinstance(document, Tree)
        files = document.attachments()
        assert [next(files).number for _ in range(3)] == [1, 2, 3]
        with pytest.raises(DocumentError, match=r"limits\.max_children") as refusal:
            next(files)
    assert refusal.value.reason == Reason.BOMB


def test_what_is_no_file_does_not_spoil_the_pages() -> None:
    writer = _writer()
    writer.root_object[NameObject("/Names")] = DictionaryObject({NameObject("/EmbeddedFiles"): NumberObject(7)})
    writer.root_object[NameObject("/AF")] = TextStringObject("nothing")
    writer.pages[0][NameObject("/Annots")] = ArrayObject([NumberObject(1)])
    assert _files(_saved(writer)) == []

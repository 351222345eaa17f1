"""XML: electronic invoices as labels, values and rows, their files as attachments; other XML as indented lines."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.documents.bounded import read_text
from pipeline.documents.contract import Attachment, Format, Inspection, Means, OpenDocument
from pipeline.documents.markup import einvoice_text, einvoice_xml, xml_text
from pipeline.documents.markup.kinds import XML, markup_of
from pipeline.documents.paging import check_number, pages_of
from pipeline.documents.parsing import read_edges
from pipeline.documents.text import Page, Source, clean
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_ENGINES = {"ubl": "ubl 2", "cii": "cii 1", "fatturapa": "fatturapa 1"}
_FILES = ("EmbeddedDocumentBinaryObject", "AttachmentBinaryObject", "Attachment")
_PIECE = 1 << 18  # characters of base64, a multiple of 4


class XmlFormat:
    """Any XML that is no web page. Document types and entities are refused; nothing is fetched."""

    name = "xml"
    media_types: tuple[str, ...] = ("application/xml",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By a declaration or an element at the beginning."""
        return self.media_types[0] if markup_of(head, tail) == XML else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the whole file. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading, in memory. Raises DocumentError: empty_file, unsupported, too_large, bomb, truncated,
        corrupt, io_error."""
        head, tail = read_edges(file)
        if not self.recognises(head, tail, ""):
            raise DocumentError(Reason.UNSUPPORTED, "it does not begin as XML does")
        yield _opened(read_text(file, "XML", means.limits))


@dataclass(frozen=True, slots=True)
class _OpenXml:
    pages: tuple[str, ...]
    engine: str
    encoding: str
    files: tuple[tuple[str, str, str], ...] = ()

    @property
    def page_count(self) -> int:
        return len(self.pages)

    def read_page(self, number: int) -> Page:
        """Page `number`. Raises UnreadablePage when there is no such page."""
        started = time.perf_counter()
        check_number(number, self.page_count)
        text = self.pages[number - 1]
        figures = {"encoding": self.encoding}
        seconds = time.perf_counter() - started
        return Page(number, text, text, Source.XML, self.engine, seconds=seconds, figures=figures).storable()

    def attachments(self) -> Iterator[Attachment]:
        """The files that the invoice carries in base64."""
        for number, (name, media_type, data) in enumerate(self.files, 1):
            yield Attachment(number, name, media_type, content=_content(name, data))


def _opened(content: bytes) -> _OpenXml:
    tree = einvoice_text.ElementTree()
    kind = einvoice_xml.kind_of(content)
    if kind:
        encoding = xml_text.walk(content, tree)
    if kind and tree.root:
        pages = (page for text in einvoice_text.pages(tree.root, kind) for page in pages_of(clean(text)))
        return _OpenXml(tuple(pages), _ENGINES[kind], encoding, tuple(_files(tree.root)))
    lines = xml_text.Lines()
    encoding = xml_text.walk(content, lines)
    return _OpenXml(tuple(pages_of(clean("\n".join(lines.lines)))), "xml 1", encoding)


def _files(parent: einvoice_text.Element) -> Iterator[tuple[str, str, str]]:
    """Name, media type and base64 of each file in the invoice, in order."""
    for child in parent.children:
        if child.name in _FILES and not child.children and child.text.strip():
            beside = {each.name: each.text.strip() for each in parent.children if each is not child}
            name = child.attributes.get("filename") or beside.get("NomeAttachment") or ""
            yield name, child.attributes.get("mimeCode", ""), child.text
        else:
            yield from _files(child)


def _content(name: str, data: str) -> Iterator[bytes]:
    characters = "".join(data.split())
    for start in range(0, len(characters), _PIECE):
        try:
            yield base64.b64decode(characters[start : start + _PIECE], validate=True)
        except (binascii.Error, ValueError) as error:
            raise DocumentError(Reason.CORRUPT, f"the file {name[:100]!r} in the XML is not base64: {error}") from error


format: Format = XmlFormat()  # noqa: A001 - the name by which formats are found

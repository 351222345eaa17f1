"""Files inside a PDF: embedded by name, associated, or pinned to a page. Unpacked in pieces, so that none is a bomb.

By pypdf, as pdfium can only unpack a whole file at once. Names and sizes are what the document says, and believed in
nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pypdf import PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, StreamObject

from pipeline.documents.parsing import faults_are_corruption
from pipeline.documents.pdf.inflation import inflated
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_DEFLATE = ("/FlateDecode", "/Fl")
_MOST_NODES = 10_000
_DEEPEST = 50
_MOST_NAME = 500  # characters
_MOST_ANNOTATIONS = 5_000


@dataclass(frozen=True, slots=True)
class EmbeddedFile:
    """A file inside, by the name and the media type that the document gives it; both may be empty, and anything."""

    name: str
    media_type: str
    stream: Any

    def content(self) -> Iterator[bytes]:
        """The bytes in pieces of a megabyte at most. Raises DocumentError(corrupt) when they cannot be unpacked."""
        filters = _resolved(self.stream.get("/Filter"))
        names = list(filters) if isinstance(filters, ArrayObject) else [filters] if filters else []
        pieces: Iterator[bytes] = iter([self.stream._data])
        if all(name in _DEFLATE for name in names) and not self.stream.get("/DecodeParms"):
            for _ in names:
                pieces = inflated(pieces)
        else:
            with faults_are_corruption("pypdf"):
                pieces = iter([self.stream.get_data()])  # pypdf bounds what its other filters unpack
        try:
            yield from pieces
        except zlib.error as error:
            raise DocumentError(Reason.CORRUPT, f"it cannot be unpacked: {error}") from error


def embedded_files(reader: PdfReader, pages: Iterable[int]) -> Iterator[EmbeddedFile]:
    """Every file once: those of the whole document, then those of these pages (counted from 1).

    Raises DocumentError(corrupt) when pypdf cannot go on; what came before is good.
    """
    seen: set[int] = set()
    specifications = chain(_of_document(reader), _of_pages(reader, pages))
    while True:
        with faults_are_corruption("pypdf"):
            found = next(specifications, specifications)
            if found is specifications:
                return
            file = _file(found, seen)
        if file is not None:
            yield file


def _file(specification: Any, seen: set[int]) -> EmbeddedFile | None:
    """The file that a specification is of, if it is inside the document and was not seen before."""
    if not isinstance(specification, DictionaryObject):
        return None
    embedded = specification.get("/EF")
    embedded = embedded.get_object() if embedded is not None else None
    if not isinstance(embedded, DictionaryObject):
        return None
    for key in ("/UF", "/F", "/Unix", "/DOS", "/Mac"):
        stream = embedded.get(key)
        stream = stream.get_object() if stream is not None else None
        if isinstance(stream, StreamObject):
            if id(stream) in seen:
                return None
            seen.add(id(stream))
            return EmbeddedFile(_name(specification), _media_type(stream), stream)
    return None


def _name(specification: DictionaryObject) -> str:
    for key in ("/UF", "/F", "/Desc"):
        value = specification.get(key)
        if value:
            return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))[:_MOST_NAME]
    return ""


def _media_type(stream: Any) -> str:
    kind = str(stream.get("/Subtype") or "").removeprefix("/")
    return kind[:_MOST_NAME] if "/" in kind else ""


def _of_document(reader: PdfReader) -> Iterator[Any]:
    catalog: Any = reader.root_object
    names = _resolved(catalog.get("/Names"))
    if isinstance(names, DictionaryObject):
        yield from _leaves(_resolved(names.get("/EmbeddedFiles")))
    yield from _items(catalog.get("/AF"))


def _of_pages(reader: PdfReader, pages: Iterable[int]) -> Iterator[Any]:
    for number in pages:
        page = reader.pages[number - 1]
        yield from _items(page.get("/AF"))
        for annotation in _items(page.get("/Annots")):
            if isinstance(annotation, DictionaryObject) and annotation.get("/Subtype") == "/FileAttachment":
                yield _resolved(annotation.get("/FS"))


def _leaves(root: Any) -> Iterator[Any]:
    """The values of a name tree, in order, however it loops: each node once, and no more than a few thousand."""
    stack, visited = [(root, 0)], 0
    entered: set[int] = set()
    while stack and visited < _MOST_NODES:
        node, depth = stack.pop()
        if not isinstance(node, DictionaryObject) or id(node) in entered:
            continue
        visited += 1
        entered.add(id(node))
        yield from _items(node.get("/Names"), start=1, step=2)
        if depth < _DEEPEST:
            stack += [(kid, depth + 1) for kid in reversed(list(_items(node.get("/Kids"))))]


def _items(array: Any, *, start: int = 0, step: int = 1) -> Iterator[Any]:
    found = _resolved(array)
    if isinstance(found, ArrayObject):
        for item in list(found)[start : start + step * _MOST_ANNOTATIONS : step]:
            yield _resolved(item)


def _resolved(value: Any) -> Any:
    return value.get_object() if isinstance(value, IndirectObject) else value

"""What is the same for every kind of OpenDocument file: how it is told, opened and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pipeline.documents.contract import Inspection, Means, OpenDocument
from pipeline.documents.office.opendocument import OpenDocumentKind, Source
from pipeline.documents.office.text import OpenPages, PageBuilder


class OpenDocumentFormat:
    """One kind of OpenDocument, as a package or as one flat XML file. `read` turns a source into pages."""

    def __init__(
        self, name: str, media_type: str, kind: OpenDocumentKind, read: Callable[[Source, PageBuilder], OpenPages]
    ) -> None:
        self.name = name
        self.media_types: tuple[str, ...] = (media_type,)
        self._kind = kind
        self._read = read

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the media type inside."""
        return self.media_types[0] if self._kind.recognises(head, tail, name) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the whole document for it. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading, all text in memory, compressed.

        Raises DocumentError: empty_file, unsupported, needs_password, truncated, corrupt, bomb, too_many_pages.
        """
        yield self._read(Source(file, means.limits), PageBuilder(means.limits))

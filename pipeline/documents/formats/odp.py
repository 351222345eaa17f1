"""OpenDocument presentations by their XML: a slide is a page, its notes included."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pipeline.documents.contract import Format, Inspection, Means, OpenDocument
from pipeline.documents.office.files import files_inside
from pipeline.documents.office.opendocument import CONTENT, FILES, OpenDocumentKind, Source, Story
from pipeline.documents.office.text import OpenPages, PageBuilder

_MEDIA_TYPE = "application/vnd.oasis.opendocument.presentation"


class OdpFormat:
    """OpenDocument presentations, as a package or as one flat XML file."""

    name = "odp"
    media_types: tuple[str, ...] = (_MEDIA_TYPE,)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the media type inside."""
        return _MEDIA_TYPE if OpenDocumentKind.SLIDES.recognises(head, tail, name) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the text for it. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(_MEDIA_TYPE, document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading, all text in memory, compressed.

        Raises DocumentError: empty_file, unsupported, needs_password, truncated, corrupt, bomb, too_many_pages.
        """
        yield _read(Source(file, means.limits), PageBuilder(means.limits))


def _read(source: Source, pages: PageBuilder) -> OpenPages:
    source.read(CONTENT, _Slides(pages))
    package = source.package
    return pages.finish("odp 1", lambda: files_inside(package, FILES, pages.written) if package else iter(()))


class _Slides(Story):
    """A drawing page is a page; nothing else ends one."""

    def end(self, tag: str) -> None:
        """An element ends."""
        super().end(tag)
        if tag == "page" and self.pages and len(self.targets) == 1:
            self.pages.end_page(even_empty=True)

    def end_page(self) -> None:
        """A break within a slide is none."""


format: Format = OdpFormat()  # noqa: A001 - the name by which formats are found

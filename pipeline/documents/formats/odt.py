"""OpenDocument text by its XML: pages end at breaks and where the program last ended them, else by length."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pipeline.documents.contract import Format, Inspection, Means, OpenDocument
from pipeline.documents.office.files import files_inside
from pipeline.documents.office.opendocument import CONTENT, FILES, STYLES, Margins, OpenDocumentKind, Source, Story
from pipeline.documents.office.opendocument_lists import Lists
from pipeline.documents.office.text import OpenPages, PageBuilder

_MEDIA_TYPE = "application/vnd.oasis.opendocument.text"


class OdtFormat:
    """OpenDocument text as a package or as one flat XML file, and what OpenOffice wrote before it."""

    name = "odt"
    media_types: tuple[str, ...] = (_MEDIA_TYPE,)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the media type inside."""
        return _MEDIA_TYPE if OpenDocumentKind.TEXT.recognises(head, tail, name) else None

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
    margins, lists = Margins(), Lists()
    for part, listener in ((STYLES, margins), (STYLES, lists), (CONTENT, lists)):
        source.read(part, listener)
    for block in margins.headers.values():
        block.pour(pages)
    pages.pending.extend(margins.footers.values())
    source.read(CONTENT, Story(pages, lists))
    package = source.package
    return pages.finish("odt 1", lambda: files_inside(package, FILES, pages.written) if package else iter(()))


format: Format = OdtFormat()  # noqa: A001 - the name by which formats are found

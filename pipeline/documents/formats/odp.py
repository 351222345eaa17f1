"""OpenDocument presentations by their XML: a slide is a page, its notes included."""

from __future__ import annotations

from pipeline.documents.contract import Format
from pipeline.documents.office.files import files_inside
from pipeline.documents.office.opendocument import CONTENT, FILES, OpenDocumentKind, Source, Story
from pipeline.documents.office.opendocument_format import OpenDocumentFormat
from pipeline.documents.office.text import OpenPages, PageBuilder

_MEDIA_TYPE = "application/vnd.oasis.opendocument.presentation"


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


# The name by which formats are found.
format: Format = OpenDocumentFormat("odp", _MEDIA_TYPE, OpenDocumentKind.SLIDES, _read)  # noqa: A001

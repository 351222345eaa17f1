"""OpenDocument presentations by their XML: a slide is a page, its notes included."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.documents.contract import Format, Means
from pipeline.documents.office.files import files_inside
from pipeline.documents.office.format import OfficeFormat
from pipeline.documents.office.opendocument import CONTENT, FILES, OpenDocumentKind, Source, Story
from pipeline.documents.office.text import OpenPages, PageBuilder

_MEDIA_TYPE = "application/vnd.oasis.opendocument.presentation"


def _open(file: BinaryIO, means: Means) -> OpenPages:
    source, pages = Source(file, means.limits), PageBuilder(means.limits)
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
format: Format = OfficeFormat("odp", _MEDIA_TYPE, OpenDocumentKind.SLIDES.recognises, _open)  # noqa: A001

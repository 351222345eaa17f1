"""OpenDocument text by its XML: pages end at breaks and where the program last ended them, else by length."""

from __future__ import annotations

from pipeline.documents.contract import Format
from pipeline.documents.office.files import files_inside
from pipeline.documents.office.opendocument import CONTENT, FILES, STYLES, Margins, OpenDocumentKind, Source, Story
from pipeline.documents.office.opendocument_format import OpenDocumentFormat
from pipeline.documents.office.opendocument_lists import Lists
from pipeline.documents.office.text import OpenPages, PageBuilder

_MEDIA_TYPE = "application/vnd.oasis.opendocument.text"


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


# The name by which formats are found.
format: Format = OpenDocumentFormat("odt", _MEDIA_TYPE, OpenDocumentKind.TEXT, _read)  # noqa: A001

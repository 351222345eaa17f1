"""OpenDocument text by its XML: pages end at breaks and where the program last ended them, else by length."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.documents.contract import Format, Means
from pipeline.documents.office.files import files_inside
from pipeline.documents.office.format import OfficeFormat
from pipeline.documents.office.opendocument import CONTENT, FILES, STYLES, Margins, OpenDocumentKind, Source, Story
from pipeline.documents.office.opendocument_lists import Lists
from pipeline.documents.office.text import OpenPages, PageBuilder

_MEDIA_TYPE = "application/vnd.oasis.opendocument.text"


def _open(file: BinaryIO, means: Means) -> OpenPages:
    source, pages = Source(file, means.limits), PageBuilder(means.limits)
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
format: Format = OfficeFormat("odt", _MEDIA_TYPE, OpenDocumentKind.TEXT.recognises, _open)  # noqa: A001

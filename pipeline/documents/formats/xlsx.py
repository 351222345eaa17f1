"""Excel workbooks by their XML: the rows that have content, with values as their cells show them, sheet by sheet."""

from __future__ import annotations

from functools import partial
from typing import BinaryIO

from pipeline.documents.contract import Format, Means
from pipeline.documents.office.files import OFFICE_OPEN, files_inside
from pipeline.documents.office.format import OfficeFormat
from pipeline.documents.office.locks import unlocked
from pipeline.documents.office.packages import OfficeKind, Package, Parts, is_office_package
from pipeline.documents.office.relations import Relation, main_part, of_kind, relations
from pipeline.documents.office.sheets import SheetWriter
from pipeline.documents.office.spreadsheet_xml import CellReader, SharedTexts, StylesPart, WorkbookPart
from pipeline.documents.office.story import Story
from pipeline.documents.office.text import Block, OpenPages, PageBuilder
from pipeline.documents.office.xml import read_xml
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_FOLDER, _BOOK, _BINARY_BOOK = "xl/", "xl/workbook.xml", "xl/workbook.bin"


def _open(file: BinaryIO, means: Means) -> OpenPages:
    parts = Package(unlocked(file, means.passwords), means.limits)
    if parts.has(_BINARY_BOOK) and not parts.has(_BOOK):
        raise DocumentError(Reason.UNSUPPORTED, "a binary Excel workbook (.xlsb); save it as XLSX or PDF")
    return _read(parts, PageBuilder(means.limits))


def _read(parts: Parts, pages: PageBuilder) -> OpenPages:
    part = main_part(parts, _FOLDER, _BOOK)
    book, found = WorkbookPart(), relations(parts, part)
    read_xml(parts.pieces(part), book, part)
    texts, styles = SharedTexts(), StylesPart()
    for kind, listener in (("sharedStrings", texts), ("styles", styles)):
        for each in of_kind(found, kind)[:1]:
            read_xml(parts.pieces(each), listener, each)
    writer = SheetWriter(pages)
    targets = {relation.name: relation for relation in found}
    for sheet in book.sheets:
        if target := targets.get(sheet.relation):
            writer.begin(sheet.name, hidden=sheet.hidden)
            cells = CellReader(texts.texts, styles.formats, writer.row, from_1904=book.from_1904)
            read_xml(parts.pieces(target.part), cells, target.part)
            _read_around(parts, target, writer)
            writer.end()
    return pages.finish("xlsx 1", lambda: files_inside(parts, OFFICE_OPEN, pages.written))


def _read_around(parts: Parts, sheet: Relation, writer: SheetWriter) -> None:
    """Text boxes and comments of a sheet, below its rows."""
    around = relations(parts, sheet.part)
    for part in of_kind(around, "drawing"):
        block = Block()
        read_xml(parts.pieces(part), Story(block), part)
        if shown := "\n".join(block.text).strip():
            writer.line(shown)
    for part in of_kind(around, "comments"):
        comments = SharedTexts("comment")
        read_xml(parts.pieces(part), comments, part)
        for text in comments.texts:
            writer.line(f"Comment:\n{text.strip()}")


# The name by which formats are found.
format: Format = OfficeFormat("xlsx", _MEDIA_TYPE, partial(is_office_package, kind=OfficeKind.WORKBOOK), _open)  # noqa: A001

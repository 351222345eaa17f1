"""Excel workbooks of 1993 to 2003 by their records: the rows that have content, as their cells show them."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.documents.contract import Format, Means
from pipeline.documents.office.biff import SheetReader, Workbook, read_workbook
from pipeline.documents.office.compound import is_compound, opened, read_stream
from pipeline.documents.office.format import OfficeFormat
from pipeline.documents.office.locks import decrypted
from pipeline.documents.office.sheets import SheetWriter
from pipeline.documents.office.text import OpenPages, PageBuilder
from pipeline.documents.parsing import faults_are_corruption, read_edges
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_MEDIA_TYPE = "application/vnd.ms-excel"
_STREAMS = ("Workbook", "Book")


def _is_workbook(head: bytes, tail: bytes, name: str) -> bool:
    """By the stream of that name."""
    named = any(b"\x00" + stream.lower().encode() + b"\x00" in tail for stream in _STREAMS)
    return named and is_compound(head)


def _open(file: BinaryIO, means: Means) -> OpenPages:
    head, _ = read_edges(file)
    if not is_compound(head):
        raise DocumentError(Reason.UNSUPPORTED, "the file is no binary Excel workbook")
    pages = PageBuilder(means.limits)
    stream, book = _stream_and_book(file)
    if book.encrypted:
        stream, book = _stream_and_book(decrypted(file, means.passwords))
    _read(stream, book, pages)
    return pages.finish("xls 1")


def _stream_and_book(file: BinaryIO) -> tuple[bytes, Workbook]:
    with opened(file) as found:
        name = next((each for each in _STREAMS if found.exists(each)), None)
        if name is None:
            raise DocumentError(Reason.UNSUPPORTED, "the compound file holds no Excel workbook")
        stream = read_stream(found, name)
    with faults_are_corruption("xls"):
        return stream, read_workbook(stream)


def _read(stream: bytes, book: Workbook, pages: PageBuilder) -> None:
    writer = SheetWriter(pages)
    for sheet in book.sheets:
        writer.begin(sheet.name, hidden=sheet.hidden)
        with faults_are_corruption("xls"):
            SheetReader(stream, book, writer).read(sheet)
        writer.end()


# The name by which formats are found.
format: Format = OfficeFormat("xls", _MEDIA_TYPE, _is_workbook, _open)  # noqa: A001

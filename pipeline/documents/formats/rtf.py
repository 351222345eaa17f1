"""Rich Text Format, read token by token: no recursion, every character set, pages at page and section breaks."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.documents.contract import Format, Means
from pipeline.documents.office.format import OfficeFormat
from pipeline.documents.office.rtf_reading import RtfReading
from pipeline.documents.office.text import OpenPages, PageBuilder
from pipeline.documents.parsing import faults_are_io, read_edges, read_whole
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_MEDIA_TYPE = "application/rtf"
_OPENING = b"{\\rtf"
MAX_BYTES = 100_000_000  # it is held in memory; pictures are written in hexadecimal, so that texts are never near


def _is_rtf(head: bytes, tail: bytes, name: str) -> bool:
    """By its first word."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n\x00").startswith(_OPENING)


def _open(file: BinaryIO, means: Means) -> OpenPages:
    head, tail = read_edges(file)
    if not _is_rtf(head, tail, ""):
        raise DocumentError(Reason.UNSUPPORTED, "the file does not open like an RTF document")
    with faults_are_io():
        size = file.seek(0, 2)
    if size > MAX_BYTES:
        raise DocumentError(
            Reason.TOO_LARGE, f"an RTF document of {size:,} bytes; more than {MAX_BYTES:,} are not read"
        )
    pages = PageBuilder(means.limits)
    RtfReading(pages).read(read_whole(file))
    return pages.finish("rtf 1")


# The name by which formats are found.
format: Format = OfficeFormat("rtf", _MEDIA_TYPE, _is_rtf, _open)  # noqa: A001

"""Rich Text Format, read token by token: no recursion, every character set, pages at page and section breaks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pipeline.documents.contract import Format, Inspection, Means, OpenDocument
from pipeline.documents.office.rtf_reading import RtfReading
from pipeline.documents.office.text import PageBuilder
from pipeline.documents.parsing import faults_are_io, read_edges, read_whole
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_MEDIA_TYPE = "application/rtf"
_OPENING = b"{\\rtf"
MAX_BYTES = 100_000_000  # it is held in memory; pictures are written in hexadecimal, so that texts are never near


class RtfFormat:
    """Rich Text Format of any version and program."""

    name = "rtf"
    media_types: tuple[str, ...] = (_MEDIA_TYPE,)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By its first word."""
        return _MEDIA_TYPE if head.lstrip(b"\xef\xbb\xbf \t\r\n\x00").startswith(_OPENING) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the text for it. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(_MEDIA_TYPE, document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading. Raises DocumentError: empty_file, unsupported, too_large, bomb, too_many_pages."""
        head, tail = read_edges(file)
        if not self.recognises(head, tail, ""):
            raise DocumentError(Reason.UNSUPPORTED, "the file does not open like an RTF document")
        with faults_are_io():
            size = file.seek(0, 2)
        if size > MAX_BYTES:
            raise DocumentError(
                Reason.TOO_LARGE, f"an RTF document of {size:,} bytes; more than {MAX_BYTES:,} are not read"
            )
        pages = PageBuilder(means.limits)
        RtfReading(pages).read(read_whole(file))
        yield pages.finish("rtf 1")


format: Format = RtfFormat()  # noqa: A001 - the name by which formats are found

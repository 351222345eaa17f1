"""Plain text and CSV, in any encoding. Text has no pages, so a page ends at a form feed, after 200 lines or after
100,000 characters. The layout of CSV has its cells in columns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO

from pipeline.documents import delimited, encodings
from pipeline.documents.bounded import read_text
from pipeline.documents.contract import Format, Inspection, Means, OpenDocument
from pipeline.documents.markup.kinds import markup_of
from pipeline.documents.paging import PAGE_CHARACTERS, check_number, pages_of
from pipeline.documents.parsing import EDGE_BYTES, read_edges
from pipeline.documents.rows import aligned
from pipeline.documents.signatures import looks_like
from pipeline.documents.text import Page, Source, clean
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_CONTROLS = bytes(
    {*range(0x20), 0x7F} - {*b"\t\n\v\f\r\x1a\x1b"}
)  # 1A ended files in DOS, 1B starts a printer's commands
_CONTROL_SHARE = 0.02
_TABLES = (".csv", ".tsv")
_LEAST_TABLE_ROWS = 2


class PlainFormat:
    """Text without markup. Binary files, HTML, XML and e-mails are refused: their text is not what they show."""

    name = "plain"
    media_types: tuple[str, ...] = ("text/plain", "text/csv")

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the absence of NUL, controls and markup. The name tells CSV from other text."""
        if not head or looks_like(head, tail) or not (_is_text(head) and _is_text(tail, head)):
            return None
        if markup_of(head, tail):
            return None
        return "text/csv" if PurePath(name).suffix.lower() in _TABLES else "text/plain"

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the whole file. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading, the whole text in memory. Raises DocumentError: empty_file, unsupported, too_large,
        io_error."""
        head, tail = read_edges(file)
        if not self.recognises(head, tail, ""):
            raise DocumentError(Reason.UNSUPPORTED, f"not plain text: {looks_like(head, tail) or 'binary data'}")
        found = encodings.decode(read_text(file, "text", means.limits))
        pages = tuple(pages_of(clean(found.text)))
        yield _OpenText(pages, found.encoding, found.found_by, delimited.delimiter(pages[0]))


@dataclass(frozen=True, slots=True)
class _OpenText:
    pages: tuple[str, ...]
    encoding: str
    found_by: str
    delimiter: str | None

    @property
    def page_count(self) -> int:
        return len(self.pages)

    def read_page(self, number: int) -> Page:
        """Page `number`. Raises UnreadablePage when there is no such page."""
        started = time.perf_counter()
        check_number(number, self.page_count)
        text = self.pages[number - 1]
        figures: dict[str, float | str] = {"encoding": self.encoding, "encoding_by": self.found_by}
        layout = _columns(text, self.delimiter) if self.delimiter else text
        if layout != text and self.delimiter:
            figures["delimiter"] = "tab" if self.delimiter == "\t" else self.delimiter
        seconds = time.perf_counter() - started
        return Page(number, text, layout, Source.NATIVE, engine="plain 1", seconds=seconds, figures=figures).storable()


def _columns(text: str, delimiter: str) -> str:
    """The cells in columns; the text itself where its rows are no table or padding would swell them."""
    rows = list(delimited.cells(text, delimiter))
    filled = [row for row in rows if row]
    if len(filled) < _LEAST_TABLE_ROWS or delimited.delimiter(text) != delimiter:
        return text
    layout = "\n".join(aligned(rows))
    return layout if len(layout) <= 2 * PAGE_CHARACTERS + len(text) else text


def _is_text(edge: bytes, head: bytes = b"") -> bool:
    if encodings.by_mark(head or edge) not in (None, "utf-8-sig"):
        return True
    if encodings.by_bytes(head or edge):
        return True
    if b"\x00" in edge:
        return False
    return len(edge) - len(edge.translate(None, _CONTROLS)) <= _CONTROL_SHARE * min(len(edge), EDGE_BYTES)


format: Format = PlainFormat()  # noqa: A001 - the name by which formats are found

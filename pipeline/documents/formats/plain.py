"""Plain text and CSV. Text has no pages, so a page ends at a form feed, after 200 lines or after 100,000 characters.

The encoding is the byte order mark's, else UTF-8, else Windows-1252.
"""

from __future__ import annotations

import codecs
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from pipeline.documents.formats import Format, Inspection, OpenDocument
from pipeline.documents.parsing import EDGE_BYTES, read_edges, read_whole
from pipeline.documents.signatures import looks_like
from pipeline.documents.text import Page, Source, clean
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason

PAGE_LINES = 200
PAGE_CHARACTERS = 100_000  # a search vector holds 1 MB, and one line can be longer than that
# UTF-32 first: its little-endian mark starts with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(
    {*range(0x20), 0x7F} - {*b"\t\n\v\f\r\x1a\x1b"}
)  # 1A ended files in DOS, 1B starts a printer's commands
_CONTROL_SHARE = 0.02
_GOOD_PER_BAD = 10  # a text in another encoding has few sequences that are valid UTF-8


class PlainFormat:
    """Text without markup. Binary files, HTML, XML and e-mails are refused: their text is not what they show."""

    name = "plain"
    media_types: tuple[str, ...] = ("text/plain", "text/csv")

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the absence of NUL, controls and markup. The name tells CSV from other text."""
        if not head or looks_like(head, tail) or not (_is_text(head) and _is_text(tail, head)):
            return None
        return "text/csv" if PurePath(name).suffix.lower() in (".csv", ".tsv") else "text/plain"

    def inspect(self, path: Path) -> Inspection:
        """Count pages; reads the whole file. Raises DocumentError."""
        with self.open(path) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, path: Path) -> Iterator[OpenDocument]:
        """Open for reading, the whole text in memory. Raises DocumentError: empty_file, unsupported, io_error."""
        head, tail = read_edges(path)
        if not self.recognises(head, tail, ""):
            raise DocumentError(Reason.UNSUPPORTED, f"not plain text: {looks_like(head, tail) or 'binary data'}")
        yield _OpenText(tuple(_pages(clean(_decode(read_whole(path))))))


@dataclass(frozen=True, slots=True)
class _OpenText:
    pages: tuple[str, ...]

    @property
    def page_count(self) -> int:
        return len(self.pages)

    def read_page(self, number: int) -> Page:
        """Page `number`. Raises UnreadablePage when there is no such page."""
        started = time.perf_counter()
        if not 1 <= number <= self.page_count:
            raise UnreadablePage(Reason.CORRUPT, f"there is no page {number}; the text has {self.page_count}")
        text = self.pages[number - 1]
        seconds = time.perf_counter() - started
        return Page(number, text, text, Source.NATIVE, engine="plain 1", seconds=seconds).storable()


def _is_text(edge: bytes, head: bytes = b"") -> bool:
    if _encoding_by_mark(head or edge) not in (None, "utf-8-sig"):
        return True
    if b"\x00" in edge:
        return False
    return len(edge) - len(edge.translate(None, _CONTROLS)) <= _CONTROL_SHARE * min(len(edge), EDGE_BYTES)


def _encoding_by_mark(raw: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if raw.startswith(mark)), None)


def _decode(raw: bytes) -> str:
    """The text of the bytes. Never raises: what cannot be decoded becomes U+FFFD."""
    encoding = _encoding_by_mark(raw)
    if encoding:
        return raw.decode(encoding, "replace")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
    bad = text.count("\N{REPLACEMENT CHARACTER}")
    good = len(text) - len(text.encode("ascii", "ignore")) - bad
    return text if good > _GOOD_PER_BAD * bad else raw.decode("cp1252", "replace")


def _pages(text: str) -> Iterator[str]:
    """At least one page; a form feed at the very end starts none."""
    sheets = text.split("\f")
    if len(sheets) > 1 and not sheets[-1].strip():
        sheets.pop()
    for sheet in sheets:
        lines = sheet.split("\n")
        for start in range(0, len(lines), PAGE_LINES):
            yield from _slices("\n".join(lines[start : start + PAGE_LINES]))


def _slices(page: str) -> Iterator[str]:
    for start in range(0, max(len(page), 1), PAGE_CHARACTERS):
        yield page[start : start + PAGE_CHARACTERS]


format: Format = PlainFormat()  # noqa: A001 - the name by which formats are found

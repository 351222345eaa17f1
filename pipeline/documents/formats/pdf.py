"""PDF by two independent parsers, the fast one first: a page is a gap only when neither can read it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.documents.formats import Format, Inspection, OpenDocument
from pipeline.documents.parsing import read_edges
from pipeline.documents.pdf_by_pdfium import PdfiumReader
from pipeline.documents.pdf_by_pypdf import PypdfReader
from pipeline.documents.text import Page
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason

_HEADER = b"%PDF-"
_HEADER_WITHIN = 1024  # bytes; mail gateways and scanners write before it, and viewers look this far
_ENDINGS = (b"%%EOF", b"startxref")
_FEW_WORDS = 3  # below this the other parser is asked too


class PdfFormat:
    """Portable Document Format, also with junk before its header and with an owner's restrictions."""

    name = "pdf"
    media_types: tuple[str, ...] = ("application/pdf",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the header within the first KiB, wherever it starts there."""
        return self.media_types[0] if _HEADER in head[:_HEADER_WITHIN] else None

    def inspect(self, path: Path) -> Inspection:
        """Count pages by opening the document, without reading any. Raises DocumentError."""
        with _opened(path) as document:
            return Inspection(self.media_types[0], document.page_count, restricted=document.restricted)

    @contextmanager
    def open(self, path: Path) -> Iterator[OpenDocument]:
        """Open for reading. Raises DocumentError: empty_file, needs_password, truncated, corrupt or io_error."""
        with _opened(path) as document:
            yield document


class _OpenPdf:
    """A PDF held open by pdfium, by pypdf, or by pdfium with pypdf opened once a page needs it."""

    def __init__(self, path: Path, *, fast: PdfiumReader | None, second: PypdfReader | None, cut: bool) -> None:
        self._path, self._fast, self._second, self._cut = path, fast, second, cut
        self._second_failed: DocumentError | None = None

    @property
    def page_count(self) -> int:
        return self._either.page_count

    @property
    def restricted(self) -> bool:
        return self._either.restricted

    @property
    def _either(self) -> PdfiumReader | PypdfReader:
        return self._fast or self._second_reader()

    def close(self) -> None:
        if self._fast:
            self._fast.close()

    def read_page(self, number: int) -> Page:
        """Read page `number`. Raises UnreadablePage when neither parser can, or when there is no such page."""
        if not 1 <= number <= self.page_count:
            raise UnreadablePage(Reason.CORRUPT, f"there is no page {number}; the document has {self.page_count}")
        started = time.perf_counter()
        text, layout, engine = self._read(number)
        page = Page(number, text, layout, engine=engine, seconds=time.perf_counter() - started)
        return page.storable()

    def _read(self, number: int) -> tuple[str, str, str]:
        """Text, layout and engine: pdfium's unless it fails or finds next to nothing and pypdf finds more."""
        text, layout, failure = "", "", None
        try:
            if self._fast:
                text, layout = self._fast.read(number)
        except DocumentError as error:
            failure = error
        if self._fast and not failure and len(text.split()) >= _FEW_WORDS:
            return text, layout, self._fast.engine
        other = self._read_second(number, failure)
        if self._fast and not failure and len(other.split()) <= len(text.split()):
            self._refuse_what_was_cut_off(number, text)
            return text, layout, self._fast.engine
        return other, other, self._second_reader().engine

    def _read_second(self, number: int, failure: DocumentError | None) -> str:
        """pypdf's text. Raises UnreadablePage when it was the last hope: no text after a failure is no blank page."""
        try:
            text = self._second_reader().read(number)
        except DocumentError as error:
            if self._fast and not failure:
                return ""
            raise UnreadablePage(Reason.CORRUPT, f"{failure}; {error}" if failure else str(error)) from error
        if failure and not text.strip():
            raise UnreadablePage(Reason.CORRUPT, f"{failure}; pypdf: finds no text") from failure
        return text

    def _refuse_what_was_cut_off(self, number: int, text: str) -> None:
        """A bare page of a file without an end most likely had its content there."""
        if self._cut and self._fast and not text.strip() and self._fast.is_bare(number):
            raise UnreadablePage(Reason.TRUNCATED, "the end of the file is missing, and with it this page's content")

    def _second_reader(self) -> PypdfReader:
        if self._second_failed:
            raise self._second_failed
        if self._second is None:
            try:
                self._second = PypdfReader(self._path)
                self._compare_counts(self._second)
            except DocumentError as error:
                self._second_failed = error
                raise
        return self._second

    def _compare_counts(self, second: PypdfReader) -> None:
        """Where the parsers count differently, one's page 2 may be the other's page 1: better a gap than a mix-up."""
        if self._fast and second.page_count != self._fast.page_count:
            counts = f"{second.page_count} pages, not {self._fast.page_count}"
            raise DocumentError(Reason.CORRUPT, f"pypdf: counts {counts}, so that its numbers mean others")


@contextmanager
def _opened(path: Path) -> Iterator[_OpenPdf]:
    head, tail = read_edges(path)
    cut = not any(ending in tail for ending in _ENDINGS)
    document = _first_to_open(path, head, cut)
    try:
        yield document
    finally:
        document.close()


def _first_to_open(path: Path, head: bytes, cut: bool) -> _OpenPdf:
    try:
        return _OpenPdf(path, fast=PdfiumReader(path), second=None, cut=cut)
    except DocumentError as error:
        by_pdfium = error
    try:
        return _OpenPdf(path, fast=None, second=PypdfReader(path), cut=cut)
    except DocumentError as by_pypdf:
        raise _refusal(head, cut, by_pdfium, by_pypdf) from by_pypdf


def _refusal(head: bytes, cut: bool, by_pdfium: DocumentError, by_pypdf: DocumentError) -> DocumentError:
    """Why nobody opens it: locked before missing before damaged, the most useful first."""
    for error in (by_pypdf, by_pdfium):
        if error.reason in (Reason.NEEDS_PASSWORD, Reason.IO_ERROR):
            return error
    if _HEADER not in head[:_HEADER_WITHIN]:
        return DocumentError(Reason.UNSUPPORTED, "the file has no PDF header")
    if cut:
        return DocumentError(Reason.TRUNCATED, "the PDF starts well, but its end is missing")
    return DocumentError(Reason.CORRUPT, f"no parser opens the PDF: {by_pdfium}; {by_pypdf}")


format: Format = PdfFormat()  # noqa: A001 - the name by which formats are found

"""PDF by two independent parsers, the fast one first: a page is a gap only when neither can read it.

Each page is read from its text layer, or by recognition where that layer is missing, a stamp, or unreadable.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from typing import BinaryIO

from pipeline.documents.contract import Attachment, Format, Inspection, Means, OpenDocument
from pipeline.documents.markup import einvoice_xml
from pipeline.documents.parsing import read_edges
from pipeline.documents.pdf.by_pdfium import PdfiumReader, Seen
from pipeline.documents.pdf.by_pypdf import PypdfReader
from pipeline.documents.pdf.files import EmbeddedFile, embedded_files
from pipeline.documents.pdf.opening import HEADER, HEADER_WITHIN, Opened, both
from pipeline.documents.pdf.page_need import Need, need
from pipeline.documents.pdf.recognition import OFF, Recognition, dpi_of, recognise
from pipeline.documents.pdf.sampling import estimate
from pipeline.documents.text import Page
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason

_ENDINGS = (b"%%EOF", b"startxref")
_TELLING_BYTES = 65_536  # of an XML file: comments may stand before its root
_FEW_WORDS = 3  # below this the other parser is asked too
_SEARCHED_PAGES = 2_000  # for files pinned to pages that this process has not read


class PdfFormat:
    """Portable Document Format, also with junk before its header and with an owner's restrictions."""

    name = "pdf"
    media_types: tuple[str, ...] = ("application/pdf",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the header within the first KiB, wherever it starts there."""
        return self.media_types[0] if HEADER in head[:HEADER_WITHIN] else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages, and by a sample those that need recognition. Raises DocumentError."""
        with _opened(file, means) as document:
            return Inspection(
                self.media_types[0], document.page_count, document.count_unread(), restricted=document.restricted
            )

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading. Raises DocumentError: empty_file, needs_password, bomb, truncated, corrupt or io_error."""
        with _opened(file, means) as document:
            yield document


class _OpenPdf:
    """A PDF held open by pdfium, by pypdf, or by both."""

    def __init__(self, opened: Opened, means: Means, *, cut: bool) -> None:
        self._fast, self._second, self._means, self._cut = opened.fast, opened.second, means, cut
        self._second_failed, self._heavy = opened.second_failed, opened.heavy
        self._read: set[int] = set()

    @property
    def page_count(self) -> int:
        return self._either.page_count

    @property
    def restricted(self) -> bool:
        return self._either.restricted

    @property
    def _either(self) -> PdfiumReader | PypdfReader:
        return self._fast or self._opened_second()

    def close(self) -> None:
        if self._fast:
            self._fast.close()

    def count_unread(self) -> int:
        """About how many pages need recognition; 0 when a look is too dear, or has no use as the pages are too many."""
        if not self._fast or self._heavy or self.page_count > self._means.limits.max_pages:
            return 0
        fast = self._fast
        return estimate(self.page_count, lambda number: need(fast.look(number)).ocr, fast.shows_text)

    def read_page(self, number: int) -> Page:
        """Read page `number`. Raises UnreadablePage when neither parser can, or when there is no such page."""
        if not 1 <= number <= self.page_count:
            raise UnreadablePage(Reason.CORRUPT, f"there is no page {number}; the document has {self.page_count}")
        started = time.perf_counter()
        self._read.add(number)
        page = self._page(number)
        return replace(page, seconds=time.perf_counter() - started).storable()

    def attachments(self) -> Iterator[Attachment]:
        """Every file inside. Raises DocumentError(bomb) when there are too many, with what came before still good."""
        for number, file in enumerate(self._files(), 1):
            if number > self._means.limits.max_children:
                most = self._means.limits.max_children
                raise DocumentError(Reason.BOMB, f"it holds more than {most} files; limits.max_children allows no more")
            yield _attachment(number, file)

    def _files(self) -> Iterator[EmbeddedFile]:
        """Files inside as far as pypdf finds them: what is broken there does not spoil pages that were read."""
        if not self._second:
            return
        unknown = set(range(1, min(self.page_count, _SEARCHED_PAGES) + 1)) - (self._read if self._fast else set())
        pages = sorted(unknown | (self._fast.with_files if self._fast else set()))
        with suppress(DocumentError):
            yield from embedded_files(self._second.reader, pages)

    def _page(self, number: int) -> Page:
        seen, failure = self._seen(number)
        decision = need(seen.figures) if seen else Need(ocr=False, why="")
        note = ""
        if seen and decision.ocr:
            recognition = self._recognised(number, seen, decision)
            if recognition.page:
                return recognition.page
            note = recognition.note
        page = self._from_layer(number, seen, failure)
        if seen:
            page = replace(page, note=note, figures={**seen.figures.told(), "why": decision.why})
        return page

    def _seen(self, number: int) -> tuple[Seen | None, DocumentError | None]:
        try:
            return (self._fast.read(number) if self._fast else None), None
        except DocumentError as error:
            return None, error

    def _recognised(self, number: int, seen: Seen, decision: Need) -> Recognition:
        """The page by recognition, or why it is not. A page that cannot be painted may still have a text layer."""
        ocr = self._means.ocr
        if not ocr or not self._fast:
            return Recognition(None, OFF.format(why=decision.why))
        try:
            rendered = self._fast.render(number, dpi_of(ocr), self._means.limits.max_page_megapixels)
        except DocumentError as error:
            return Recognition(None, f"it cannot be rendered for recognition: {error}")
        return recognise(number, seen, decision, rendered, ocr)

    def _from_layer(self, number: int, seen: Seen | None, failure: DocumentError | None) -> Page:
        """The text layer: pdfium's unless it fails or finds next to nothing and pypdf finds more."""
        if seen and len(seen.text.split()) >= _FEW_WORDS:
            return self._by_pdfium(number, seen)
        other = self._read_second(number, seen, failure)
        if seen and len(other.split()) <= len(seen.text.split()):
            self._refuse_what_is_missing(number, seen)
            return self._by_pdfium(number, seen)
        return Page(number, other, other, engine=self._second_reader().engine)

    def _by_pdfium(self, number: int, seen: Seen) -> Page:
        engine = self._fast.engine if self._fast else ""
        return Page(number, seen.text, seen.layout, engine=engine, places=seen.places)

    def _read_second(self, number: int, seen: Seen | None, failure: DocumentError | None) -> str:
        """pypdf's text. Raises UnreadablePage when it was the last hope: no text after a failure is no blank page."""
        try:
            text = self._second_reader().read(number)
        except DocumentError as error:
            if seen:
                return ""
            raise UnreadablePage(Reason.CORRUPT, f"{failure}; {error}" if failure else str(error)) from error
        if failure and not text.strip():
            raise UnreadablePage(Reason.CORRUPT, f"{failure}; pypdf: finds no text") from failure
        return text

    def _refuse_what_is_missing(self, number: int, seen: Seen) -> None:
        """A bare page is blank, unless its content was cut off with the file's end or cannot be unpacked."""
        if seen.text.strip() or seen.figures.objects:
            return
        if self._cut:
            raise UnreadablePage(Reason.TRUNCATED, "the end of the file is missing, and with it this page's content")
        if self._second:
            try:
                self._second.check_content(number)
            except DocumentError as error:
                raise UnreadablePage(Reason.CORRUPT, str(error)) from error

    def _second_reader(self) -> PypdfReader:
        """pypdf, if it may be asked for a page. Raises DocumentError.

        Where the parsers count differently, one's page 2 may be the other's page 1: better a gap than a mix-up.
        """
        second = self._opened_second()
        if self._fast and second.numbered != self._fast.page_count:
            counts = f"{second.numbered} pages, not {self._fast.page_count}"
            raise DocumentError(Reason.CORRUPT, f"pypdf: counts {counts}, so that its numbers mean others")
        return second

    def _opened_second(self) -> PypdfReader:
        if self._second is None:
            raise self._second_failed or DocumentError(Reason.CORRUPT, "pypdf: did not open it")
        return self._second


def _attachment(number: int, file: EmbeddedFile) -> Attachment:
    """An invoice as data shows the same as the pages."""
    pieces = file.content()
    try:
        head = next(pieces, b"")
    except DocumentError as error:
        return Attachment(number, file.name, file.media_type, left_out=f"{error.reason}: {error}")
    rendition_of = None if einvoice_xml.kind_of(head[:_TELLING_BYTES]) is None else 0
    return Attachment(number, file.name, file.media_type, content=chain([head], pieces), rendition_of=rendition_of)


@contextmanager
def _opened(file: BinaryIO, means: Means) -> Iterator[_OpenPdf]:
    head, tail = read_edges(file)
    cut = not any(ending in tail for ending in _ENDINGS)
    document = _OpenPdf(both(file, head, means.limits, means.passwords, cut=cut), means, cut=cut)
    try:
        yield document
    finally:
        document.close()


format: Format = PdfFormat()  # noqa: A001 - the name by which formats are found

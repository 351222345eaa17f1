"""An invoice that came twice, as PDF for people and as XML for programs, is one invoice: the XML points at its PDF.

They belong together when the XML's invoice number stands in the PDF. A scan has no text; then the same name is enough.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePath

from pipeline.documents.markup.einvoice_xml import invoice_number, kind_of
from pipeline.documents.parsing import faults_are_corruption
from pipeline.errors import DocumentError

MOST_BYTES = 20_000_000  # of a file that is looked into; one of a pair is held at a time
MOST_FILES = 1_000
_XML_BYTES = 4_000_000  # the number comes before what is enclosed in an XML
_HEAD_BYTES = 8_192
_PDF_PAGES = 3
_PAGE_CHARACTERS = 20_000
_SAYS_LITTLE = 3  # signs; a shorter number stands on any page
_MOST_SIGNS = 100  # of an invoice number
_SECOND_SUFFIXES = (".ubl", ".cii", ".xml", ".pdf", ".xrechnung", ".zugferd", ".factur-x")  # as in "INV-1.ubl.xml"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be half of a pair; `pieces` yields its bytes, from the start at each call."""

    name: str
    size: int
    pieces: Callable[[], Iterator[bytes]]
    left_out: str = ""


def renditions(files: Sequence[Candidate]) -> dict[int, int]:
    """For each file that is an XML invoice, counted from 1, the number of the PDF that shows it to people.

    Of several PDFs with its number, the one with its name, else the first. Files above 20 MB are not looked into. A
    file that cannot be read has no pair; what is wrong with it is told when it is read.
    """
    numbered = [(number, each) for number, each in enumerate(files[:MOST_FILES], 1) if _may_be_half(each)]
    invoices = [(number, each, found) for number, each in numbered if (found := _number_in_xml(each))]
    if not invoices:
        return {}
    papers = _Papers([(number, each) for number, each in numbered if _head(each, 1024).find(b"%PDF-") >= 0])
    shown_by = {number: papers.showing(each.name, invoice) for number, each, invoice in invoices}
    return {number: paper for number, paper in shown_by.items() if paper}


class _Papers:
    """The PDFs, each read when it is first asked about."""

    def __init__(self, papers: Sequence[tuple[int, Candidate]]) -> None:
        self._papers = papers
        self._texts: dict[int, tuple[str, str]] = {}  # folded, and without any space

    def showing(self, name: str, invoice: str) -> int:
        """The number of the PDF that shows the invoice, 0 if none does."""
        for number, each in self._papers:
            if _stem(each.name) == _stem(name) and (
                not self._text(number, each)[1] or self._shows(number, each, invoice)
            ):
                return number
        if sum(sign.isalnum() for sign in invoice) < _SAYS_LITTLE and len(self._papers) > 1:
            return 0
        return next((number for number, each in self._papers if self._shows(number, each, invoice)), 0)

    def _shows(self, number: int, paper: Candidate, invoice: str) -> bool:
        text, squeezed = self._text(number, paper)
        # Hundreds of invoices against hundreds of PDFs: the first look must be a cheap one.
        return "".join(folded(invoice[:_MOST_SIGNS]).split()) in squeezed and stands_in(invoice, text)

    def _text(self, number: int, paper: Candidate) -> tuple[str, str]:
        if number not in self._texts:
            text = _pdf_text(paper)
            self._texts[number] = text, "".join(text.split())
        return self._texts[number]


def stands_in(invoice: str, text: str) -> bool:
    """Whether the invoice number stands in a `folded` text as a word of its own; how it is spaced does not matter."""
    wanted = "".join(folded(invoice[:_MOST_SIGNS]).split())
    if not wanted or len(invoice) > _MOST_SIGNS:
        return False
    pattern = r"\s*".join(map(re.escape, wanted))
    return re.search(rf"(?<!\w){pattern}(?!\w)", text) is not None


def folded(text: str) -> str:
    """The text as numbers are looked for in it: wide and small letters are the same."""
    return unicodedata.normalize("NFKC", text).casefold()


def _may_be_half(file: Candidate) -> bool:
    return not file.left_out and 0 < file.size <= MOST_BYTES


def _number_in_xml(file: Candidate) -> str:
    head = _head(file, _HEAD_BYTES)
    if b"<" not in head[:200] and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ""
    return (invoice_number(_head(file, _XML_BYTES)) or "").strip() if kind_of(head) else ""


def _head(file: Candidate, most_bytes: int) -> bytes:
    """The first bytes, none of a file that cannot be read."""
    head: list[bytes] = []
    size = 0
    try:
        for piece in file.pieces():
            head.append(piece)
            size += len(piece)
            if size >= most_bytes:
                break
    except DocumentError:
        return b""
    return b"".join(head)[:most_bytes]


def _pdf_text(paper: Candidate) -> str:
    """The text of the first pages, folded; empty for a scan and for what does not open."""
    import pypdfium2  # noqa: PLC0415 - few mails have anything to pair

    texts: list[str] = []
    try:
        with faults_are_corruption("pdfium"), closing(pypdfium2.PdfDocument(_head(paper, MOST_BYTES))) as document:
            for number in range(min(len(document), _PDF_PAGES)):
                with closing(document[number]) as page, closing(page.get_textpage()) as text_page:
                    texts.append(text_page.get_text_range(0, min(text_page.count_chars(), _PAGE_CHARACTERS)))
    except DocumentError:
        pass
    return folded("\n".join(texts))


def _stem(name: str) -> str:
    path = PurePath(PurePath(name.casefold()).stem)
    return path.stem if path.suffix in _SECOND_SUFFIXES else path.name

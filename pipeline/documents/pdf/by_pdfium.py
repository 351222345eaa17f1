"""PDF by pdfium, the fast parser: page count, text, and every character with its box.

pdfium is not made for threads: all of a process's calls must come from one. It is native code, so a hostile page can
end the process; only the parser child may call it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

import pypdfium2
from PIL import Image
from pypdfium2 import raw

from pipeline.documents.page_rows import upright
from pipeline.documents.parsing import faults_are_corruption, read_whole
from pipeline.documents.passwords import candidates, locked
from pipeline.documents.pdf.layout import page_layout
from pipeline.documents.pdf.look import look, shows_text
from pipeline.documents.pdf.page_need import Figures
from pipeline.documents.pdf.render import Plan, painted, plan
from pipeline.documents.places import Places, Sheet
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_SAYING = {raw.FPDF_ANNOT_FREETEXT: b"Contents", raw.FPDF_ANNOT_WIDGET: b"V"}  # where these keep what they show
_ANNOTATIONS = 5_000  # a form has dozens a page
_INVISIBLE = frozenset((raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP))  # to flatten these costs as much as reading
_TELLING = 6_000  # characters that say what a page is


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as pdfium sees it: its text in reading order and laid out, and what decides whether to believe it.

    `places` says where the words of the layout stand, see pipeline.documents.places.
    """

    text: str
    layout: str
    figures: Figures
    places: bytes = b""


class PdfiumReader:
    """A document held open by pdfium. Raises DocumentError: needs_password or corrupt.

    `tail` is an update to be read as if it stood behind the file. `page_count` may be set to less than pdfium counts.
    `with_files` are the pages read so far on which a file is attached.
    """

    def __init__(self, file: BinaryIO, passwords: Sequence[str] = (), tail: bytes = b"") -> None:
        self.engine = f"pypdfium2 {pypdfium2.PYPDFIUM_INFO.version}"
        self._passwords = passwords
        content = file.getvalue() if isinstance(file, io.BytesIO) else file
        with faults_are_corruption("pdfium"):
            self._document: Any = _unlocked(read_whole(file) + tail if tail else content, passwords)
            self.page_count = len(self._document)
            self.restricted = raw.FPDF_GetSecurityHandlerRevision(self._document) >= 0
        self._unpainted: dict[int, str] = {}  # by page, as flattening drops it
        self._painted: dict[int, bool] = {}
        self.with_files: set[int] = set()

    def with_tail(self, file: BinaryIO, tail: bytes) -> PdfiumReader:
        """The same document with an update to it. Raises DocumentError."""
        return PdfiumReader(file, self._passwords, tail)

    def close(self) -> None:
        """Free the native memory. Safe to call again."""
        self._document.close()

    def read(self, number: int) -> Seen:
        """Text, layout and figures of page `number`, counted from 1. Raises DocumentError(corrupt).

        The text still has pdfium's marks for hyphens at line ends; cleaning drops them, and the broken word is whole.
        """
        with faults_are_corruption("pdfium"), self._page(number) as page, closing(page.get_textpage()) as text_page:
            notes = self._unpainted.get(number, "")
            text = text_page.get_text_range()
            lines, places = page_layout(text_page, text)
            return Seen(text + notes, lines + notes, look(page, text_page, text), _packed(page, places))

    def look(self, number: int) -> Figures:
        """The figures of page `number` alone, by the start of its text. Raises DocumentError(corrupt)."""
        with faults_are_corruption("pdfium"), self._page(number) as page, closing(page.get_textpage()) as text_page:
            return look(page, text_page, text_page.get_text_range(0, min(text_page.count_chars(), _TELLING)))

    def shows_text(self, number: int) -> bool:
        """Whether page `number` has text and hardly anything else, by a glance. Raises DocumentError(corrupt)."""
        with faults_are_corruption("pdfium"), closing(self._document[number - 1]) as page:
            return shows_text(page)

    def render(self, number: int, dpi: float, max_megapixels: float) -> tuple[Image.Image, Plan]:
        """Page `number` as an upright grey image, and how it was rendered. Raises DocumentError(corrupt)."""
        with faults_are_corruption("pdfium"), self._page(number) as page:
            width, height = page.get_size()
            how = plan(width, height, dpi, max_megapixels)
            return painted(page, how.width, how.height), how

    @contextmanager
    def _page(self, number: int) -> Iterator[Any]:
        """The page with its notes and filled form fields made part of its text.

        Flattening by the raw call: pypdfium2's own wants init_forms, which never returns for a form that contains
        itself. It changes the document in memory only, and finds nothing to do the second time.
        """
        page = self._document[number - 1]
        try:
            if self._has_paint(number, page) and _flatten(page):
                page.close()
                page = self._document[number - 1]
            yield page
        finally:
            page.close()

    def _has_paint(self, number: int, page: Any) -> bool:
        """Whether there is anything to flatten, by a look at the annotations that also takes down what they say."""
        if raw.FPDFPage_GetAnnotCount(page) < 1:
            return False
        if number not in self._unpainted:
            notes, self._painted[number] = [], False
            for annotation, kind in _annotations(page):
                if kind == raw.FPDF_ANNOT_FILEATTACHMENT:
                    self.with_files.add(number)
                self._painted[number] |= kind not in _INVISIBLE
                notes.append(_unpainted(annotation, kind))
            self._unpainted[number] = "".join(notes)
        return self._painted[number]


def _packed(page: Any, places: Places) -> bytes:
    """The places as the page is shown: turned, and as far as it is cut out."""
    left, bottom, right, top = page.get_bbox()
    turns = page.get_rotation() // 90
    if turns:
        places = places.moved(partial(upright, turns=4 - turns))
        left, bottom, right, top = upright(left, bottom, right, top, 4 - turns)
    return places.packed(Sheet(left, top, right - left, top - bottom))


def _unlocked(content: bytes | BinaryIO, passwords: Sequence[str]) -> Any:
    """The document, opened with the first password that fits. Raises DocumentError(needs_password), PdfiumError."""
    for password in candidates(passwords):
        try:
            return pypdfium2.PdfDocument(content, password)
        except pypdfium2.PdfiumError as error:
            if error.err_code != raw.FPDF_ERR_PASSWORD:
                raise
    raise DocumentError(Reason.NEEDS_PASSWORD, locked(passwords))


def _flatten(page: Any) -> bool:
    """Whether notes or fields became part of the page, which then must be loaded again."""
    return bool(raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS)


def _annotations(page: Any) -> Iterator[tuple[Any, int]]:
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if annotation:
            try:
                yield annotation, raw.FPDFAnnot_GetSubtype(annotation)
            finally:
                raw.FPDFPage_CloseAnnot(annotation)


def _unpainted(annotation: Any, kind: int) -> str:
    """A note or field value that leaves its looks to the viewer: there is nothing of it to flatten."""
    key = _SAYING.get(kind)
    if not key or raw.FPDFAnnot_HasKey(annotation, b"AP"):
        return ""
    words = _string(annotation, key).strip()
    return f"\n{words}" if words else ""


def _string(annotation: Any, key: bytes) -> str:
    byte_count = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    buffer = (raw.FPDF_WCHAR * (byte_count // 2 + 1))()
    raw.FPDFAnnot_GetStringValue(annotation, key, buffer, byte_count)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00")

"""PDF by pdfium, the fast parser: page count, text, and every character with its box.

pdfium is not made for threads: all of a process's calls must come from one. It is native code, so a hostile page can
end the process; only the parser child may call it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pypdfium2
from pypdfium2 import raw

from pipeline.documents.parsing import faults_are_corruption
from pipeline.documents.pdf_layout import page_layout
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_SAYING = {raw.FPDF_ANNOT_FREETEXT: b"Contents", raw.FPDF_ANNOT_WIDGET: b"V"}  # where these keep what they show
_ANNOTATIONS = 5_000  # a form has dozens a page


class PdfiumReader:
    """A document held open by pdfium. Raises DocumentError: needs_password or corrupt."""

    def __init__(self, path: Path) -> None:
        self.engine = f"pypdfium2 {pypdfium2.PYPDFIUM_INFO.version}"
        with faults_are_corruption("pdfium"):
            try:
                self._document: Any = pypdfium2.PdfDocument(path)
            except pypdfium2.PdfiumError as error:
                if error.err_code == raw.FPDF_ERR_PASSWORD:
                    raise DocumentError(Reason.NEEDS_PASSWORD, "the document opens only with a password") from error
                raise
            self.page_count = len(self._document)
            self.restricted = raw.FPDF_GetSecurityHandlerRevision(self._document) >= 0
        self._unpainted: dict[int, str] = {}  # by page, as flattening drops it

    def close(self) -> None:
        """Free the native memory. Safe to call again."""
        self._document.close()

    def read(self, number: int) -> tuple[str, str]:
        """Text and layout of page `number`, counted from 1. Raises DocumentError(corrupt).

        The text still has pdfium's marks for hyphens at line ends; cleaning drops them, and the broken word is whole.
        """
        with faults_are_corruption("pdfium"), self._page(number) as page, closing(page.get_textpage()) as text_page:
            notes = self._unpainted.get(number, "")
            text = text_page.get_text_range()
            return text + notes, page_layout(text_page, text) + notes

    def is_bare(self, number: int) -> bool:
        """Whether nothing is drawn on the page. Raises DocumentError(corrupt)."""
        with faults_are_corruption("pdfium"), self._page(number) as page:
            return int(raw.FPDFPage_CountObjects(page)) == 0

    @contextmanager
    def _page(self, number: int) -> Iterator[Any]:
        """The page with its notes and filled form fields made part of its text.

        Flattening by the raw call: pypdfium2's own wants init_forms, which never returns for a form that contains
        itself. It changes the document in memory only, and finds nothing to do the second time.
        """
        page = self._document[number - 1]
        try:
            self._unpainted.setdefault(number, "".join(_unpainted(page)))
            if _flatten(page):
                page.close()
                page = self._document[number - 1]
            yield page
        finally:
            page.close()


def _flatten(page: Any) -> bool:
    """Whether notes or fields became part of the page, which then must be loaded again."""
    if raw.FPDFPage_GetAnnotCount(page) < 1:
        return False
    return bool(raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS)


def _unpainted(page: Any) -> Iterator[str]:
    """Notes and field values that leave their looks to the viewer: there is nothing of them to flatten."""
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            key = _SAYING.get(raw.FPDFAnnot_GetSubtype(annotation))
            if key and not raw.FPDFAnnot_HasKey(annotation, b"AP"):
                words = _string(annotation, key).strip()
                yield f"\n{words}" if words else ""
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _string(annotation: Any, key: bytes) -> str:
    byte_count = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    buffer = (raw.FPDF_WCHAR * (byte_count // 2 + 1))()
    raw.FPDFAnnot_GetStringValue(annotation, key, buffer, byte_count)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\x00")

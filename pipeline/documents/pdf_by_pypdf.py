"""PDF by pypdf, the second parser: slower, but it opens some of what pdfium refuses, and knows why a file is locked."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pypdf
from pypdf import PasswordType, PdfReader

from pipeline.documents.parsing import faults_are_corruption, read_whole
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_LOCKED = "the document opens only with a password"


class PypdfReader:
    """A document held open by pypdf, its bytes in memory. Raises DocumentError: needs_password, corrupt or io_error."""

    def __init__(self, path: Path) -> None:
        self.engine = f"pypdf {pypdf.__version__}"
        logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs a line for every oddity of every object
        content = io.BytesIO(read_whole(path))
        with faults_are_corruption("pypdf"):
            self._reader = PdfReader(content)
            self.restricted = self._reader.is_encrypted
        if self.restricted:
            _unlock(self._reader)
        with faults_are_corruption("pypdf"):
            self.page_count = len(self._reader.pages)
        if self.page_count < 1:
            raise DocumentError(Reason.CORRUPT, "pypdf: the document has no pages")

    def read(self, number: int) -> str:
        """Text of page `number`, counted from 1. Raises DocumentError(corrupt)."""
        with faults_are_corruption("pypdf"):
            return self._reader.pages[number - 1].extract_text()


def _unlock(reader: PdfReader) -> None:
    """Open what the owner restricted but did not lock. Raises DocumentError(needs_password)."""
    try:
        with faults_are_corruption("pypdf"):
            opened = reader.decrypt("") != PasswordType.NOT_DECRYPTED
    except DocumentError as error:  # an encryption that is made for certificates, or that nobody knows
        raise DocumentError(Reason.NEEDS_PASSWORD, f"{_LOCKED}, or not at all ({error})") from error
    if not opened:
        raise DocumentError(Reason.NEEDS_PASSWORD, _LOCKED)

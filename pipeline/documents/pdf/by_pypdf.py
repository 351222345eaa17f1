"""PDF by pypdf, the second parser: slower, but it opens some of what pdfium refuses, and knows why a file is locked.

It also sees what pdfium hides: the tree of pages, streams before they are inflated, and files inside.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import BinaryIO

import pypdf
from pypdf import PasswordType, PdfReader
from pypdf.generic import StreamObject

from pipeline.documents.parsing import faults_are_corruption
from pipeline.documents.passwords import LOCKED, candidates, locked
from pipeline.documents.pdf.tree import count_pages
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_EMPTY_STREAM = 16  # bytes; nothing at all, compressed, has 8


class PypdfReader:
    """A document held open by pypdf. Raises DocumentError: needs_password, corrupt or io_error.

    `page_count` is what the tree of pages holds; `numbered` is how many pages can be read by number, and costs a walk.
    """

    def __init__(self, file: BinaryIO, passwords: Sequence[str] = ()) -> None:
        self.engine = f"pypdf {pypdf.__version__}"
        logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it logs a line for every oddity of every object
        with faults_are_corruption("pypdf"):
            self.reader = PdfReader(file)
            self.restricted = self.reader.is_encrypted
        if self.restricted:
            _unlock(self.reader, passwords)
        with faults_are_corruption("pypdf"):
            counted = count_pages(self.reader)
            self.page_count = len(self.reader.pages) if counted is None else counted
        if self.page_count < 1:
            raise DocumentError(Reason.CORRUPT, "pypdf: the document has no pages")

    @property
    def numbered(self) -> int:
        """How many pages pypdf numbers. Raises DocumentError(corrupt)."""
        with faults_are_corruption("pypdf"):
            return len(self.reader.pages)

    def read(self, number: int) -> str:
        """Text of page `number`, counted from 1. Raises DocumentError(corrupt)."""
        with faults_are_corruption("pypdf"):
            return self.reader.pages[number - 1].extract_text()

    def check_content(self, number: int) -> None:
        """Raises DocumentError(corrupt) when the page has drawing instructions that cannot be unpacked."""
        with faults_are_corruption("pypdf"):
            content = self.reader.pages[number - 1].get("/Contents")
            found = content.get_object() if content is not None else []
            for stream in [found] if isinstance(found, StreamObject) else [each.get_object() for each in found]:
                packed = len(stream._data)  # as it stands in the file
                if packed > _EMPTY_STREAM and not stream.get_data().strip():
                    raise DocumentError(Reason.CORRUPT, f"its {packed:,} bytes of drawing instructions are damaged")


def _unlock(reader: PdfReader, passwords: Sequence[str]) -> None:
    """Open with the first password that fits, the empty one first. Raises DocumentError(needs_password)."""
    try:
        with faults_are_corruption("pypdf"):
            opened = any(reader.decrypt(each) != PasswordType.NOT_DECRYPTED for each in candidates(passwords))
    except DocumentError as error:  # an encryption that is made for certificates, or that nobody knows
        raise DocumentError(Reason.NEEDS_PASSWORD, f"{LOCKED}, or not at all ({error})") from None
    if not opened:
        raise DocumentError(Reason.NEEDS_PASSWORD, locked(passwords))

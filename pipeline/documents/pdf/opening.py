"""Opening a PDF: by both parsers where they can, counted right, unlocked, and refused before a bomb is inflated."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.config import LimitSettings
from pipeline.documents.parsing import faults_are_corruption, faults_are_io, read_whole
from pipeline.documents.pdf.by_pdfium import PdfiumReader
from pipeline.documents.pdf.by_pypdf import PypdfReader
from pipeline.documents.pdf.inflation import check_streams, may_hold_a_bomb
from pipeline.documents.pdf.tree import correction
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

HEADER = b"%PDF-"
HEADER_WITHIN = 1024  # bytes; mail gateways and scanners write before it, and viewers look this far
_HEAVY = 20_000_000  # bytes of one page's instructions
_HELD = 32_000_000  # bytes; a larger file is read where it is, piece by piece


@dataclass(frozen=True, slots=True)
class Opened:
    """What opened the file: at least one of the two.

    `second_failed` is why pypdf did not. `heavy` says that loading a page may take seconds and hundreds of megabytes.
    """

    fast: PdfiumReader | None
    second: PypdfReader | None
    second_failed: DocumentError | None = None
    heavy: bool = False


def both(file: BinaryIO, head: bytes, limits: LimitSettings, passwords: Sequence[str], *, cut: bool) -> Opened:
    """Open with pdfium and pypdf. `head` is the file's beginning, `cut` whether its end is missing.

    Raises DocumentError: needs_password, bomb, truncated, corrupt, unsupported or io_error.
    """
    held = _held(file)
    heavy = _is_heavy(held, limits)
    second, second_failed = _by_pypdf(held, passwords)
    try:
        fast = PdfiumReader(held, passwords)
    except DocumentError as error:
        if second_failed:
            raise _refusal(head, cut, error, second_failed) from error
        return Opened(None, second, heavy=heavy)
    return Opened(_counted(held, fast, second, limits.max_pages) if second else fast, second, second_failed, heavy)


def _held(file: BinaryIO) -> BinaryIO:
    with faults_are_io():
        size = file.seek(0, io.SEEK_END)
    return io.BytesIO(read_whole(file)) if size <= _HELD else file


def _by_pypdf(file: BinaryIO, passwords: Sequence[str]) -> tuple[PypdfReader | None, DocumentError | None]:
    try:
        return PypdfReader(file, passwords), None
    except DocumentError as error:
        return None, error


def _is_heavy(file: BinaryIO, limits: LimitSettings) -> bool:
    """Whether a page may take seconds to load. Raises DocumentError(bomb).

    Encryption hides a bomb, and in a large file nobody looks for one: there the child's memory is the limit.
    """
    if isinstance(file, io.BytesIO) and may_hold_a_bomb(file.getvalue()):
        return check_streams(file.getvalue(), limits.max_inflated_megabytes) > _HEAVY
    return False


def _counted(file: BinaryIO, fast: PdfiumReader, second: PypdfReader, max_pages: int) -> PdfiumReader:
    """pdfium's reader with the pages that are there: it believes a file that counts too few, or too many."""
    if second.page_count <= fast.page_count:
        fast.page_count = second.page_count
        return fast
    if second.page_count > max_pages:
        fast.page_count = second.page_count  # refused for that by whoever reads it
        return fast
    try:
        with faults_are_corruption("pypdf"):
            tail = correction(second.reader, read_whole(file), second.page_count)
        corrected = fast.with_tail(file, tail)
    except DocumentError:
        return fast
    if corrected.page_count != second.page_count:
        corrected.close()
        return fast
    fast.close()
    return corrected


def _refusal(head: bytes, cut: bool, by_pdfium: DocumentError, by_pypdf: DocumentError) -> DocumentError:
    """Why nobody opens it: locked before missing before damaged, the most useful first."""
    for error in (by_pypdf, by_pdfium):
        if error.reason in (Reason.NEEDS_PASSWORD, Reason.IO_ERROR):
            return error
    if HEADER not in head[:HEADER_WITHIN]:
        return DocumentError(Reason.UNSUPPORTED, "the file has no PDF header")
    if cut:
        return DocumentError(Reason.TRUNCATED, "the PDF starts well, but its end is missing")
    return DocumentError(Reason.CORRUPT, f"no parser opens the PDF: {by_pdfium}; {by_pypdf}")

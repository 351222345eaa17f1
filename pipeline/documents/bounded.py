"""How much text is read into memory: decoded, cleaned and cut into pages it needs about ten times its size."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.documents.parsing import faults_are_io
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

MOST_TEXT_BYTES = 50_000_000


def read_text(file: BinaryIO, kind: str, most_bytes: int = MOST_TEXT_BYTES) -> bytes:
    """All bytes. Raises DocumentError: too_large, before reading, for more than `most_bytes`; io_error."""
    with faults_are_io():
        size = file.seek(0, 2)
        if size > most_bytes:
            raise DocumentError(
                Reason.TOO_LARGE,
                f"{kind} of {size / 1e6:,.1f} MB; doclease reads {kind} up to {most_bytes / 1e6:,.0f} MB, "
                "whatever limits.max_megabytes is. Split it and drop the parts",
            )
        file.seek(0)
        return file.read()

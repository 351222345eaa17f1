"""How much text is read into memory: decoded, cleaned and cut into pages it needs about ten times its size."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.config import MEGABYTE, LimitSettings
from pipeline.documents.parsing import faults_are_io
from pipeline.errors import DocumentError
from pipeline.reasons import Reason


def read_text(file: BinaryIO, kind: str, limits: LimitSettings) -> bytes:
    """All bytes. Raises DocumentError: too_large, before reading, beyond limits.max_text_megabytes; io_error."""
    with faults_are_io():
        size = file.seek(0, 2)
        if size > limits.max_text_megabytes * MEGABYTE:
            raise DocumentError(
                Reason.TOO_LARGE,
                f"{kind} of {size / MEGABYTE:,.1f} MB, limits.max_text_megabytes is {limits.max_text_megabytes:g}: "
                "split it, or raise the key and worker.max_memory_megabytes by ten times as much",
            )
        file.seek(0)
        return file.read()

"""What a parser raises on hostile bytes is anything; what leaves a format is a DocumentError with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pipeline.errors import DocumentError
from pipeline.reasons import Reason

EDGE_BYTES = 4096  # how much of either end of a file tells what it is
_MESSAGE_CHARACTERS = 200  # parsers quote the document's own bytes


@contextmanager
def faults_are_corruption(parser: str) -> Iterator[None]:
    """Raise whatever the parser raises as DocumentError(corrupt). Lack of memory is not the document's and passes."""
    try:
        yield
    except (DocumentError, MemoryError):
        raise
    except Exception as error:  # KeyError, RecursionError, zlib.error, struct.error: parsers raise them all
        detail = f"{type(error).__name__}: {error}"[:_MESSAGE_CHARACTERS]
        raise DocumentError(Reason.CORRUPT, f"{parser}: {detail}") from error


@contextmanager
def faults_are_io() -> Iterator[None]:
    """Raise an OSError as DocumentError(io_error): the disk's fault, not the document's."""
    try:
        yield
    except OSError as error:
        raise DocumentError(Reason.IO_ERROR, f"the file cannot be read: {error.strerror or error}") from error


def read_edges(file: BinaryIO) -> tuple[bytes, bytes]:
    """The first and the last 4 KiB. Raises DocumentError(empty_file) for 0 bytes and (io_error) when unreadable."""
    with faults_are_io():
        file.seek(0)
        head = file.read(EDGE_BYTES)
        file.seek(-min(EDGE_BYTES, file.seek(0, 2)), 2)
        tail = file.read(EDGE_BYTES)
    if not head:
        raise DocumentError(Reason.EMPTY_FILE, "the file has 0 bytes")
    return head, tail


def read_whole(file: BinaryIO) -> bytes:
    """All bytes. Raises DocumentError(io_error) when unreadable."""
    with faults_are_io():
        file.seek(0)
        return file.read()

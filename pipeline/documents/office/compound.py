"""Compound files, the container of old Office documents, of locked new ones and of embedded objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import olefile

from pipeline.documents.parsing import faults_are_corruption
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAX_STREAM_BYTES = 100_000_000  # a stream is read as a whole


def is_compound(head: bytes) -> bool:
    """Whether these first bytes open a compound file."""
    return head.startswith(SIGNATURE)


@contextmanager
def opened(file: BinaryIO) -> Iterator[olefile.OleFileIO[Any]]:
    """The compound file; `file` stays open. Raises DocumentError(corrupt)."""
    file.seek(0)
    with faults_are_corruption("compound file"):
        found = olefile.OleFileIO(file)
    yield found


def stream_names(file: BinaryIO) -> tuple[str, ...]:
    """The streams and folders at the top of a compound file; none when it is damaged."""
    try:
        with opened(file) as found:
            return tuple(dict.fromkeys(path[0] for path in found.listdir(storages=True)))
    except DocumentError:
        return ()


def read_stream(found: olefile.OleFileIO[Any], name: str) -> bytes:
    """A stream's bytes. Raises DocumentError(too_large) or (corrupt)."""
    with faults_are_corruption("compound file"):
        size = found.get_size(name)
        if size > MAX_STREAM_BYTES:
            raise DocumentError(
                Reason.TOO_LARGE, f"the stream {name} has {size:,} bytes; more than {MAX_STREAM_BYTES:,} are not read"
            )
        return bytes(found.openstream(name).read())

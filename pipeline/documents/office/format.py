"""What is the same for every office format: it is told by its parts, and counted by reading it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from pipeline.documents.contract import Inspection, Means, OpenDocument
from pipeline.documents.office.text import OpenPages

Recogniser = Callable[[bytes, bytes, str], bool]


class OfficeFormat:
    """One kind of office file. `is_ours` judges head, tail and name; `read` gives all pages, compressed in memory."""

    def __init__(
        self, name: str, media_type: str, is_ours: Recogniser, read: Callable[[BinaryIO, Means], OpenPages]
    ) -> None:
        self.name = name
        self.media_types: tuple[str, ...] = (media_type,)
        self._is_ours = is_ours
        self._read = read

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By the parts inside. The name tells which kind a locked or a cut one is."""
        return self.media_types[0] if self._is_ours(head, tail, name) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the whole document for it. Raises DocumentError."""
        with self.open(file, means) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading.

        Raises DocumentError: empty_file, unsupported, needs_password, truncated, corrupt, too_large, bomb,
        too_many_pages.
        """
        yield self._read(file, means)

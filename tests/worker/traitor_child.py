"""A parser child that a document has taken over: on each of its pages it tries one thing that is forbidden.

A traitor document begins with the line TRAITOR; the rest is the path of a folder to do harm in. The text of page n is
what came of the attempt n. The child is the real one, in the real sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pipeline import handling
from pipeline.documents.contract import Inspection, Means, OpenDocument
from pipeline.documents.text import Page, Source
from pipeline.worker import child
from tests.worker import attempts

MODULE = "tests.worker.traitor_child"
HEAD = b"TRAITOR\n"


class TraitorFormat:
    """Documents that try what the sandbox forbids."""

    name = "traitor"
    media_types: tuple[str, ...] = ("text/x-traitor",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By its first line."""
        return self.media_types[0] if head.startswith(HEAD) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """A page for each attempt."""
        return Inspection(self.media_types[0], len(attempts.FORBIDDEN))

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Find out where to do harm."""
        outside = Path(file.read().removeprefix(HEAD).decode())
        yield _OpenTraitor(attempts.Stage(outside, file.fileno()))


class _OpenTraitor:
    def __init__(self, stage: attempts.Stage) -> None:
        self._stage = stage

    @property
    def page_count(self) -> int:
        return len(attempts.FORBIDDEN)

    def read_page(self, number: int) -> Page:
        attempt = list(attempts.FORBIDDEN.values())[number - 1]
        text = attempts.outcome(attempt, self._stage)
        return Page(number, text, text, Source.NATIVE, engine="traitor")


if __name__ == "__main__":
    child.main((TraitorFormat(),), handling.discover)

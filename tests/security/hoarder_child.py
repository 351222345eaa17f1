"""A parser child in the real sandbox that fills its scratch folder: with many files, much data or a deep nest.

A hoarder document is one line: HOARDER and what to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pipeline import handling
from pipeline.documents.contract import Inspection, Means, OpenDocument
from pipeline.documents.text import Page, Source
from pipeline.worker import child

MODULE = "tests.security.hoarder_child"
HEAD = b"HOARDER "
DEPTH = 2500  # deeper than paths can be written and than Python recurses
FILES = 1_500
LATEST_SECONDS = 120  # by then the parent has ended it, or the test fails


def _nothing() -> None:
    pass


def _nest() -> None:
    for _ in range(DEPTH):
        os.mkdir("a")  # noqa: PTH102 - paths as deep as this cannot be named
        os.chdir("a")


def _many() -> None:
    for number in range(FILES):
        Path(str(number)).touch()


def _much() -> None:
    for number in range(30):
        Path(str(number)).write_bytes(bytes(1_000_000))


DEEDS: Mapping[str, Callable[[], None]] = {"nothing": _nothing, "nest": _nest, "many": _many, "much": _much}


class HoarderFormat:
    """Documents that say how to fill the scratch folder."""

    name = "hoarder"
    media_types: tuple[str, ...] = ("text/x-hoarder",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By its first word."""
        return self.media_types[0] if head.startswith(HEAD) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Do it, then wait for the parent's judgement."""
        deed = file.read().removeprefix(HEAD).decode()
        DEEDS[deed]()
        for _ in range(LATEST_SECONDS * 10 if deed != "nothing" else 0):
            time.sleep(0.1)
        return Inspection(self.media_types[0], 1)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """One empty page."""
        yield _Empty()


class _Empty:
    page_count = 1

    def read_page(self, number: int) -> Page:
        """Nothing."""
        return Page(number, "", "", Source.NATIVE)


if __name__ == "__main__":
    child.main((HoarderFormat(),), handling.discover)

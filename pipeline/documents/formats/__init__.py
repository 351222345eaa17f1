"""One file a format: a module here that ends in `format: Format = …` is found by itself; nothing else needs to change.

A format runs inside the parser child only. It raises DocumentError with a Reason for a document it cannot open, and
UnreadablePage for a page it cannot read; any other exception is a bug that the worker reports as such.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from pipeline.documents.text import Page


@dataclass(frozen=True, slots=True)
class Inspection:
    """What triage learns of a file without reading it.

    `page_count` is at least 1 for a file that can be opened. `ocr_page_count` of them need optical recognition, a few
    hundred times the work. `restricted` says that the owner forbids printing or copying; the text is readable anyway.
    """

    media_type: str
    page_count: int
    ocr_page_count: int = 0
    restricted: bool = False


@runtime_checkable
class OpenDocument(Protocol):
    """A document held open for reading its pages."""

    @property
    def page_count(self) -> int:
        """How many pages it has, at least 1."""

    def read_page(self, number: int) -> Page:
        """Read page `number`, counted from 1. Raises UnreadablePage; any page, in any order, again."""


@runtime_checkable
class Format(Protocol):
    """One kind of file. Stateless: one instance serves every document."""

    name: str
    media_types: tuple[str, ...]

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """The media type if the content, by its first and last 4 KiB, is this format. `name` may only break a tie."""

    def inspect(self, path: Path) -> Inspection:
        """Count pages without reading them. Raises DocumentError with the reason the file cannot be read."""

    def open(self, path: Path) -> AbstractContextManager[OpenDocument]:
        """Open for reading; closes with the context. Raises DocumentError."""


def discover() -> tuple[Format, ...]:
    """Every format of this package, by name. A module without `format` is an error, named."""
    return tuple(sorted(_formats(), key=lambda each: each.name))


def _formats() -> Iterator[Format]:
    for module in pkgutil.iter_modules(__path__):
        yield importlib.import_module(f"{__name__}.{module.name}").format

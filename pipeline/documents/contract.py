"""What a format is: it opens a file and gives its pages, and the files inside it if there are any.

A format runs inside the parser child only. It gets the document as an open file, never as a path, and raises
DocumentError with a Reason for a document it cannot open and UnreadablePage for a page it cannot read; any other
exception is a bug that the worker reports as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol, runtime_checkable

from pipeline.config import LimitSettings
from pipeline.documents.ocr import Reader
from pipeline.documents.text import Page


@dataclass(frozen=True, slots=True)
class Means:
    """What a format may use besides the bytes.

    `passwords` are tried on a locked document, in this order, after the empty one. `ocr` reads images; None when there
    is no recognition.
    """

    limits: LimitSettings = field(default_factory=LimitSettings)
    passwords: tuple[str, ...] = ()
    ocr: Reader | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """What triage learns of a file without reading it.

    `page_count` is at least 1 for a file that can be opened. About `ocr_page_count` of them need optical recognition, a
    few hundred times the work; a long document may be sampled. `restricted` says that the owner forbids printing or
    copying; the text is readable anyway.
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


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside a document: a part of a mail, an entry of an archive, an embedded file.

    `number` counts from 1 in the order of appearance, those left out included, and is the same each time. `name` is as
    it is written there: to show, never to be used as a path. `media_type` is what the document says it is, empty if
    nothing. `left_out` says why it does not become a document of its own, "decoration: an image of 80 x 30 pixels" for
    example, or "bomb: …"; `content` is None then. Otherwise `content` yields the bytes in pieces, once, and only until
    the next attachment is asked for; it may raise DocumentError, which leaves this one out.
    `rendition_of` is the number of the attachment that shows the same invoice to people (a PDF for its XML), 0 for the
    document itself.
    """

    number: int
    name: str
    media_type: str = ""
    left_out: str = ""
    content: Iterator[bytes] | None = None
    rendition_of: int | None = None


@runtime_checkable
class Tree(Protocol):
    """An open document that carries files. A format whose documents never do need not know of it."""

    def attachments(self) -> Iterator[Attachment]:
        """Every file inside, in order. Raises DocumentError, with what came before still good."""


@runtime_checkable
class Format(Protocol):
    """One kind of file. Stateless: one instance serves every document."""

    name: str
    media_types: tuple[str, ...]

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """The media type if the content, by its first and last 4 KiB, is this format. `name` may only break a tie.

        Of a ZIP or a compound file, `tail` also has the names inside: see packages.listing.
        """

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages, cheaply. Raises DocumentError with the reason the file cannot be read."""

    def open(self, file: BinaryIO, means: Means) -> AbstractContextManager[OpenDocument]:
        """Open for reading; closes with the context, but for `file`, which is the caller's. Raises DocumentError."""

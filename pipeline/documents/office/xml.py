"""XML of office parts as a stream of events: no tree, no entities, no names from outside, memory of one tag.

Names come without their prefix: the same parts are written in several namespaces, and none uses a name twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol
from xml.parsers import expat

from pipeline.errors import DocumentError
from pipeline.reasons import Reason

MAX_SILENT_PIECES = 32  # of 256 KiB: a single tag of 8 MB is no office document's
MAX_DEPTH = 2_000

Attributes = Mapping[str, str]


class Listener(Protocol):
    """What is told of the events of one part."""

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""

    def end(self, tag: str) -> None:
        """An element ends."""

    def text(self, data: str) -> None:
        """Characters, in pieces."""


def attribute(attributes: Attributes, name: str) -> str | None:
    """The value of an attribute by its name without prefix."""
    if name in attributes:
        return attributes[name]
    return next((value for key, value in attributes.items() if key.rpartition(":")[2] == name), None)


def read_xml(pieces: Iterable[bytes], listener: Listener, part: str) -> None:
    """Tell `listener` of everything in a part. Raises DocumentError: corrupt or bomb, with the part's name."""
    _Reading(listener, part).read(iter(pieces))


class _Reading:
    """One part, being read."""

    def __init__(self, listener: Listener, part: str) -> None:
        self._listener, self._part = listener, part
        self._names: dict[str, str] = {}
        self._depth = 0
        self._silent = 0
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.buffer_size = 65_536
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._refuse_types
        parser.DefaultHandler = self._other
        self._parser = parser

    def read(self, pieces: Iterator[bytes]) -> None:
        """Parse to the end. A listener's own errors pass."""
        try:
            for piece in pieces:
                self._silent += 1
                self._parser.Parse(piece, False)
                if self._silent > MAX_SILENT_PIECES:
                    raise DocumentError(Reason.BOMB, f"{self._part} has a tag of more than 8 MB")
            self._parser.Parse(b"", True)
        except (expat.ExpatError, LookupError, ValueError) as error:  # the latter two for an unknown encoding
            raise DocumentError(Reason.CORRUPT, f"{self._part} is no well-formed XML: {error}") from error

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._silent = 0
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise DocumentError(Reason.BOMB, f"{self._part} is nested more than {MAX_DEPTH:,} deep")
        self._listener.start(self._local(name), attributes)

    def _end(self, name: str) -> None:
        self._silent = 0
        self._depth -= 1
        self._listener.end(self._local(name))

    def _text(self, data: str) -> None:
        self._silent = 0
        self._listener.text(data)

    def _other(self, data: str) -> None:
        self._silent = 0

    def _local(self, name: str) -> str:
        return self._names.get(name) or self._names.setdefault(name, name.rpartition(":")[2])

    def _refuse_types(self, *_: object) -> None:
        """Office parts have no document type; entities are declared there."""
        raise DocumentError(Reason.BOMB, f"{self._part} declares a document type, where entities can grow without end")

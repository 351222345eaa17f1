"""A package written as one XML file: its parts are cut out of the bytes, unparsed, and read like those of a ZIP."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from pipeline.config import MEGABYTE, LimitSettings
from pipeline.documents.parsing import read_whole
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

MAX_BYTES = 150_000_000  # it is held in memory, and its pictures are decoded there
_MARK = b"schemas.microsoft.com/office/2006/xmlPackage"
_PART = re.compile(
    rb'<(?:[\w.-]+:)?part\s[^<>]*?name\s*=\s*["\']([^"\'<>]{1,500})["\'][^<>]*>\s*<(?:[\w.-]+:)?(xmlData|binaryData)\b[^<>]*>'
)
_CLOSING = {kind: re.compile(rb"</(?:[\w.-]+:)?" + kind + rb"\s*>") for kind in (b"xmlData", b"binaryData")}
_PIECE = 256 * 1024


def is_flat_word(head: bytes) -> bool:
    """Whether these first bytes open a Word document that is one XML file."""
    return _MARK in head and (b"Word.Document" in head or b"word/" in head)


class FlatPackage:
    """The parts of a package that is one XML file."""

    def __init__(self, file: BinaryIO, limits: LimitSettings) -> None:
        """Find the parts. Raises DocumentError: too_large, io_error."""
        size = file.seek(0, 2)
        if size > min(MAX_BYTES, limits.max_inflated_megabytes * MEGABYTE):
            raise DocumentError(
                Reason.TOO_LARGE,
                f"a document in one XML file of {size:,} bytes; more than {MAX_BYTES:,} or"
                " limits.max_inflated_megabytes are not read",
            )
        self._raw = read_whole(file)
        self._parts = dict(self._find())

    def _find(self) -> Iterator[tuple[str, tuple[int, int, bool]]]:
        at = 0
        while opening := _PART.search(self._raw, at):
            closing = _CLOSING[opening[2]].search(self._raw, opening.end())
            if not closing:
                raise DocumentError(Reason.TRUNCATED, "the document in one XML file ends within a part")
            name = opening[1].decode("utf-8", "replace").lstrip("/").lower()
            yield name, (opening.end(), closing.start(), opening[2] == b"binaryData")
            at = closing.end()

    @property
    def names(self) -> Sequence[str]:
        """Every part, in the order of the file."""
        return tuple(self._parts)

    def has(self, name: str) -> bool:
        """Whether there is such a part, in any case."""
        return name.lower() in self._parts

    def size(self, name: str) -> int:
        """Bytes of the part as it is written; 0 when there is none."""
        start, end, _ = self._parts.get(name.lower(), (0, 0, False))
        return end - start

    def shown_name(self, name: str) -> str:
        """The last piece of a part's name, in lower case."""
        return name.rpartition("/")[2]

    def pieces(self, name: str) -> Iterator[bytes]:
        """The part's bytes in pieces. Raises DocumentError(corrupt) for what is no Base64."""
        start, end, binary = self._parts.get(name.lower(), (0, 0, False))
        if binary:
            try:
                yield binascii.a2b_base64(self._raw[start:end])
            except binascii.Error as error:
                raise DocumentError(Reason.CORRUPT, f"{name} is not written in Base64: {error}") from error
            return
        for at in range(start, end, _PIECE):
            yield self._raw[at : min(at + _PIECE, end)]

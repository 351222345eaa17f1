"""Outlook's messages as objects with properties: a message, its recipients and files, and messages inside a file.

A compound file has a folder for each object; each property is a stream in it or, when it is small, a record of the
folder's table. Sizes are checked against the file's before anything is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import olefile

from pipeline.documents.encodings import decode
from pipeline.documents.parsing import faults_are_corruption
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

TABLE = "__properties_version1.0"
_STREAM = "__substg1.0_"
_WIDE, _NARROW, _BINARY, _OBJECT, _NUMBER, _TIME = "001F", "001E", "0102", "000D", 0x0003, 0x0040
_RECORD_BYTES = 16
_HEADER_BYTES = (32, 24, 8)  # of the table: of a message, of one inside another, of a recipient or a file
_CODE_PAGES = (0x3FFD, 0x3FDE)  # the message's, the internet's
_PAGE_NAMES = {
    65001: "utf-8", 20127: "ascii", 28591: "iso8859-1", 28592: "iso8859-2", 28605: "iso8859-15", 20866: "koi8-r",
    50220: "iso2022_jp", 50221: "iso2022_jp", 51932: "euc_jp", 54936: "gb18030",
}  # fmt: skip
_MOST_PAGES = 66_000
_MOST_BYTES = 20_000_000  # of a property that is text
_MOST_TABLE_BYTES = 1_000_000


class MessageFile:
    """A compound file that holds a message. Raises DocumentError(corrupt) while it is opened."""

    def __init__(self, found: olefile.OleFileIO[Any], byte_count: int) -> None:
        self._found = found
        self._byte_count = byte_count
        self._inside: dict[tuple[str, ...], list[str]] = {}
        with faults_are_corruption("message file"):
            for path in found.listdir(streams=True, storages=True):
                self._inside.setdefault(tuple(path[:-1]), []).append(path[-1])

    @property
    def message(self) -> Properties:
        """The message itself. Raises DocumentError(unsupported) for a compound file without one."""
        if TABLE not in self.names(()):
            raise DocumentError(Reason.UNSUPPORTED, "the compound file holds no Outlook message")
        return Properties(self, (), _HEADER_BYTES[0])

    def names(self, path: tuple[str, ...]) -> list[str]:
        """What is in a folder."""
        return self._inside.get(path, [])

    def size(self, path: tuple[str, ...]) -> int:
        """The bytes of a stream, 0 if there is none. Raises DocumentError(corrupt) for more than the file has."""
        if path[-1] not in self.names(path[:-1]):
            return 0
        with faults_are_corruption("message file"):
            size = int(self._found.get_size(list(path)))
        if size > self._byte_count:
            raise DocumentError(Reason.CORRUPT, f"damaged: a part of {size:,} bytes in a file of {self._byte_count:,}")
        return size

    def read(self, path: tuple[str, ...], most_bytes: int) -> bytes:
        """The first bytes of a stream; none if there is none. Raises DocumentError(corrupt)."""
        if not self.size(path):
            return b""
        with faults_are_corruption("message file"):
            return bytes(self._found.openstream(list(path)).read(most_bytes))


class Properties:
    """One object. Tags are numbers as in 0x0037, the subject; a property that is not there is empty."""

    def __init__(self, file: MessageFile, path: tuple[str, ...], header_bytes: int, code_page: str = "") -> None:
        self._file = file
        self._path = path
        table = file.read((*path, TABLE), _MOST_TABLE_BYTES)
        self._table = dict(_records(table[header_bytes:]))
        page = next((page for tag in _CODE_PAGES if (page := self.number(tag))), 0)
        self._code_page = _page_name(page) or code_page

    def text(self, tag: int) -> str:
        """A property that is text."""
        wide = self._read(tag, _WIDE)
        if wide:
            return wide.decode("utf-16-le", "replace").rstrip("\x00")
        return self.decoded(self._read(tag, _NARROW).rstrip(b"\x00"))

    def decoded(self, raw: bytes) -> str:
        """Text in the message's code page, if its bytes do not contradict it."""
        return decode(raw, self._code_page).text if raw else ""

    def raw(self, tag: int) -> bytes:
        """A property that is bytes, at most 20 MB of it."""
        return self._read(tag, _BINARY)

    def size(self, tag: int) -> int:
        """How many bytes a property has."""
        return self._file.size((*self._path, _stream(tag, _BINARY)))

    def pieces(self, tag: int, piece_bytes: int) -> Iterator[bytes]:
        """All bytes of a property. Raises DocumentError(corrupt)."""
        content = self._file.read((*self._path, _stream(tag, _BINARY)), self.size(tag))
        for start in range(0, len(content), piece_bytes):
            yield content[start : start + piece_bytes]

    def number(self, tag: int) -> int:
        """A property that is a number of 32 bits, 0 if it is not there."""
        value = self._table.get((tag, _NUMBER), b"")
        return int.from_bytes(value[:4], "little")

    def date(self, tag: int) -> str:
        """A property that is a time, as mails write it."""
        ticks = int.from_bytes(self._table.get((tag, _TIME), b""), "little")
        try:
            return (
                format_datetime(datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10)) if ticks else ""
            )
        except OverflowError:
            return ""

    def objects(self, prefix: str) -> Iterator[Properties]:
        """Recipients or files, in order: the folders that begin like this."""
        for name in sorted(self._file.names(self._path)):
            if name.startswith(prefix):
                yield Properties(self._file, (*self._path, name), _HEADER_BYTES[2], self._code_page)

    def message(self, tag: int) -> Properties | None:
        """The message that is a property, None if there is none."""
        path = (*self._path, _stream(tag, _OBJECT))
        if TABLE not in self._file.names(path):
            return None
        return Properties(self._file, path, _HEADER_BYTES[1], self._code_page)

    def holds_object(self, tag: int) -> bool:
        """Whether the property is a folder, of a message or of another program's data."""
        return _stream(tag, _OBJECT) in self._file.names(self._path)

    def _read(self, tag: int, kind: str) -> bytes:
        return self._file.read((*self._path, _stream(tag, kind)), _MOST_BYTES)


def _stream(tag: int, kind: str) -> str:
    return f"{_STREAM}{tag:04X}{kind}"


def _records(table: bytes) -> Iterator[tuple[tuple[int, int], bytes]]:
    for start in range(0, len(table) - _RECORD_BYTES + 1, _RECORD_BYTES):
        kind, tag = struct.unpack_from("<HH", table, start)
        yield (tag, kind), table[start + 8 : start + _RECORD_BYTES]


def _page_name(page: int) -> str:
    return _PAGE_NAMES.get(page) or (f"cp{page}" if 0 < page < _MOST_PAGES else "")

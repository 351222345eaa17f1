"""A ZIP package opened safely: nothing in it is believed, counted or inflated beyond its limits, no name is a path.

`listing` also tells of any container, ZIP or compound file, what it holds, so that formats are told apart by content.
"""

from __future__ import annotations

import enum
import struct
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from pipeline.config import MEGABYTE, LimitSettings
from pipeline.documents.office.compound import is_compound, stream_names
from pipeline.documents.parsing import faults_are_corruption, faults_are_io, read_edges
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

MAX_ENTRIES = 20_000  # a large workbook has a few hundred
MAX_DIRECTORY_BYTES = 16 * MEGABYTE
MAX_RATIO = 300  # repetitive sheets reach 100; DEFLATE ends at 1,032
RATIO_COUNTS_FROM_BYTES = 50 * MEGABYTE
PIECE_BYTES = 256 * 1024
LISTING_BYTES = MEGABYTE
_LOCAL, _CENTRAL, _END, _END64, _LOCATOR64 = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_END_SEARCH_BYTES = 65_557  # the longest comment and the record before it
_ENCRYPTED_FLAG = 0x1
_CENTRAL_BYTES, _LOCAL_BYTES = 46, 30


class Parts(Protocol):
    """The named parts of a document. Names are lower case, with slashes, without a leading one."""

    @property
    def names(self) -> Sequence[str]:
        """Every part, in the order of the file."""

    def has(self, name: str) -> bool:
        """Whether there is such a part, in any case."""

    def size(self, name: str) -> int:
        """Declared bytes of the part; 0 when there is none."""

    def shown_name(self, name: str) -> str:
        """The last piece of a part's name as it is written."""

    def pieces(self, name: str) -> Iterator[bytes]:
        """The part's bytes in pieces; nothing when there is none. Raises DocumentError."""


@dataclass(frozen=True, slots=True)
class _Directory:
    """Where the table of contents is; `count` is what the file says."""

    start: int
    size: int
    count: int


def listing(file: BinaryIO) -> bytes:
    """The names inside a ZIP or compound file, each between NULs, lower case, with slashes; empty for other files.

    At most a megabyte of it, and empty for a container whose table of contents is missing. Never raises for content.
    """
    with faults_are_io():
        file.seek(0)
        head = file.read(8)
        if is_compound(head):
            names = [name.encode() for name in stream_names(file)]
        else:
            names = _central_names(file) if head.startswith(b"PK") else []
    return b"".join(b"\x00" + name for name in names).lower().replace(b"\\", b"/")[:LISTING_BYTES] + b"\x00" * bool(
        names
    )


def _central_names(file: BinaryIO) -> list[bytes]:
    found = _find_directory(file)
    if not found or found.start < 0:
        return []
    file.seek(found.start)
    table, names, at = file.read(min(found.size, LISTING_BYTES)), [], 0
    while table.startswith(_CENTRAL, at) and at + _CENTRAL_BYTES <= len(table):
        lengths = struct.unpack_from("<HHH", table, at + 28)
        names.append(table[at + _CENTRAL_BYTES : at + _CENTRAL_BYTES + lengths[0]])
        at += _CENTRAL_BYTES + sum(lengths)
    return names


def _find_directory(file: BinaryIO) -> _Directory | None:
    end = file.seek(0, 2)
    file.seek(end - min(end, _END_SEARCH_BYTES))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        return None
    record = end - len(tail) + at
    count, size = struct.unpack_from("<HI", tail, at + 10)
    if 0xFFFF not in (count, size >> 16):
        return _Directory(record - size, size, count)
    return _find_large_directory(file, record) or _Directory(record - size, size, count)


def _find_large_directory(file: BinaryIO, record: int) -> _Directory | None:
    file.seek(max(record - 20, 0))
    locator = file.read(20)
    if not locator.startswith(_LOCATOR64) or record < 76:
        return None
    file.seek(record - 76)
    large = file.read(56)
    if not large.startswith(_END64):
        return None
    count, size = struct.unpack_from("<QQ", large, 32)
    return _Directory(record - 76 - size, size, count)


class Package:
    """The parts of a ZIP file. Inflates at most limits.max_inflated_megabytes in all, however often parts are read."""

    def __init__(self, file: BinaryIO, limits: LimitSettings) -> None:
        """Read the table of contents. Raises DocumentError: empty_file, unsupported, truncated, corrupt, bomb."""
        self._limits = limits
        self._inflated = 0
        _check_directory(file)
        with faults_are_corruption("zip"):
            self._zip = zipfile.ZipFile(file)
        _check_overlaps(self._zip.infolist())
        self._check_declared()
        self._entries = {
            name: entry
            for entry in self._zip.infolist()
            if (name := entry.filename.replace("\\", "/").lstrip("/").lower()) and ".." not in name.split("/")
        }

    @property
    def names(self) -> Sequence[str]:
        """Every part that has a harmless name, in the order of the table of contents."""
        return tuple(self._entries)

    def has(self, name: str) -> bool:
        """Whether there is such a part, in any case."""
        return name.lower() in self._entries

    def size(self, name: str) -> int:
        """Declared bytes of the part; 0 when there is none."""
        entry = self._entries.get(name.lower())
        return entry.file_size if entry else 0

    def shown_name(self, name: str) -> str:
        """The last piece of a part's name as it is written. Raises KeyError for no part."""
        return self._entries[name.lower()].filename.replace("\\", "/").rpartition("/")[2]

    def pieces(self, name: str) -> Iterator[bytes]:
        """The part's bytes in pieces. Raises DocumentError: needs_password, corrupt, unsupported, bomb."""
        entry = self._entries.get(name.lower())
        if entry is None:
            return
        _check_entry(entry)
        with faults_are_corruption(f"zip: {name}"), self._zip.open(entry) as stream:
            while piece := stream.read(PIECE_BYTES):
                self._count(len(piece))
                yield piece

    def _count(self, size: int) -> None:
        self._inflated += size
        if self._inflated > self._limits.max_inflated_megabytes * MEGABYTE:
            raise _too_much(self._inflated, self._limits)

    def _check_declared(self) -> None:
        declared = sum(entry.file_size for entry in self._zip.infolist())
        if declared > self._limits.max_inflated_megabytes * MEGABYTE:
            raise _too_much(declared, self._limits)


def _too_much(size: int, limits: LimitSettings) -> DocumentError:
    return DocumentError(
        Reason.BOMB,
        f"its parts inflate to {size / MEGABYTE:,.0f} MB or more; limits.max_inflated_megabytes allows"
        f" {limits.max_inflated_megabytes:g}",
    )


def _check_directory(file: BinaryIO) -> None:
    """Refuse what is no ZIP, what was cut, and what has too long a table of contents, before it is read."""
    head, _ = read_edges(file)
    with faults_are_io():
        found = _find_directory(file)
    if not found:
        if not head.startswith(_LOCAL):
            raise DocumentError(Reason.UNSUPPORTED, "the file is no ZIP package")
        raise DocumentError(Reason.TRUNCATED, "the ZIP package starts well, but its end is missing")
    entries = max(found.count, found.size // (_CENTRAL_BYTES + 200))  # a count can lie; a size bounds it
    if entries > MAX_ENTRIES or found.size > MAX_DIRECTORY_BYTES:
        raise DocumentError(
            Reason.BOMB, f"the package says it has {found.count:,} parts; more than {MAX_ENTRIES:,} are not opened"
        )


def _check_overlaps(entries: Sequence[zipfile.ZipInfo]) -> None:
    """Parts that share bytes inflate to far more than the file holds."""
    end = 0
    for entry in sorted(entries, key=lambda each: each.header_offset):
        if entry.header_offset < end:
            raise DocumentError(Reason.BOMB, "parts of the package overlap, as no program writes them")
        end = entry.header_offset + _LOCAL_BYTES + entry.compress_size
    if len(entries) > MAX_ENTRIES:
        raise DocumentError(
            Reason.BOMB, f"the package has {len(entries):,} parts; more than {MAX_ENTRIES:,} are not read"
        )


def _check_entry(entry: zipfile.ZipInfo) -> None:
    if entry.flag_bits & _ENCRYPTED_FLAG:
        raise DocumentError(Reason.NEEDS_PASSWORD, "the package's parts are encrypted")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DocumentError(Reason.UNSUPPORTED, f"a part is compressed by method {entry.compress_type}, not DEFLATE")
    ratio = entry.file_size / max(entry.compress_size, 1)
    if entry.file_size > RATIO_COUNTS_FROM_BYTES and ratio > MAX_RATIO:
        raise DocumentError(
            Reason.BOMB,
            f"a part inflates {ratio:,.0f}-fold, to {entry.file_size / MEGABYTE:,.0f} MB; above"
            f" {RATIO_COUNTS_FROM_BYTES // MEGABYTE} MB no more than {MAX_RATIO}-fold is read",
        )


def holds(tail: bytes, prefix: bytes) -> bool:
    """Whether a `listing` at the end of these bytes has a name that begins like this, in lower case."""
    return b"\x00" + prefix in tail


def is_office_package(head: bytes, tail: bytes, name: str, kind: OfficeKind) -> bool:
    """Whether these edges, the listing included, open an office package of this kind.

    A locked one keeps its parts secret and a cut one has lost its listing: there the name's ending tells the kind, and
    without a telling ending a locked one is taken for a Word document.
    """
    ending = OfficeKind.of_name(name)
    if holds(tail, b"encryptedpackage"):
        return (ending or OfficeKind.WORD) is kind
    if holds(tail, b"[content_types].xml"):
        return holds(tail, kind.folder)
    if _END in tail:  # it is whole, and what looks like a package is one among other files
        return False
    first = head.lower() if head.startswith(_LOCAL) else b""
    return kind.folder in first or (b"[content_types].xml" in first and ending is kind)


class OfficeKind(enum.Enum):
    """The kinds of office packages: the folder of their parts and the letters that names of their files end in."""

    WORD = (b"word/", (".docx", ".docm", ".dotx", ".dotm"))
    WORKBOOK = (b"xl/", (".xlsx", ".xlsm", ".xltx", ".xltm", ".xlsb"))
    SLIDES = (b"ppt/", (".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm"))

    def __init__(self, folder: bytes, endings: tuple[str, ...]) -> None:
        self.folder = folder
        self.endings = endings

    @staticmethod
    def of_name(name: str) -> OfficeKind | None:
        """The kind that the name's ending claims."""
        return next((kind for kind in OfficeKind if name.lower().endswith(kind.endings)), None)

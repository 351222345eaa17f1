"""ZIP archives as trees: the text is the list of entries, and every entry that is a file becomes a document.

Bombs are told by what the table of contents declares, before anything is inflated; while inflating, nothing goes
beyond what was declared.
"""

from __future__ import annotations

import re
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import PurePosixPath
from typing import BinaryIO

from pipeline.config import MEGABYTE, LimitSettings
from pipeline.documents.archives.zip_content import key_for, opens, pieces
from pipeline.documents.archives.zip_directory import END, LOCAL, SPANNED, Record, read_directory
from pipeline.documents.archives.zip_locks import Unlock
from pipeline.documents.contract import Format, Inspection, Means, OpenDocument
from pipeline.documents.entries import LEFT_OUT_PER_CHILD, Entry, OpenTree, check_count, check_total, shown_name
from pipeline.documents.office.packages import holds
from pipeline.documents.parsing import faults_are_io, read_edges
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

ENTRIES_PER_PAGE = 50
BOMB_RATIO = 200  # DEFLATE ends at 1,032; text and drawings stay below 50
BOMB_BYTES = 20_000_000  # below this a high ratio harms nobody
_ENGINE = "zip 1"
_SIGNATURES = (LOCAL, END, SPANNED, b"PK00" + LOCAL)
_PACKAGE_PARTS = (b"[Content_Types].xml", b"mimetype", b"META-INF/", b"_rels/", b"docProps/", b"word/", b"xl/", b"ppt/")
_PACKAGE_SIGNS = (b"[content_types].xml", b"mimetype\x00", b"meta-inf/manifest")
_LITTER = ("__macosx", ".ds_store", "thumbs.db", "desktop.ini", ".spotlight-v100", ".trashes", "@eadir")
_DRIVE = re.compile(r"[A-Za-z]:")
_KINDS = {stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_UNLOCKED: Callable[[], Unlock | None] = lambda: None  # noqa: E731 - a value of a table, not a function to call


class ZipFormat:
    """An archive of files. Packages of one document (DOCX, XLSX, ODT, JAR, EPUB) are not archives of documents."""

    name = "zip"
    media_types: tuple[str, ...] = ("application/zip",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By its first record, unless its names, or its first name when the others are cut off, are a package's."""
        if not head.startswith(_SIGNATURES) or (END not in tail and _opens_package(head)):
            return None
        return None if any(holds(tail, sign) for sign in _PACKAGE_SIGNS) else self.media_types[0]

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count pages; reads the table of contents. Raises DocumentError as `open` does."""
        with self.open(file, means) as document:
            return Inspection(self.media_types[0], document.page_count)

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Open for reading; in memory is the table of contents. Raises DocumentError.

        Reasons: empty_file, unsupported (no archive, or a part of a split one), truncated, corrupt, io_error,
        needs_password when every file is locked, bomb for limits.max_children and limits.max_inflated_megabytes.
        """
        head, _ = read_edges(file)
        if not head.startswith(_SIGNATURES):
            raise DocumentError(Reason.UNSUPPORTED, "the file is no ZIP archive")
        with faults_are_io():
            document = _opened(file, means)
        yield document


def _opened(file: BinaryIO, means: Means) -> OpenTree:
    records, fault = read_directory(file, means.limits.max_children * LEFT_OUT_PER_CHILD)
    check_total(len(records), means.limits)
    _check_declared(records, means.limits)
    _check_overlaps(records)
    judge = _Judge(file, means.passwords)
    entries = tuple(map(judge.entry, records))
    if judge.locked and not any(each.left_out == "" for each in entries):
        raise DocumentError(
            Reason.NEEDS_PASSWORD,
            f"all of its {judge.locked:,} files are locked, and no password that is known opens one",
        )
    check_count(entries, means.limits)
    return OpenTree(tuple(_pages(records, entries)), entries, _ENGINE, fault)


def _check_declared(records: Sequence[Record], limits: LimitSettings) -> None:
    declared = sum(record.size for record in records)
    if declared > limits.max_inflated_megabytes * MEGABYTE:
        raise DocumentError(
            Reason.BOMB,
            f"it unpacks to {declared / MEGABYTE:,.0f} MB; limits.max_inflated_megabytes allows"
            f" {limits.max_inflated_megabytes:g}",
        )


def _check_overlaps(records: Sequence[Record]) -> None:
    """Entries that share bytes unpack to far more than an archive holds, and no program writes them."""
    extents = sorted(record.extent for record in records)
    overlaps = sum(1 for before, after in pairwise(extents) if after[0] < before[1])
    if overlaps:
        raise DocumentError(
            Reason.BOMB, f"{overlaps:,} of its entries overlap, so that it unpacks to more than it holds"
        )


class _Judge:
    """Decides what becomes of each entry. A password that opened one is tried first on the next."""

    def __init__(self, file: BinaryIO, passwords: Sequence[str]) -> None:
        self._file = file
        written = [each.encode(coding, "replace") for each in ("", *passwords) for coding in ("utf-8", "cp1252")]
        self._passwords = list(dict.fromkeys(written))
        self._own: tuple[int, int] | None = None
        self.locked = 0

    def entry(self, record: Record) -> Entry:
        """The entry as a file; what is wrong with it alone leaves it out."""
        name = shown_name(record.name.replace("\\", "/"), otherwise="a file without a name", folders=True)
        left_out = _left_out(record) or self._itself(record)
        make = _UNLOCKED
        if record.is_locked and not left_out:
            found = self._key(record)
            left_out = "" if found else "needs a password"
            make = found or _UNLOCKED
        return Entry(name, "", record.size, partial(_pieces, self._file, record, make), left_out)

    def _key(self, record: Record) -> Callable[[], Unlock | None] | None:
        for position, password in enumerate(self._passwords):
            make = key_for(self._file, record, password)
            try:
                if opens(self._file, record, make):
                    self._passwords.insert(0, self._passwords.pop(position))
                    return make
            except DocumentError:
                break
        self.locked += 1
        return None

    def _itself(self, record: Record) -> str:
        """An archive can hold itself, and then has no end."""
        if self._own is None:
            self._own = (self._file.seek(0, 2), -1)
        size, crc = self._own
        if record.size != size:
            return ""
        if crc < 0:
            crc = _crc(self._file)
            self._own = (size, crc)
        return "the archive itself" if record.crc == crc else ""


def _pieces(file: BinaryIO, record: Record, make: Callable[[], Unlock | None]) -> Iterator[bytes]:
    return pieces(file, record, make())


def _left_out(record: Record) -> str:
    """Why the entry becomes no document, as far as the table of contents tells; empty if it does."""
    path = record.name.replace("\\", "/")
    if path.endswith("/") or stat.S_ISDIR(record.mode):
        return "a folder"
    if path.startswith("/") or _DRIVE.match(path) or ".." in path.split("/") or "\x00" in path:
        return "unsafe path"
    kind = stat.S_IFMT(record.mode)
    if kind and kind != stat.S_IFREG:
        return _KINDS.get(kind, "a device")
    if any(part.lower() in _LITTER for part in PurePosixPath(path).parts):
        return "litter of the system that packed it"
    ratio = record.size / max(record.packed, 1)
    if record.size > BOMB_BYTES and ratio > BOMB_RATIO:
        return f"bomb: it unpacks {ratio:,.0f}-fold to {record.size / MEGABYTE:,.0f} MB; {BOMB_RATIO}-fold is allowed"
    return ""


def _pages(records: Sequence[Record], entries: Sequence[Entry]) -> Iterator[str]:
    """Fifty entries a page: name, size, date."""
    lines = [
        f"{entry.name}  {entry.size:,} bytes  {record.modified}".rstrip()
        for record, entry in zip(records, entries, strict=True)
    ]
    for start in range(0, max(len(lines), 1), ENTRIES_PER_PAGE):
        yield "\n".join(lines[start : start + ENTRIES_PER_PAGE])


def _crc(file: BinaryIO) -> int:
    file.seek(0)
    crc = 0
    while piece := file.read(1 << 20):
        crc = zlib.crc32(piece, crc)
    return crc


def _opens_package(head: bytes) -> bool:
    """Whether the first entry is one with which packages begin."""
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")] if head.startswith(LOCAL) else b""
    return any(name == part or (part.endswith(b"/") and name.startswith(part)) for part in _PACKAGE_PARTS)


format: Format = ZipFormat()  # noqa: A001 - the name by which formats are found

"""The frames of a TIFF, found by its own chain of directories, so that a broken one costs no other."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_SUBFILE_TYPE = 254
_NO_PAGE = 0b101  # a smaller version of another frame, or a mask for one
_MOST_ENTRIES = 4096


@dataclass(frozen=True, slots=True)
class Layout:
    """How a TIFF writes numbers: byte order, and struct formats of offsets and counts. BigTIFF has wider ones."""

    order: str
    big: bool

    @property
    def entry_bytes(self) -> int:
        """Bytes of one entry of a directory."""
        return 20 if self.big else 12

    def header(self, offset: int) -> bytes:
        """The first bytes of a file whose first directory is at `offset`."""
        mark = b"II" if self.order == "<" else b"MM"
        if self.big:
            return mark + struct.pack(self.order + "HHHQ", 43, 8, 0, offset)
        return mark + struct.pack(self.order + "HL", 42, offset)


class At(io.RawIOBase):
    """The same file, beginning with another header: a decoder finds the wanted directory first, wherever it is."""

    def __init__(self, file: BinaryIO, header: bytes) -> None:
        super().__init__()
        self._file, self._header, self._place = file, header, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """The file's own. Raises io.UnsupportedOperation when it has none."""
        return self._file.fileno()

    def tell(self) -> int:
        """Where the next byte is read."""
        return self._place

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go there."""
        base = (0, self._place, 0)[whence] if whence < 2 else self._file.seek(0, 2)
        self._place = max(base + offset, 0)
        return self._place

    def readinto(self, buffer: object) -> int:
        """Read, the header from here and the rest from the file."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # whatever the caller reads into
        self._file.seek(self._place)
        content = self._file.read(len(view))
        if self._place < len(self._header):
            content = self._header[self._place :][: len(content)] + content[len(self._header) - self._place :]
        view[: len(content)] = content
        self._place += len(content)
        return len(content)


def frames(file: BinaryIO, most: int) -> tuple[Layout, tuple[int, ...]]:
    """Offsets of the directories that are pages, in order; at least one.

    Thumbnails and masks are left out when anything else is there. Raises DocumentError: too_many_pages as soon as there
    are more than `most`, truncated when the first directory is beyond the end, corrupt.
    """
    file.seek(0)
    layout, offset = _layout(file.read(16))
    found = list(_chain(file, layout, offset, most))
    if not found:
        size = file.seek(0, 2)
        if offset >= size:
            raise DocumentError(
                Reason.TRUNCATED,
                f"its directory should be at byte {offset:,}, the file has {size:,}: the end is missing",
            )
        raise DocumentError(Reason.CORRUPT, "the TIFF has no directory that can be read")
    pages = tuple(place for place, subfile in found if not subfile & _NO_PAGE)
    return layout, pages or tuple(place for place, _ in found)


def _layout(head: bytes) -> tuple[Layout, int]:
    order = {b"II": "<", b"MM": ">"}.get(head[:2])
    if order is None or len(head) < 8:
        raise DocumentError(Reason.CORRUPT, "the TIFF has no header")
    version = struct.unpack_from(order + "H", head, 2)[0]
    if version == 43 and len(head) == 16:
        return Layout(order, big=True), struct.unpack_from(order + "Q", head, 8)[0]
    return Layout(order, big=False), struct.unpack_from(order + "L", head, 4)[0]


def _chain(file: BinaryIO, layout: Layout, offset: int, most: int) -> Iterator[tuple[int, int]]:
    """Offset and subfile type of each directory, up to the last, a broken one, or one that came before."""
    seen: set[int] = set()
    while offset and offset not in seen:
        if len(seen) > 2 * most:  # each page may have its thumbnail
            raise DocumentError(
                Reason.TOO_MANY_PAGES, f"it has more than {most:,} frames, limits.max_pages allows {most:,}"
            )
        seen.add(offset)
        directory = _directory(file, layout, offset)
        if directory is None:
            if len(seen) > 1:
                yield offset, 0  # a page is lost here: a gap that is seen
            return
        entries, following = directory
        yield offset, _subfile_type(entries, layout)
        offset = following


def _directory(file: BinaryIO, layout: Layout, offset: int) -> tuple[bytes, int] | None:
    """The entries of a directory and where the next one is; None when it cannot be one."""
    count_format, offset_format = ("Q", "Q") if layout.big else ("H", "L")
    try:
        file.seek(offset)
        count = struct.unpack(layout.order + count_format, file.read(struct.calcsize(layout.order + count_format)))[0]
        if not 0 < count <= _MOST_ENTRIES:
            return None
        entries = file.read(count * layout.entry_bytes)
        rest = file.read(struct.calcsize(layout.order + offset_format))
        following = struct.unpack(layout.order + offset_format, rest)[0] if rest else 0
    except (struct.error, OSError, OverflowError, ValueError):
        return None
    return (entries, following) if len(entries) == count * layout.entry_bytes else None


def _subfile_type(entries: bytes, layout: Layout) -> int:
    for start in range(0, len(entries), layout.entry_bytes):
        if struct.unpack_from(layout.order + "H", entries, start)[0] == _SUBFILE_TYPE:
            return int(struct.unpack_from(layout.order + "L", entries, start + (12 if layout.big else 8))[0])
    return 0

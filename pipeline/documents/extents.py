"""How far binary files say they reach: by the offsets, counts and sizes in what is seen of them.

Each function answers whether the file holds all that it says it has. They raise BeyondEnd where a number has to be
read behind the end, and OutOfSight where it lies between what is seen of the file's head and of its tail.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal

# Far more than real images have: nobody's numbers keep a processor busy here.
_MOST_DIRECTORIES = 64
_MOST_ENTRIES = 512
_MOST_STRIPS = 8192
_FREE_SECTOR = 0xFFFFFFFF
_LAST_SECTOR_NUMBER = 0xFFFFFFFA
_SECTOR_NUMBERS_IN_HEADER = 109
_TIFF_TYPE_BYTES = {3: 2, 4: 4, 5: 8, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8}
_STRIPS = ((273, 279), (324, 325))  # the tags of offsets and sizes: strips, tiles
Order = Literal["big", "little"]


class BeyondEnd(Exception):
    """Something that the file says it has is behind its end."""


class OutOfSight(Exception):
    """Something that would have to be looked at is neither in the head nor in the tail."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What is seen of a file: its first bytes, its last bytes, which may overlap, and how many it has."""

    head: bytes
    tail: bytes
    byte_count: int

    def at(self, offset: int, count: int) -> bytes:
        """These bytes. Raises BeyondEnd, OutOfSight."""
        if offset + count > self.byte_count:
            raise BeyondEnd
        if offset + count <= len(self.head):
            return self.head[offset : offset + count]
        start = offset - (self.byte_count - len(self.tail))
        if start < 0:
            raise OutOfSight
        return self.tail[start : start + count]

    def number(self, offset: int, count: int, order: Order = "little") -> int:
        """The number in these bytes. Raises BeyondEnd, OutOfSight."""
        return int.from_bytes(self.at(offset, count), order)


def zip_records(seen: Seen) -> bool:
    """Whether a directory ends right before the record that says so, and the comment behind it is all there.

    An archive stored inside has such a record too, but its numbers count from another place.
    """
    start = seen.byte_count - len(seen.tail)
    at = seen.tail.rfind(b"PK\x05\x06")
    while at >= 0:
        record = seen.tail[at : at + 22]
        if len(record) == 22:
            size, offset, comment = struct.unpack_from("<IIH", record, 12)
            fits = start + at + 22 + comment <= seen.byte_count
            if fits and (offset + size == start + at or _has_zip64(seen, start + at, offset, size)):
                return True
        at = seen.tail.rfind(b"PK\x05\x06", 0, at)
    return False


def _has_zip64(seen: Seen, end: int, offset: int, size: int) -> bool:
    """Whether the numbers did not fit and stand in larger records before the last one."""
    if 0xFFFFFFFF not in (offset, size) or end < 20 or seen.at(end - 20, 4) != b"PK\x06\x07":
        return False
    record = seen.number(end - 20 + 8, 8)
    return record + 12 + seen.number(record + 4, 8) == end - 20


def jpeg_segments(seen: Seen) -> bool:
    """Whether the image ends behind its last segment that is seen: a preview inside a segment has an end of its own."""
    at = 2
    try:
        while (marker := seen.at(at, 2)) != b"\xff\xda" and marker[0] == 0xFF:
            at += 1 if marker[1] == 0xFF else 2
            if marker[1] not in (0xFF, 0x01, *range(0xD0, 0xDA)):
                at += seen.number(at, 2, "big")
    except OutOfSight:
        pass
    end = seen.tail.rfind(b"\xff\xd9")
    # A second image behind the first one, as cameras append it, has to have its end as well.
    return end >= 0 and seen.byte_count - len(seen.tail) + end >= at and b"\xff\xd8\xff" not in seen.tail[end:]


def riff_chunk(seen: Seen) -> bool:
    """Whether the outermost chunk is all there."""
    return 4 <= seen.number(4, 4) <= seen.byte_count - 8


def boxes(seen: Seen) -> bool:
    """Whether the boxes of a HEIC or a film add up to the file, and the one with the data is among them."""
    at, kinds = 0, set()
    while at + 8 <= seen.byte_count:
        size, kind = seen.number(at, 4, "big"), seen.at(at + 4, 4)
        if at and not kind.isalnum():
            return b"mdat" in kinds  # what pads the file is no box
        kinds.add(kind)
        if size == 1:
            size = seen.number(at + 8, 8, "big")
        if size < 8:
            return size == 0  # the rest of the file, however much that is
        at += size
    return at == seen.byte_count and b"mdat" in kinds


def seven_zip_header(seen: Seen) -> bool:
    """Whether the header that is written last is all there."""
    return 32 + seen.number(12, 8) + seen.number(20, 8) <= seen.byte_count


def compound_sectors(seen: Seen) -> bool:
    """Whether every sector that the allocation table of an old Office file has in use is there."""
    seen.at(0, 512)
    sector_bytes = 1 << min(seen.number(30, 2), 16)
    if sector_bytes not in (512, 4096):
        return True
    sectors = seen.byte_count // sector_bytes - 1  # the header has the room of one
    tables = seen.number(44, 4)
    listed = [seen.number(76 + 4 * each, 4) for each in range(min(tables, _SECTOR_NUMBERS_IN_HEADER))]
    named = [seen.number(48, 4), seen.number(60, 4), seen.number(68, 4), *listed]
    if any(sectors <= number <= _LAST_SECTOR_NUMBER for number in named):
        return False
    a_table = sector_bytes // 4
    full = max(tables - 1, 0) * a_table
    if sectors < full or not 0 < tables <= _SECTOR_NUMBERS_IN_HEADER:
        return sectors >= full
    last = struct.unpack(f"<{a_table}I", seen.at((listed[-1] + 1) * sector_bytes, sector_bytes))
    used = max((index + 1 for index, entry in enumerate(last) if entry != _FREE_SECTOR), default=0)
    return sectors >= full + used


def tiff_directories(seen: Seen) -> bool:
    """Whether every frame's directory, its values, its strips and tiles are there, as far as they are seen."""
    order: Order = "little" if seen.head.startswith(b"II") else "big"
    wide = seen.number(2, 2, order) == 43  # a BigTIFF
    offset = seen.number(8, 8, order) if wide else seen.number(4, 4, order)
    if offset == 0:
        return False  # writers put the first offset in last
    for _ in range(_MOST_DIRECTORIES):
        if offset == 0:
            break
        offset = _tiff_directory(seen, offset, order, wide=wide)
    return True


def _tiff_directory(seen: Seen, offset: int, order: Order, *, wide: bool) -> int:
    """Look at one directory; where the next one is, 0 for none. Raises BeyondEnd, OutOfSight."""
    lead, entry, field = (8, 20, 8) if wide else (2, 12, 4)
    entries = seen.number(offset, lead, order)
    following = seen.number(offset + lead + entries * entry, field, order)
    if entries > _MOST_ENTRIES:
        return 0
    values: dict[int, tuple[int, int, int]] = {}
    for at in range(offset + lead, offset + lead + entries * entry, entry):
        tag, kind = seen.number(at, 2, order), seen.number(at + 2, 2, order)
        count, width = seen.number(at + 4, field, order), _TIFF_TYPE_BYTES.get(kind, 1)
        inline = count * width <= field
        place = at + 4 + field if inline else seen.number(at + 4 + field, field, order)
        if place + count * width > seen.byte_count:
            raise BeyondEnd
        values[tag] = (place, count, width)
    for offsets, sizes in _STRIPS:
        if offsets in values and sizes in values and values[offsets][1] <= _MOST_STRIPS:
            _need_strips(seen, values[offsets], values[sizes], order)
    return following


def _need_strips(seen: Seen, offsets: tuple[int, int, int], sizes: tuple[int, int, int], order: Order) -> None:
    """Raise BeyondEnd unless every strip is in the file; one whose numbers are out of sight may be anywhere."""
    try:
        for start, size in zip(_numbers(seen, offsets, order), _numbers(seen, sizes, order), strict=False):
            if start + size > seen.byte_count:
                raise BeyondEnd
    except OutOfSight:
        return


def _numbers(seen: Seen, value: tuple[int, int, int], order: Order) -> list[int]:
    place, count, width = value
    content = seen.at(place, min(count, _MOST_STRIPS) * width)
    return [int.from_bytes(content[at : at + width], order) for at in range(0, len(content), width)]

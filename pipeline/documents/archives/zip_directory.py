"""The table of contents of a ZIP archive, record by record: nothing is believed, one bad record harms no other.

Names are bytes in an encoding that the archive often does not tell. Those of an archive are decoded together, since a
single short name says too little.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from pipeline.documents.encodings import decode
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

LOCAL, CENTRAL, END, SPANNED = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x07\x08"
_END64, _LOCATOR64 = b"PK\x06\x06", b"PK\x06\x07"
_END_WITHIN = 65_557  # bytes; the longest comment and the record before it
_ENCRYPTED, _UTF8 = 1, 1 << 11
_SIZES64, _UNICODE_NAME, _AES = 0x0001, 0x7075, 0x9901
_UNIX = (3, 19)  # systems whose attributes have a mode
_OEM = re.compile(r"[\u2500-\u25ff\u2200-\u22ff]")


@dataclass(frozen=True, slots=True)
class Record:
    """What an archive says of one entry. `packed` and `size` are bytes, `offset` counts from the file's beginning.

    `mode` is the Unix mode, 0 if none is told. `aes` is the strength of the key, 1 to 3, 0 without AES, and
    `checks_crc` whether `crc` is one. `modified` is "2026-03-02 09:00", empty for no date.
    """

    raw_name: bytes
    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    mode: int = 0
    modified: str = ""
    aes: int = 0
    checks_crc: bool = True

    @property
    def is_locked(self) -> bool:
        """Whether it opens only with a password."""
        return bool(self.flags & _ENCRYPTED)

    @property
    def extent(self) -> tuple[int, int]:
        """The bytes of the file that it needs at least."""
        return self.offset, self.offset + 30 + len(self.raw_name) + self.packed


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the table is, how many records it says it has, and what to add to its offsets."""

    start: int
    end: int
    count: int
    shift: int


def read_directory(file: BinaryIO, most: int) -> tuple[list[Record], str]:
    """The records, at most `most` + 1, and what is wrong with the table if it goes on behind them unreadably.

    Raises DocumentError: truncated without a table, unsupported for a part of a split archive, corrupt.
    """
    place = _find(file)
    records: list[Record] = []
    position = place.start
    while position + 46 <= place.end and len(records) <= most:
        file.seek(position)
        fixed = file.read(46)
        if not fixed.startswith(CENTRAL) or len(fixed) < 46:
            break
        lengths = struct.unpack_from("<HHH", fixed, 28)
        variable = file.read(lengths[0] + lengths[1])
        records.append(_record(fixed, variable, lengths[0], place.shift))
        position += 46 + sum(lengths)
    if place.count and not records:
        raise DocumentError(Reason.CORRUPT, "the archive's table of contents is damaged")
    is_whole = position >= place.end or len(records) > most
    return _named(records), "" if is_whole else f"its table of contents is damaged after {len(records):,} entries"


def _find(file: BinaryIO) -> _Place:
    end = file.seek(0, 2)
    file.seek(end - min(end, _END_WITHIN))
    tail = file.read()
    at = _last_record(tail)
    if at < 0:
        raise DocumentError(Reason.TRUNCATED, "the archive's table of contents, which stands at its end, is missing")
    disk, first_disk, here, count, size, offset = struct.unpack_from("<HHHHII", tail, at + 4)
    position = end - len(tail) + at
    large = _find_large(file, position) if 0xFFFF in (count, here) or 0xFFFFFFFF in (size, offset) else None
    if large:
        return large
    if disk or first_disk or here != count:
        raise _part_of_more()
    start = position - size
    if start < 0:
        raise DocumentError(Reason.CORRUPT, "the archive's table of contents is longer than the archive")
    return _Place(start, position, count, start - offset)


def _last_record(tail: bytes) -> int:
    """Where the record that ends an archive begins; one whose comment fills the rest is surely it."""
    at = last = tail.rfind(END)
    while at >= 0:
        if at + 22 <= len(tail) and at + 22 + int.from_bytes(tail[at + 20 : at + 22], "little") == len(tail):
            return at
        at = tail.rfind(END, 0, at)
    return last if 0 <= last <= len(tail) - 22 else -1


def _find_large(file: BinaryIO, position: int) -> _Place | None:
    """The table of an archive with more entries or bytes than the old record can say."""
    file.seek(max(position - 20, 0))
    locator = file.read(20)
    if len(locator) < 20 or not locator.startswith(_LOCATOR64):
        return None
    if int.from_bytes(locator[16:20], "little") > 1:
        raise _part_of_more()
    record = position - 76
    file.seek(max(record, 0))
    fixed = file.read(56)
    if record < 0 or not fixed.startswith(_END64):
        return None
    count, size, offset = struct.unpack_from("<QQQ", fixed, 32)
    start = record - size
    if start < 0:
        raise DocumentError(Reason.CORRUPT, "the archive's table of contents is longer than the archive")
    return _Place(start, record, count, start - offset)


def _part_of_more() -> DocumentError:
    return DocumentError(Reason.UNSUPPORTED, "one part of a split archive; join its parts to one file and drop that")


def _record(fixed: bytes, variable: bytes, name_length: int, shift: int) -> Record:
    made_by, flags, method, time, date, crc, packed, size = struct.unpack_from("<xBxxHHHHIII", fixed, 4)
    attributes, offset = struct.unpack_from("<II", fixed, 38)
    raw_name = variable[:name_length]
    mode = attributes >> 16 if made_by in _UNIX else 0
    record = Record(raw_name, "", flags, method, crc, packed, size, offset, mode, _date(date, time))
    for kind, value in _extras(variable[name_length:]):
        record = _extended(record, kind, value)
    return replace(record, offset=record.offset + shift)


def _extras(extra: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        yield kind, extra[at + 4 : at + 4 + length]
        at += 4 + length


def _extended(record: Record, kind: int, value: bytes) -> Record:
    if kind == _SIZES64:
        return _with_large_sizes(record, value)
    if kind == _UNICODE_NAME and len(value) > 5:
        return replace(record, name=value[5:].decode("utf-8", "replace"))
    if kind == _AES and len(value) >= 7:
        checks_crc = value[:2] == b"\x01\x00"
        return replace(record, aes=value[4], method=int.from_bytes(value[5:7], "little"), checks_crc=checks_crc)
    return record


def _with_large_sizes(record: Record, value: bytes) -> Record:
    """Sizes of more than 4 GB stand here, in this order, and only those that do not fit."""
    numbers = iter(struct.unpack_from(f"<{len(value) // 8}Q", value))
    full = 0xFFFFFFFF
    size = next(numbers, record.size) if record.size == full else record.size
    packed = next(numbers, record.packed) if record.packed == full else record.packed
    offset = next(numbers, record.offset) if record.offset == full else record.offset
    return replace(record, size=size, packed=packed, offset=offset)


def _date(date: int, time: int) -> str:
    year, month, day = 1980 + (date >> 9), date >> 5 & 15, date & 31
    hour, minute = time >> 11, time >> 5 & 63
    if not (1 <= month <= 12 and day and hour < 24 and minute < 60):
        return ""
    return f"{year}-{month:02}-{day:02} {hour:02}:{minute:02}"


def _named(records: Sequence[Record]) -> list[Record]:
    untold = b"\n".join(each.raw_name for each in records if not (each.name or each.flags & _UTF8))
    encoding = names_encoding(untold)
    return [replace(each, name=each.name or _name(each, encoding)) for each in records]


def _name(record: Record, encoding: str) -> str:
    return record.raw_name.decode("utf-8" if record.flags & _UTF8 else encoding, "replace")


def names_encoding(names: bytes) -> str:
    """The encoding of names whose archive does not tell it: Western ones are DOS's unless that reads as a drawing."""
    guess = decode(names[:65_536]).encoding
    if guess not in ("cp1252", "cp850", "iso8859-15", "mac_roman"):
        return guess
    return "cp1252" if _OEM.search(names.decode("cp437")) or _is_western(names) else "cp437"


def _is_western(names: bytes) -> bool:
    """Whether all that is not ASCII is letters in Windows' encoding and not all is in DOS's."""
    windows, dos = (
        [sign for sign in names.decode(each, "replace") if not sign.isascii()] for each in ("cp1252", "cp437")
    )
    return all(sign.isalpha() for sign in windows) and not all(sign.isalpha() for sign in dos)

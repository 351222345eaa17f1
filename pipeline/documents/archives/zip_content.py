"""The bytes of one entry of a ZIP archive: unlocked, inflated in pieces, and counted, for declared sizes are claims."""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import BinaryIO, Protocol

from pipeline.documents.archives.zip_directory import LOCAL, Record
from pipeline.documents.archives.zip_locks import Unlock, aes_lock, header_bytes, old_lock, trailer_bytes
from pipeline.documents.entries import PIECE_BYTES, slice_of
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_STORED, _DEFLATED, _BZIP2, _LZMA, _XZ = 0, 8, 12, 14, 95
_HAS_SIZES_BEHIND = 1 << 3
_MOST_DICTIONARY_BYTES = 64 << 20  # of LZMA, which takes as much memory as an archive asks for
_TRIED_PIECES = 2


class Inflater(Protocol):
    """What inflates step by step: bz2's and lzma's objects as they are, zlib's behind _Deflated."""

    @property
    def eof(self) -> bool:
        """Whether the end is reached."""

    @property
    def needs_input(self) -> bool:
        """Whether there is nothing more to give without new input."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most `max_length` bytes more."""


def pieces(file: BinaryIO, record: Record, unlock: Unlock | None = None) -> Iterator[bytes]:
    """The entry's bytes, in pieces of bounded size. Raises DocumentError for what is wrong with this entry alone:
    corrupt ("damaged: ...") or unsupported, at the latest with the last piece.
    """
    size, crc = 0, 0
    try:
        for piece in _inflated(_packed(file, record, unlock), record.method):
            size += len(piece)
            if size > record.size:
                raise _damaged(f"it inflates to more than the {record.size:,} bytes it declares")
            crc = zlib.crc32(piece, crc)
            yield piece
    except (zlib.error, lzma.LZMAError, EOFError, OSError, ValueError) as error:
        raise _damaged(str(error)) from error
    if size != record.size:
        raise _damaged(f"it has {size:,} of the {record.size:,} bytes it declares")
    if record.checks_crc and crc != record.crc:
        raise _damaged("its checksum does not fit its bytes")


def key_for(file: BinaryIO, record: Record, password: bytes) -> Callable[[], Unlock | None]:
    """What makes a fresh unlocker of the entry each time; it makes None when the password does not open it.

    The old lock lets one wrong password in 256 pass, so its first bytes are inflated to see. Raises DocumentError.
    """

    def make() -> Unlock | None:
        start, end = _data(file, record)
        header = b"".join(slice_of(file, start, start + header_bytes(record.aes)))
        if record.aes:
            seal = b"".join(slice_of(file, end - trailer_bytes(record.aes), end))
            return aes_lock(header, password, record.aes, seal)
        return old_lock(header, password, _check_byte(file, record))

    return make


def opens(file: BinaryIO, record: Record, make: Callable[[], Unlock | None]) -> bool:
    """Whether the password behind `make` opens the entry."""
    unlock = make()
    if unlock is None or record.aes:
        return unlock is not None
    try:
        for _ in islice(pieces(file, record, unlock), _TRIED_PIECES):
            pass
    except DocumentError:
        return False
    return True


def _data(file: BinaryIO, record: Record) -> tuple[int, int]:
    """Where the packed bytes start and end."""
    if record.offset < 0:
        raise _damaged("it begins before the archive")
    file.seek(record.offset)
    head = file.read(30)
    if len(head) < 30 or not head.startswith(LOCAL):
        raise _damaged("it is not where the table of contents says")
    name_length, extra_length = struct.unpack_from("<HH", head, 26)
    start = record.offset + 30 + name_length + extra_length
    return start, start + record.packed


def _check_byte(file: BinaryIO, record: Record) -> int:
    """What the last byte of an old lock's header is: of the time where the checksum is only known behind."""
    if not record.flags & _HAS_SIZES_BEHIND:
        return record.crc >> 24
    file.seek(record.offset + 11)
    return (file.read(1) or b"\x00")[0]


def _packed(file: BinaryIO, record: Record, unlock: Unlock | None) -> Iterator[bytes]:
    start, end = _data(file, record)
    if unlock is None:
        return slice_of(file, start, end)
    return unlock(slice_of(file, start + header_bytes(record.aes), end - trailer_bytes(record.aes)))


def _inflated(packed: Iterator[bytes], method: int) -> Iterator[bytes]:
    if method == _STORED:
        yield from packed
        return
    inflater, begun = _inflater(packed, method)
    for piece in _after(begun, packed):
        yield inflater.decompress(piece, PIECE_BYTES)
        while not inflater.needs_input and not inflater.eof:
            yield inflater.decompress(b"", PIECE_BYTES)
        if inflater.eof:
            # A seal behind locked content is only checked when all of it was read.
            for _ in packed:
                pass
            return


def _after(begun: bytes, packed: Iterator[bytes]) -> Iterator[bytes]:
    if begun:
        yield begun
    yield from packed


def _inflater(packed: Iterator[bytes], method: int) -> tuple[Inflater, bytes]:
    """What inflates this method, and the bytes that it was not made from."""
    if method == _DEFLATED:
        return _Deflated(), b""
    if method == _BZIP2:
        return bz2.BZ2Decompressor(), b""
    if method == _XZ:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=2 * _MOST_DICTIONARY_BYTES), b""
    if method == _LZMA:
        return _lzma(next(packed, b""))
    raise DocumentError(Reason.UNSUPPORTED, f"packed by method {method}, which nobody here unpacks")


def _lzma(begun: bytes) -> tuple[Inflater, bytes]:
    if len(begun) < 9 or begun[2:4] != b"\x05\x00":
        raise _damaged("it has no properties")
    properties, dictionary = begun[4], int.from_bytes(begun[5:9], "little")
    if dictionary > _MOST_DICTIONARY_BYTES or properties >= 225:
        raise DocumentError(
            Reason.UNSUPPORTED, f"it wants {dictionary:,} bytes of memory; {_MOST_DICTIONARY_BYTES:,} are allowed"
        )
    filters = {
        "id": lzma.FILTER_LZMA1,
        "dict_size": max(dictionary, 4096),
        "lc": properties % 9,
        "lp": properties // 9 % 5,
        "pb": properties // 45,
    }
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[filters]), begun[9:]


class _Deflated:
    """zlib's object with the manners of the others."""

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self._is_full = False

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def needs_input(self) -> bool:
        return not self._is_full

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """At most `max_length` bytes more; input that is left over is kept."""
        inflated = self._inflater.decompress(self._inflater.unconsumed_tail + data, max_length)
        # Less than asked for means that all input is used, though a few bits may wait inside.
        self._is_full = len(inflated) == max_length
        return inflated


def _damaged(what: str) -> DocumentError:
    return DocumentError(Reason.CORRUPT, f"damaged: {what}")

"""Streams of a PDF that inflate beyond all measure, found before any parser inflates them.

Deflate packs a thousand to one only where its own output repeats itself, so a file that may hold a bomb shows it: tens
of kilobytes of next to the same few bytes, or a stream that is packed twice. Other files are not looked at further. The
streams are found by their keyword alone: a file whose tables are broken must not get past.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterable, Iterator

from pipeline.config import MEGABYTE
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_STEP, _WINDOW = 4_096, 256
_FEW_VALUES = 40  # different bytes of 256; packed data has 160, packed repetition a handful
_RUN = 12  # steps: below this, what is packed stays below some ten megabytes
_TWICE = re.compile(rb"/Fl(?:ateDecode)?\s*/Fl")
_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_FILTER = re.compile(rb"/(FlateDecode|Fl|ASCII85Decode|A85|ASCIIHexDecode|AHx|LZWDecode|LZW|DCTDecode|DCT|JPXDecode)\b")
_OTHER = re.compile(rb"/(?:Subtype\s*/Image|Type\s*/EmbeddedFile)\b")
_DICTIONARY = 2_000  # bytes before a stream in which its filters stand
_MOST_STREAMS = 20_000
_PIECE = 1_000_000
_PART = 10  # of the limit for one stream of instructions: as objects they are several times larger


def may_hold_a_bomb(content: bytes) -> bool:
    """Whether a file's bytes look like it; cheap, and wrong only to the side of caution."""
    if _TWICE.search(content):
        return True
    run = 0
    for start in range(0, len(content), _STEP):
        run = run + 1 if len(set(content[start : start + _WINDOW])) < _FEW_VALUES else 0
        if run >= _RUN:
            return True
    return False


def check_streams(content: bytes, max_inflated_megabytes: float) -> int:
    """The bytes that the largest stream inflates to.

    Raises DocumentError(bomb) when one inflates to more than a tenth of the limit, or all to more than the limit.

    Images do not count: their own size bounds what is unpacked of them, and white paper packs as well as any bomb. Nor
    do files inside, which are unpacked in pieces. What only calls itself so meets the limit of the child's memory.
    """
    every = int(max_inflated_megabytes * MEGABYTE)
    left, largest = every, 0
    for packed, filters in _streams(content):
        allowed = min(every // _PART, left)
        left -= (used := _inflated_bytes(packed, filters, allowed))
        if used > allowed:
            raise DocumentError(
                Reason.BOMB,
                f"its drawing instructions inflate to more than {allowed:,} bytes in one stream, or {every:,} in all;"
                f" limits.max_inflated_megabytes is {max_inflated_megabytes:g}, raise the key if you trust it",
            )
        largest = max(largest, used)
    return largest


def _streams(content: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
    """What follows each stream keyword, and the filters that its dictionary names, the outermost first."""
    starts = [match.span() for _, match in zip(range(_MOST_STREAMS), _STREAM.finditer(content), strict=False)]
    for index, (keyword, start) in enumerate(starts):
        end = starts[index + 1][0] if index + 1 < len(starts) else len(content)
        dictionary = content[max(keyword - _DICTIONARY, 0) : keyword].rpartition(b"obj")[2]
        if not _OTHER.search(dictionary):
            yield content[start:end], _FILTER.findall(dictionary)


def _inflated_bytes(packed: bytes, filters: list[bytes], most: int) -> int:
    """How many bytes a stream inflates to, counted to a little above `most`."""
    pieces: Iterable[bytes] = [packed]
    total = 0
    try:
        for name in filters:
            if name in (b"FlateDecode", b"Fl"):
                pieces = inflated(pieces)
            elif name in (b"ASCII85Decode", b"A85"):
                pieces = [base64.a85decode(b"".join(pieces).partition(b"~>")[0].strip())]
            elif name in (b"ASCIIHexDecode", b"AHx"):
                pieces = [binascii.unhexlify(b"".join(b"".join(pieces).partition(b">")[0].split()))]
            else:
                break
        for piece in pieces:
            total += len(piece)
            if total > most:
                break
    except (zlib.error, ValueError):
        pass  # what cannot be unpacked further takes no more room
    return total if filters else 0


def inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Deflated data unpacked, at most a megabyte at a time. Raises zlib.error."""
    unpacker = zlib.decompressobj()
    for piece in pieces:
        left = piece
        while left and not unpacker.eof:
            yield unpacker.decompress(left, _PIECE)
            left = unpacker.unconsumed_tail

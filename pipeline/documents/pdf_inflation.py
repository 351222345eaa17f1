"""Streams of a PDF that inflate beyond all measure, found before any parser inflates them.

Deflate packs a thousand to one only where its own output repeats itself, so a file that may hold a bomb shows it: tens
of kilobytes of next to the same few bytes, or a stream that is packed twice. Other files are not looked at further.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any

from pypdf import PdfReader
from pypdf.generic import ArrayObject, IndirectObject, StreamObject

from pipeline.documents.parsing import faults_are_corruption
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_STEP, _WINDOW = 4_096, 256
_FEW_VALUES = 40  # different bytes of 256; packed data has 160, packed repetition a handful
_RUN = 12  # steps: below this, what is packed stays below some ten megabytes
_TWICE = re.compile(rb"/Fl(?:ateDecode)?\s*/Fl")
_PIECE = 1_000_000
_MOST_OBJECTS = 20_000
_PART = (
    10  # a page's instructions may be this part of what the whole may inflate to; their objects are some times larger
)
_MEGABYTE = 1_000_000
_DEFLATE = ("/FlateDecode", "/Fl")


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


def check_streams(reader: PdfReader, max_inflated_megabytes: float) -> None:
    """Raises DocumentError(bomb) for a stream that inflates to more than a tenth of the limit."""
    most = int(max_inflated_megabytes * _MEGABYTE / _PART)
    for stream in _streams(reader):
        if _inflates_beyond(stream, most):
            raise DocumentError(
                Reason.BOMB,
                f"{len(stream._data):,} bytes of drawing instructions inflate to more than {most:,},"
                f" a tenth of limits.max_inflated_megabytes ({max_inflated_megabytes:g}); raise the key if you trust it",
            )


def _streams(reader: PdfReader) -> Iterator[Any]:
    """Every stream but images, whose size their format bounds."""
    places = [(number, generation) for generation, numbers in reader.xref.items() for number in numbers]
    for number, generation in places[:_MOST_OBJECTS]:
        found = _object(reader, IndirectObject(number, generation, reader))
        if isinstance(found, StreamObject) and found.get("/Subtype") != "/Image":
            yield found


def _object(reader: PdfReader, place: IndirectObject) -> Any:
    """The object there; None for a broken one, which the parsers will meet."""
    try:
        with faults_are_corruption("pypdf"):
            return reader.get_object(place)
    except DocumentError:
        return None


def _inflates_beyond(stream: Any, most: int) -> bool:
    filters = stream.get("/Filter")
    names = list(filters) if isinstance(filters, ArrayObject) else [filters]
    pieces: Iterator[bytes] = iter([stream._data])
    for name in names:
        if name not in _DEFLATE:
            break
        pieces = inflated(pieces)
    total = 0
    try:
        for piece in pieces:
            total += len(piece)
            if total > most:
                return True
    except zlib.error:
        pass
    return False


def inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Deflated data unpacked, at most a megabyte at a time. Raises zlib.error."""
    unpacker = zlib.decompressobj()
    for piece in pieces:
        left = piece
        while left and not unpacker.eof:
            yield unpacker.decompress(left, _PIECE)
            left = unpacker.unconsumed_tail

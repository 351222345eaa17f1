"""The transfer encodings of mails, undone in pieces of bounded size. What is broken in them is passed over."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import BinaryIO

from pipeline.documents.entries import slice_of

_NOT_BASE64 = bytes({*range(256)} - {*b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="})
_PADDING = re.compile(rb"=+")


def decoded(file: BinaryIO, start: int, end: int, encoding: str) -> Iterator[bytes]:
    """The bytes between two positions, decoded from base64, quoted-printable, x-uuencode or nothing. Never raises."""
    pieces = slice_of(file, start, end)
    if encoding == "base64":
        return _from_base64(pieces)
    if encoding == "quoted-printable":
        return _from_quoted_printable(pieces)
    if encoding == "x-uuencode":
        return _from_uuencode(pieces)
    return pieces


def _from_base64(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Padding may stand in the middle, where a sender has joined what was encoded in parts."""
    kept = b""
    for piece in pieces:
        *ended, kept = _PADDING.split(kept + piece.translate(None, _NOT_BASE64))
        yield b"".join(_quads(each) for each in ended)
        whole = len(kept) // 4 * 4
        yield binascii.a2b_base64(kept[:whole])
        kept = kept[whole:]
    yield _quads(kept)


def _quads(run: bytes) -> bytes:
    """A run without padding; a last sign that is too few for a byte is dropped."""
    if len(run) % 4 == 1:
        run = run[:-1]
    return binascii.a2b_base64(run + b"=" * (-len(run) % 4))


def _from_quoted_printable(pieces: Iterator[bytes]) -> Iterator[bytes]:
    kept = b""
    for piece in pieces:
        block = kept + piece
        cut = _quotable(block)
        yield binascii.a2b_qp(block[:cut])
        kept = block[cut:]
    yield binascii.a2b_qp(kept)


def _quotable(block: bytes) -> int:
    """Up to where a block can be decoded without what follows: a whole line, or no sign cut within."""
    line = block.rfind(b"\n") + 1
    if line:
        return line
    cut = block.rfind(b"=", len(block) - 3)
    return cut if cut > 0 else len(block)


def _from_uuencode(pieces: Iterator[bytes]) -> Iterator[bytes]:
    kept = b""
    for piece in pieces:
        *lines, kept = (kept + piece).split(b"\n")
        kept = kept[-100:]
        yield b"".join(map(_uuencoded_line, lines))
    yield _uuencoded_line(kept)


def _uuencoded_line(line: bytes) -> bytes:
    line = line.rstrip(b"\r")
    if not line or line.startswith((b"begin ", b"end")):
        return b""
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:
        pass
    byte_count = (line[0] - 32) & 63
    try:
        return binascii.a2b_uu(line[: (byte_count * 4 + 5) // 3 + 1])
    except binascii.Error:
        return b""

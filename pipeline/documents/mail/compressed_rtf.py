"""The compression of RTF in Outlook's messages (LZFu), undone within the bounds that its head declares."""

from __future__ import annotations

import struct

MOST_BYTES = 20_000_000
_WINDOW = 4096
_PACKED, _PLAIN = b"LZFu", b"MELA"
# What the window holds before the first byte, by Microsoft's definition of the format.
_BEFORE = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def decompressed(packed: bytes) -> bytes:
    """The RTF, at most 20 MB; as far as it can be unpacked where it is damaged, empty if it is none. Never raises."""
    if len(packed) < 16:
        return b""
    size, kind = struct.unpack_from("<I4s", packed, 4)
    most = min(size, MOST_BYTES)
    if kind == _PLAIN:
        return packed[16 : 16 + most]
    return _unpacked(packed[16:], most) if kind == _PACKED else b""


def _unpacked(packed: bytes, most: int) -> bytes:
    """Each bit of a control byte tells a byte from a reference: where in the window, and how many bytes."""
    found = bytearray(_BEFORE)
    most += len(_BEFORE)
    at = 0
    while at < len(packed) and len(found) < most:
        control = packed[at]
        at += 1
        for bit in range(8):
            if at >= len(packed) or len(found) >= most:
                break
            if not control >> bit & 1:
                found.append(packed[at])
                at += 1
                continue
            reference = int.from_bytes(packed[at : at + 2], "big")
            at += 2
            distance = (len(found) - (reference >> 4)) % _WINDOW
            if not distance:
                return bytes(found[len(_BEFORE) : most])
            _repeat(found, distance, (reference & 15) + 2)
    return bytes(found[len(_BEFORE) : most])


def _repeat(found: bytearray, distance: int, length: int) -> None:
    for _ in range(length):
        # What stands before the beginning of the window was never written.
        found.append(found[-distance] if distance <= len(found) else 0)

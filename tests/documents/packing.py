"""Packages and compound files as office programs write them, made from their parts by the standard library alone."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping

SECTOR = 512
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_LEAST_STREAM = 4096  # smaller streams live elsewhere in a compound file


def packed(parts: Mapping[str, str | bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP package with these parts, in this order."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as package:
        for name, content in parts.items():
            how = zipfile.ZIP_STORED if name == "mimetype" else compression
            package.writestr(zipfile.ZipInfo(name), content, compress_type=how)
    return file.getvalue()


def compound(streams: Mapping[str, bytes]) -> bytes:
    """A compound file with these streams at its top, filled up with zeros to 4 KiB: smaller ones live elsewhere."""
    contents = [content.ljust(_LEAST_STREAM, b"\x00") for content in streams.values()]
    lengths = [-(-len(content) // SECTOR) for content in contents]
    directory_sectors = -(-(len(streams) + 1) // 4)
    used = directory_sectors + sum(lengths)
    fat_sectors = 1
    while fat_sectors * 128 < used + fat_sectors:
        fat_sectors += 1
    starts, at = [], fat_sectors + directory_sectors
    fat = [_FAT] * fat_sectors + _chain(fat_sectors, directory_sectors)
    for length in lengths:
        starts.append(at)
        fat += _chain(at, length)
        at += length
    fat += [_FREE] * (fat_sectors * 128 - len(fat))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack(
        "<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, fat_sectors, fat_sectors, 0, 4096, _END, 0, _END, 0
    )
    header += struct.pack("<109I", *range(fat_sectors), *[_FREE] * (109 - fat_sectors))
    entries = _entry("Root Entry", 5, child=1 if streams else _FREE, start=_END, size=0)
    for number, (name, start, content) in enumerate(zip(streams, starts, contents, strict=True), start=1):
        after = number + 1 if number < len(streams) else _FREE
        entries += _entry(name, 2, right=after, start=start, size=len(content))
    entries += bytes(-len(entries) % SECTOR)
    body = b"".join(content + bytes(-len(content) % SECTOR) for content in contents)
    return header + struct.pack(f"<{len(fat)}I", *fat) + entries + body


def _chain(start: int, length: int) -> list[int]:
    return [*range(start + 1, start + length), _END]


def _entry(name: str, kind: int, *, right: int = _FREE, child: int = _FREE, start: int, size: int) -> bytes:
    raw = name.encode("utf-16-le")
    entry = raw.ljust(64, b"\x00") + struct.pack("<HBBIII", len(raw) + 2, kind, 1, _FREE, right, child)
    return entry + bytes(36) + struct.pack("<IQ", start, size)

"""A binary Excel workbook: a sheet a page, a row a line, its texts shared."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from tests.documents.packing import compound

GLOBALS, WORKSHEET = 5, 0x10


def record(kind: int, content: bytes = b"") -> bytes:
    """A record."""
    return struct.pack("<HH", kind, len(content)) + content


def begin(kind: int) -> bytes:
    """The first record of the workbook or of a sheet."""
    return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 0))


def text(value: str) -> bytes:
    """A text of two-byte characters with its length before it."""
    raw = value.encode("utf-16-le")
    return struct.pack("<HB", len(raw) // 2, 1) + raw


def number(row: int, column: int, value: float, style: int = 0) -> bytes:
    """A cell with a number."""
    return record(0x203, struct.pack("<HHHd", row, column, style, value))


def label(row: int, column: int, shared: int) -> bytes:
    """A cell with a shared text."""
    return record(0xFD, struct.pack("<HHHI", row, column, 0, shared))


def stream(sheets: Mapping[str, bytes], *, shared: Sequence[bytes] = (), extra: bytes = b"") -> bytes:
    """The workbook's stream; `shared` are the records of shared texts, `extra` stands before the list of sheets."""
    names = [name.encode("utf-16-le") for name in sheets]
    opening = begin(GLOBALS) + extra
    texts = b"".join(shared) + record(0x0A)
    at = len(opening) + sum(12 + len(name) for name in names) + len(texts)
    listed = b""
    bodies = [begin(WORKSHEET) + rows + record(0x0A) for rows in sheets.values()]
    for name, body in zip(names, bodies, strict=True):
        listed += record(0x85, struct.pack("<IBBBB", at, 0, 0, len(name) // 2, 1) + name)
        at += len(body)
    return opening + listed + texts + b"".join(bodies)


def shared_texts(values: Sequence[str]) -> bytes:
    """The record of shared texts."""
    return record(0xFC, struct.pack("<II", len(values), len(values)) + b"".join(map(text, values)))


def build(pages: Sequence[str]) -> bytes:
    """A workbook with these texts, each on its sheet."""
    lines = [line for page in pages for line in page.split("\n")]
    sheets, at = {}, 0
    for page_number, page in enumerate(pages, start=1):
        count = len(page.split("\n"))
        sheets[f"Sheet {page_number}"] = b"".join(label(row, 0, at + row) for row in range(count))
        at += count
    return compound({"Workbook": stream(sheets, shared=[shared_texts(lines)])})

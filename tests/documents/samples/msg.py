"""An Outlook message, and the compound file that it is: sectors, chains of them, and a tree of names."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Tree = Mapping[str, "bytes | Tree"]

SECTOR, MINI, CUTOFF = 512, 64, 4096
FREE, CHAIN_END, FAT_SECTOR, NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
TABLE = "__properties_version1.0"
FILE_DATA = 0x3701


def build(pages: Sequence[str]) -> bytes:
    """A message with these pages of text and no files."""
    return message("\f".join(pages))


def message(body: str = "", subject: str = "Papers", more: Tree | None = None, *files: Tree) -> bytes:
    """A message from Anna with these files."""
    return compound(message_tree(body, subject, more, *files, header_bytes=32))


def message_tree(body: str, subject: str, more: Tree | None, *files: Tree, header_bytes: int = 24) -> Tree:
    """The folder of a message; of one that is inside another, its table has a shorter head."""
    texts = {0x0037: subject, 0x1000: body, 0x0C1A: "Anna", 0x5D01: "anna@example.org", 0x0E04: "books@example.org"}
    tree: dict[str, bytes | Tree] = {wide(tag): text.encode("utf-16-le") for tag, text in texts.items() if text}
    tree[TABLE] = bytes(header_bytes) + record(0x0039, 0x40, 134_169_120_000_000_000)
    for number, each in enumerate(files):
        tree[f"__attach_version1.0_#{number:08X}"] = each
    return {**tree, **(more or {})}


def attached(name: str, content: bytes, media_type: str = "", content_id: str = "") -> Tree:
    """The folder of a file."""
    texts = {0x3707: name, 0x370E: media_type, 0x3712: content_id}
    return {
        TABLE: bytes(8) + record(0x3705, 3, 1),
        binary(FILE_DATA): content,
        **{wide(tag): text.encode("utf-16-le") for tag, text in texts.items() if text},
    }


def enclosed(inner: Tree) -> Tree:
    """The folder of a message that is a file of another."""
    return {TABLE: bytes(8) + record(0x3705, 3, 5), f"__substg1.0_{FILE_DATA:04X}000D": inner}


def wide(tag: int) -> str:
    """The name of a stream of text."""
    return f"__substg1.0_{tag:04X}001F"


def binary(tag: int) -> str:
    """The name of a stream of bytes."""
    return f"__substg1.0_{tag:04X}0102"


def record(tag: int, kind: int, value: int) -> bytes:
    """A record of a table."""
    return struct.pack("<HHIQ", kind, tag, 6, value)


@dataclass(slots=True)
class _Row:
    """A row of the directory: a name, its kind, where its content starts, who stands beside and below it."""

    name: str
    kind: int
    content: bytes = b""
    start: int = CHAIN_END
    beside: int = NONE
    below: int = NONE


@dataclass(slots=True)
class _Sectors:
    """Content in chains of sectors of one size."""

    size: int
    content: bytearray = field(default_factory=bytearray)
    chain: list[int] = field(default_factory=list)

    def add(self, content: bytes) -> int:
        """Where the content starts."""
        count = -(-len(content) // self.size)
        first = len(self.chain)
        self.content += content.ljust(count * self.size, b"\x00")
        self.chain += [*range(first + 1, first + count), CHAIN_END] if count else []
        return first if count else CHAIN_END


def compound(tree: Tree) -> bytes:
    """A compound file with these streams and folders."""
    rows = [_Row("Root Entry", 5)]
    rows[0].below = _add(rows, tree)
    small, large = _Sectors(MINI), _Sectors(SECTOR)
    directory_at = large.add(bytes(-(-len(rows) // 4) * SECTOR))
    for row in rows[1:]:
        row.start = (small if len(row.content) < CUTOFF else large).add(row.content) if row.kind == 2 else 0
    rows[0].content = bytes(small.content)
    rows[0].start = large.add(rows[0].content)
    mini_table = _packed(small.chain)
    mini_at = large.add(mini_table)
    fat_count = next(count for count in range(1, 109) if count * 128 >= len(large.chain) + count)
    first_fat = len(large.chain)
    large.chain += [FAT_SECTOR] * fat_count
    body = large.content + _packed(large.chain, fat_count * 128)
    directory = b"".join(map(_row, rows)).ljust(-(-len(rows) // 4) * SECTOR, b"\x00")
    body[directory_at * SECTOR : directory_at * SECTOR + len(directory)] = directory
    mini_count = -(-len(mini_table) // SECTOR)
    return _header(directory_at, mini_at, mini_count, range(first_fat, first_fat + fat_count)) + bytes(body)


def _add(rows: list[_Row], tree: Tree) -> int:
    """Add a folder's rows, each beside the last; the first one's number."""
    first = last = NONE
    for name, content in tree.items():
        number = len(rows)
        rows.append(_Row(name, 2, content) if isinstance(content, bytes) else _Row(name, 1))
        if last == NONE:
            first = number
        else:
            rows[last].beside = number
        last = number
        if not isinstance(content, bytes):
            rows[number].below = _add(rows, content)
    return first


def _row(row: _Row) -> bytes:
    name = row.name.encode("utf-16-le") + b"\x00\x00"
    links = struct.pack("<BBIII", row.kind, 1, NONE, row.beside, row.below)
    return (
        name.ljust(64, b"\x00")
        + struct.pack("<H", len(name))
        + links
        + bytes(36)
        + struct.pack("<IQ", row.start, len(row.content))
    )


def _packed(chain: Sequence[int], count: int = 0) -> bytes:
    padded = [*chain, *[FREE] * (count - len(chain))]
    return struct.pack(f"<{len(padded)}I", *padded)


def _header(directory_at: int, mini_at: int, mini_count: int, fat: range) -> bytes:
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
    counts = struct.pack("<6xIIIIIIIII", 0, len(fat), directory_at, 0, CUTOFF, mini_at, mini_count, CHAIN_END, 0)
    return head + counts + _packed(list(fat), 109)

"""The pages that a PDF's tree really holds: its own count may be a lie, and pdfium believes it.

The walk adds up each node once, so that a tree which names itself, or the same million pages again and again, costs no
more than its nodes. It is cut short where root and children agree, which they do in nearly every file.
"""

from __future__ import annotations

import io
import re
from typing import Any

from pypdf import PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, NameObject, NumberObject

_MOST_NODES = 200_000
_DEEPEST = 200
_MOST_LEVELS = 64  # children that are looked at one by one before the whole tree is walked
_START = re.compile(rb"startxref\s+(\d{1,15})")


def count_pages(reader: PdfReader) -> int | None:
    """How many pages the tree holds, those that are missing or broken included; None when it cannot be told.

    Raises whatever pypdf raises on hostile bytes.
    """
    root = _catalog(reader)["/Pages"].get_object()
    return _declared(root) if _agrees(root) else _Walk().leaves(root, None, 0)


def correction(reader: PdfReader, content: bytes, count: int) -> bytes:
    """What makes a parser count right when it stands behind the file: the root of the tree once more, as an update.

    Raises whatever pypdf raises, and ValueError when the root has no number or the file no end.
    """
    place = _catalog(reader).raw_get("/Pages")
    starts = _START.findall(content[-4096:])
    if not isinstance(place, IndirectObject) or not starts:
        raise ValueError("the root of the page tree cannot be replaced")
    node: Any = place.get_object()
    root = DictionaryObject(node)
    root[NameObject("/Count")] = NumberObject(count)
    head = max(content.find(b"%PDF-", 0, 1024), 0)  # places are counted from there
    body = b"\n%d %d obj\n%s\nendobj\n" % (place.idnum, place.generation, _written(root))
    trailer = DictionaryObject()
    for key in ("/Root", "/Encrypt", "/ID", "/Size"):
        if key in reader.trailer:
            trailer[NameObject(key)] = reader.trailer.raw_get(key)
    trailer[NameObject("/Prev")] = NumberObject(int(starts[-1]))
    table = b"xref\n%d 1\n%010d %05d n \n" % (place.idnum, len(content) - head + 1, place.generation)
    start = len(content) - head + len(body)
    return body + table + b"trailer\n%s\nstartxref\n%d\n%%%%EOF\n" % (_written(trailer), start)


def _catalog(reader: PdfReader) -> Any:
    return reader.root_object  # found in damaged files, too


def _written(value: DictionaryObject) -> bytes:
    file = io.BytesIO()
    value.write_to_stream(file)
    return file.getvalue()


def _kids(node: Any) -> ArrayObject | None:
    kids = node.get("/Kids") if isinstance(node, DictionaryObject) else None
    kids = kids.get_object() if kids is not None else None
    return kids if isinstance(kids, ArrayObject) else None


def _declared(node: Any) -> int:
    count = node.get("/Count")
    return int(count) if isinstance(count, NumberObject) else -1


def _agrees(root: Any) -> bool:
    """Whether the root counts what its children say they hold."""
    kids = _kids(root)
    if kids is None:
        return False
    if _is_level(root):
        return True
    if len(kids) > _MOST_LEVELS:
        return False
    nodes = [kid.get_object() for kid in kids]
    if any(_kids(kid) is not None and not _is_level(kid) for kid in nodes):
        return False
    return _declared(root) == sum(1 if _kids(kid) is None else _declared(kid) for kid in nodes)


def _is_level(node: Any) -> bool:
    """Whether a node counts as many pages as it has children, and the first and the last of them are pages."""
    kids = _kids(node)
    if not kids or _declared(node) != len(kids):
        return False
    return not any(_kids(end.get_object()) for end in (kids[0], kids[-1]))


class _Walk:
    """Adds up a tree, each node once."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._above: set[int] = set()
        self._nodes = 0

    def leaves(self, node: Any, number: int | None, depth: int) -> int | None:
        """The pages under a node, 0 for one that is above itself, None when there is too much of the tree."""
        kids = _kids(node)
        self._nodes += 1
        if depth > _DEEPEST or self._nodes > _MOST_NODES:
            return None
        if kids is None:
            return 1
        if number is not None:
            if number in self._known:
                return self._known[number]
            if number in self._above:
                return 0
            self._above.add(number)
        total = self._total(kids, depth)
        if number is not None and total is not None:
            self._above.discard(number)
            self._known[number] = total
        return total

    def _total(self, kids: ArrayObject, depth: int) -> int | None:
        total = 0
        for index in range(len(kids)):
            raw = list.__getitem__(kids, index)
            number = raw.idnum if isinstance(raw, IndirectObject) else None
            below = self._known.get(number) if number is not None else None
            if below is None:
                below = self.leaves(raw.get_object(), number, depth + 1)
            if below is None:
                return None
            total += below
        return total

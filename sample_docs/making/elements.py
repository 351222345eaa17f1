"""Elements of XML from rows of a path, a text and attributes: how the invoices in XML are written down."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

Row = tuple[str, str] | tuple[str, str, dict[str, str]]  # a path below the parent, its text, its attributes


def fill(parent: ET.Element, rows: Iterable[Row]) -> None:
    """Add an element a row; those on its path that were added last are not added again."""
    for path, text, *attributes in rows:
        *above, name = path.split("/")
        place = parent
        for step in above:
            last = place[-1] if len(place) else None
            place = last if last is not None and last.tag == step else ET.SubElement(place, step)
        ET.SubElement(place, name, *attributes).text = text


def written(root: ET.Element) -> bytes:
    """The file, indented, with its declaration."""
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + content + b"\n"

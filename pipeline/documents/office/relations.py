"""How parts of an office package find each other: by relations, whose types end in the same word in every edition."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.documents.office.packages import Parts
from pipeline.documents.office.xml import Attributes, attribute, read_xml
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_KINDS = {"word/": "a Word document", "xl/": "an Excel workbook", "ppt/": "a PowerPoint presentation"}
_MAX_RELATIONS = 100_000


@dataclass(frozen=True, slots=True)
class Relation:
    """A part that another one refers to. `kind` is the last word of its type: header, worksheet, styles …"""

    name: str
    kind: str
    part: str


class _Relations:
    """Listens to a part of relations; what is outside the package is left out."""

    def __init__(self, folder: str) -> None:
        self.found: list[Relation] = []
        self._folder = folder

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if tag != "Relationship" or attribute(attributes, "TargetMode") == "External":
            return
        target = (attribute(attributes, "Target") or "").replace("\\", "/")
        part = posixpath.normpath(posixpath.join("/" + self._folder, target)).lstrip("/").lower()
        kind = (attribute(attributes, "Type") or "").rpartition("/")[2]
        if len(self.found) < _MAX_RELATIONS:
            self.found.append(Relation(attribute(attributes, "Id") or "", kind, part))

    def end(self, tag: str) -> None:
        """An element ends."""

    def text(self, data: str) -> None:
        """Nothing here is text."""


def relations(parts: Parts, part: str) -> list[Relation]:
    """What `part` refers to inside the package, in order; "" for the package itself. Raises DocumentError."""
    folder, _, name = part.rpartition("/")
    source = posixpath.join(folder, "_rels", f"{name}.rels")
    found = _Relations(folder)
    if parts.has(source):
        read_xml(parts.pieces(source), found, source)
    return [each for each in found.found if parts.has(each.part)]


def of_kind(found: Sequence[Relation], kind: str) -> list[str]:
    """The parts of one kind, each once."""
    return list(dict.fromkeys(each.part for each in found if each.kind == kind))


def main_part(parts: Parts, folder: str, usual: str) -> str:
    """The part that the document begins with. Raises DocumentError(unsupported) when it is not in `folder`."""
    for part in (*of_kind(relations(parts, ""), "officeDocument"), usual):
        if part.startswith(folder) and parts.has(part) and part.endswith(".xml"):
            return part
    other = next(
        (kind for prefix, kind in _KINDS.items() if any(each.startswith(prefix) for each in parts.names)), None
    )
    raise DocumentError(
        Reason.UNSUPPORTED,
        f"the package holds {other or 'no document'}, not {_KINDS[folder]} that can be read"
        + ("; give its name the ending that fits, or save it anew" if other else ""),
    )

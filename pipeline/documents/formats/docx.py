"""Word documents by their XML: what is on paper, in reading order, with the numbers of lists and the notes of a page.

Pages end where Word last ended them or where the author did. A document that has no such marks is cut by length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from pipeline.documents.contract import Format, Means
from pipeline.documents.office.files import OFFICE_OPEN, files_inside
from pipeline.documents.office.flat_package import FlatPackage, is_flat_word
from pipeline.documents.office.format import OfficeFormat
from pipeline.documents.office.locks import unlocked
from pipeline.documents.office.notes import Notes
from pipeline.documents.office.packages import OfficeKind, Package, Parts, is_office_package
from pipeline.documents.office.relations import Relation, main_part, of_kind, relations
from pipeline.documents.office.story import Story
from pipeline.documents.office.text import Block, OpenPages, PageBuilder
from pipeline.documents.office.word_numbering import Numbering
from pipeline.documents.office.xml import read_xml
from pipeline.documents.parsing import read_edges

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_FOLDER, _BODY = "word/", "word/document.xml"
_NOTES = (("footnote", "footnotes", ""), ("endnote", "endnotes", ""), ("comment", "comments", "Comment:"))


def _is_word(head: bytes, tail: bytes, name: str) -> bool:
    return is_flat_word(head) or is_office_package(head, tail, name, OfficeKind.WORD)


def _open(file: BinaryIO, means: Means) -> OpenPages:
    head, _ = read_edges(file)
    if is_flat_word(head):
        parts: Parts = FlatPackage(file, means.limits)
    else:
        parts = Package(unlocked(file, means.passwords), means.limits)
    return _read(parts, PageBuilder(means.limits))


def _read(parts: Parts, pages: PageBuilder) -> OpenPages:
    body = main_part(parts, _FOLDER, _BODY)
    found = relations(parts, body)
    for block in _margins(parts, of_kind(found, "header")):
        block.pour(pages)
    pages.pending.extend(_margins(parts, of_kind(found, "footer")))
    numbering = Numbering()
    for part in of_kind(found, "numbering") + of_kind(found, "styles"):
        read_xml(parts.pieces(part), numbering, part)
    read_xml(parts.pieces(body), Story(pages, numbering, _notes(parts, found)), body)
    return pages.finish("docx 1", lambda: files_inside(parts, OFFICE_OPEN, pages.written))


def _notes(parts: Parts, found: Sequence[Relation]) -> dict[str, Block]:
    notes: dict[str, Block] = {}
    for tag, kind, prefix in _NOTES:
        for part in of_kind(found, kind):
            listener = Notes(tag, prefix)
            read_xml(parts.pieces(part), listener, part)
            notes |= listener.found
    return notes


def _margins(parts: Parts, names: Sequence[str]) -> list[Block]:
    """Headers or footers, each text once: most documents have the same three times."""
    blocks: dict[str, Block] = {}
    for name in names:
        block, trimmed = Block(), Block()
        read_xml(parts.pieces(name), Story(block), name)
        block.pour(trimmed)
        if trimmed.text:
            blocks.setdefault("\n".join(trimmed.text), trimmed)
    return list(blocks.values())


# The name by which formats are found.
format: Format = OfficeFormat("docx", _MEDIA_TYPE, _is_word, _open)  # noqa: A001

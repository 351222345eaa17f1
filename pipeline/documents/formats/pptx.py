"""PowerPoint presentations by their XML: a slide is a page, with its text boxes, tables, diagrams, charts and notes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import BinaryIO

from pipeline.documents.contract import Format, Means
from pipeline.documents.office.files import OFFICE_OPEN, files_inside
from pipeline.documents.office.format import OfficeFormat
from pipeline.documents.office.locks import unlocked
from pipeline.documents.office.packages import OfficeKind, Package, Parts, is_office_package
from pipeline.documents.office.relations import main_part, of_kind, relations
from pipeline.documents.office.story import Story
from pipeline.documents.office.text import Block, OpenPages, PageBuilder
from pipeline.documents.office.xml import Attributes, attribute, read_xml

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_FOLDER, _DECK = "ppt/", "ppt/presentation.xml"
_AROUND = ("diagramData", "chart", "notesSlide")


def _open(file: BinaryIO, means: Means) -> OpenPages:
    return _read(Package(unlocked(file, means.passwords), means.limits), PageBuilder(means.limits))


def _read(parts: Parts, pages: PageBuilder) -> OpenPages:
    part = main_part(parts, _FOLDER, _DECK)
    order, targets = _Order(), {relation.name: relation.part for relation in relations(parts, part)}
    read_xml(parts.pieces(part), order, part)
    for number, slide in enumerate(_existing(order.slides, targets), start=1):
        listener = _Slide()
        read_xml(parts.pieces(slide), listener, slide)
        pages.note = f"slide {number}, hidden" if listener.hidden else ""
        listener.block.pour(pages)
        _read_around(parts, slide, pages)
        pages.end_page(even_empty=True)
    return pages.finish("pptx 1", lambda: files_inside(parts, OFFICE_OPEN, pages.written))


def _existing(names: Sequence[str], targets: dict[str, str]) -> list[str]:
    return [targets[name] for name in names if name in targets]


def _read_around(parts: Parts, slide: str, pages: PageBuilder) -> None:
    """Diagrams, charts and notes of a slide, below its own text."""
    around = relations(parts, slide)
    for part in (each for kind in _AROUND for each in of_kind(around, kind)):
        block = Block()
        read_xml(parts.pieces(part), _Slide(block), part)
        block.pour(pages)


class _Order:
    """Listens to the presentation: which slides, in which order."""

    def __init__(self) -> None:
        self.slides: list[str] = []

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if tag == "sldId":
            self.slides.extend(value for key, value in attributes.items() if key.endswith(":id"))

    def end(self, tag: str) -> None:
        """An element ends."""

    def text(self, data: str) -> None:
        """Nothing here is text."""


class _Slide(Story):
    """A slide, or what belongs to one. The number that a notes page repeats of its slide is left out."""

    def __init__(self, block: Block | None = None) -> None:
        self.block = block or Block()
        self.hidden = False
        super().__init__(self.block)

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if tag == "sld":
            self.hidden = attribute(attributes, "show") in ("0", "false")
        super().start("delText" if tag == "fld" and attribute(attributes, "type") == "slidenum" else tag, attributes)


# The name by which formats are found.
format: Format = OfficeFormat("pptx", _MEDIA_TYPE, partial(is_office_package, kind=OfficeKind.SLIDES), _open)  # noqa: A001

"""The files that every reader gets, and the words that are printed on them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import pypdfium2
from reportlab.pdfgen.canvas import Canvas
from reportlab.pdfgen.textobject import PDFTextObject

from bench import paper

CONTRACT_PAGES = 30


@dataclass(frozen=True, slots=True)
class Paper:
    """A file. `words` are those that were drawn on it, None when nobody knows."""

    path: Path
    pages: int
    words: Counter[str] | None = field(default=None, compare=False)

    def recall(self, text: str) -> float | None:
        """The share of its words that a text has, whatever their order."""
        if self.words is None:
            return None
        return (self.words & words_of(text)).total() / self.words.total()


@dataclass(frozen=True, slots=True)
class Pile:
    """Papers of one kind, in a folder of their own."""

    name: str
    folder: Path
    papers: Sequence[Paper]
    scans: bool = False


def words_of(text: str) -> Counter[str]:
    """Its words, as a set that counts; signs between them, such as those of Markdown, are no part of them."""
    return Counter(re.findall(r"[^\W_]+", text))


def drawn(folder: Path, invoices: int, contracts: int, scans: int) -> Iterator[Pile]:
    """Invoices of two pages, contracts of thirty, and scans of one, as bench/paper.py makes them."""
    yield _pile(folder / "invoices", "2-page invoices", paper.invoice, invoices)
    yield _pile(folder / "contracts", f"{CONTRACT_PAGES}-page contracts", _contract, contracts)
    yield _pile(folder / "scans", "scans of one page", paper.scan, scans, scans=True)


def found(folder: Path, count: int) -> Pile:
    """The first PDFs in a folder and below, by name. Raises SystemExit when there are none."""
    papers = [Paper(path, _page_count(path)) for path in sorted(folder.resolve().rglob("*.pdf"))[:count]]
    if not papers:
        raise SystemExit(f"{folder} has no PDFs")
    return Pile(folder.name, folder, papers)


def _contract(seed: int) -> bytes:
    return paper.contract(CONTRACT_PAGES, seed)


def _pile(folder: Path, name: str, make: Callable[[int], bytes], count: int, *, scans: bool = False) -> Pile:
    folder.mkdir(parents=True)
    papers = []
    for seed in range(1, count + 1):
        path = folder / f"paper-{seed:02}.pdf"
        with remembered() as said:
            path.write_bytes(make(seed))
        papers.append(Paper(path, _page_count(path), words_of(" ".join(said))))
    return Pile(name, folder, papers, scans)


@contextmanager
def remembered() -> Iterator[list[str]]:
    """What bench/paper.py draws meanwhile."""
    said: list[str] = []

    class Text(PDFTextObject):  # type: ignore[misc]  # reportlab has no types
        def textOut(self, text: str, *more: Any) -> None:  # noqa: N802 - reportlab's name
            said.append(text)
            super().textOut(text, *more)

        def textLine(self, text: str = "", *more: Any) -> None:  # noqa: N802 - reportlab's name
            said.append(text)
            super().textLine(text, *more)

    class Remembering(Canvas):  # type: ignore[misc]  # reportlab has no types
        def beginText(self, x: float = 0, y: float = 0, direction: str | None = None) -> Text:  # noqa: N802
            return Text(self, x, y, direction=direction)

    with mock.patch.object(paper, "Canvas", Remembering):
        yield said


def _page_count(path: Path) -> int:
    document = pypdfium2.PdfDocument(path)
    try:
        return len(document)
    finally:
        document.close()

"""A page as a reader sees it: rows of cells that stand at columns, and text folded for comparing.

`fold` never changes the length of a text, so that a position in the folded text is a position in the printed one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.documents.text import Document, Page
from pipeline.reading.labels import Label, find_labels

MAX_ROW = 1_000  # characters; no printed row is wider, and every rule below stays fast on a file that is one line
MAX_ROWS = 400  # a page
FIRST_PAGES, LAST_PAGES = 10, 3

_CELL = re.compile(r"\S+(?: \S+| {2,3}[●•∙▪·] {1,3}\S+)*")  # a bullet joins what it parts, however wide
_ACCENTS = {"a": "àáâãäåą", "c": "çćč", "d": "ď", "e": "èéêëęě", "i": "ìíîïı", "l": "ł", "n": "ñńň", "o": "òóôõöøő"} | {
    "r": "ř",
    "s": "śš",
    "t": "ť",
    "u": "ùúûüűů",
    "y": "ýÿ",
    "z": "źżž",
    "'": "’‘`´",
    "-": "−–—‐‑",
    " ": "\u00a0\u202f\u2009\t",
}
_FOLDED = {sign: plain for plain, signs in _ACCENTS.items() for sign in signs}


@dataclass(frozen=True, slots=True)
class Cell:
    """A run of words without a gap, from column `start` up to, not including, `end`."""

    text: str
    start: int
    end: int

    def overlaps(self, start: int, end: int) -> bool:
        """Whether it shares a column with that span."""
        return self.start < end and start < self.end


@dataclass(frozen=True, slots=True)
class Row:
    """One printed row of a page. `folded` is `text` for comparing, of the same length; `labels` are those in it."""

    page: int
    text: str
    folded: str
    cells: tuple[Cell, ...]
    labels: tuple[Label, ...]

    def under(self, label: Label) -> Cell | None:
        """The cell of this row that stands in the columns of a label above it."""
        return next((cell for cell in self.cells if cell.overlaps(label.start - 1, label.end + 1)), None)


def fold(text: str) -> str:
    """Lower case without accents, with plain dashes, quotes and spaces; exactly as long as `text`."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    if lowered.isascii():
        return lowered.replace("\t", " ")
    for sign in _FOLDED.keys() & set(lowered):  # few of them are in a text, which makes this faster than translate()
        lowered = lowered.replace(sign, _FOLDED[sign])
    return lowered


def squeeze(text: str, limit: int = 300) -> str:
    """The text on one line, white space folded, at most `limit` characters."""
    return " ".join(text.split())[:limit].rstrip()


def rows(document: Document, *, labelled: bool = True) -> tuple[Row, ...]:
    """The rows of the first and the last pages, empty ones left out; pages in the middle of a long list add nothing.

    Finding labels is most of the work; without it rows have none.
    """
    pages = document.pages
    if len(pages) > FIRST_PAGES + LAST_PAGES:
        pages = pages[:FIRST_PAGES] + pages[-LAST_PAGES:]
    return tuple(row for page in pages for row in _page_rows(page, labelled))


def _page_rows(page: Page, labelled: bool) -> Iterator[Row]:
    lines = (page.layout or page.text).split("\n", MAX_ROWS)[:MAX_ROWS]
    for line in lines:
        text = line[:MAX_ROW].replace("\t", "    ").rstrip()[:MAX_ROW]
        cells = tuple(Cell(each[0], each.start(), each.end()) for each in _CELL.finditer(text))
        if cells:
            folded = fold(text)
            yield Row(page.number, text, folded, cells, tuple(find_labels(folded)) if labelled else ())

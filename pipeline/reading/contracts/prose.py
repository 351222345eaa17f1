"""A document as one running text: lines and pages joined by single spaces, every place known by its page.

Contracts break sentences over lines and pages; rules on sentences want them whole.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass

from pipeline.documents.text import Document
from pipeline.reading.rows import fold

MAX_CHARACTERS = 1_500_000  # about 500 full pages
_FOOTER = re.compile(
    r"\n\s*(?:page\s*)?[-–]?\s*\d{1,3}\s*[-–]?\s*$"
    r"|\n(?:[^\n]{0,120}\b)?(?:page|seite|pagina) \d{1,4} (?:of|von|de|van|di|sur) \d{1,4}\s*$"
    r"|\n\s*Source:[^\n]{0,200}\d{4}\s*$",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"\s*(?:[^\n]{0,120}\b)?(?:page|seite|pagina) \d{1,4} (?:of|von|de|van|di|sur) \d{1,4}\s*\n", re.IGNORECASE
)
SHORT_LINE = 55  # characters; a line that long may have been broken to fit the page
_GAP = re.compile(r"\s{3,}|\t")  # between columns
_STOP = re.compile(r"[.;:!?] ")
_ABBREVIATION = re.compile(
    r"(?:\b(?:inc|ltd|co|corp|no|nr|art|sec|st|mr|mrs|dr|vs|u\.s|l\.p|s\.a|b\.v|abs|ziff)|\b[a-z0-9])$"
)


@dataclass(frozen=True, slots=True)
class Prose:
    """The running text, the same text folded, and where each page starts in it.

    `breaks` are the places at which a line or a column begins that goes not on with the one before.
    """

    text: str
    folded: str
    starts: tuple[int, ...]
    numbers: tuple[int, ...]
    breaks: tuple[int, ...] = ()

    def page(self, place: int) -> int:
        """The number of the page on which a place of the text stands."""
        return self.numbers[max(0, bisect.bisect_right(self.starts, place) - 1)] if self.numbers else 1

    def sentence(self, start: int, end: int) -> str:
        """The sentence around a span, at most 300 characters, the span always in it if it is shorter than that."""
        left = max(0, start - max(0, 280 - (end - start)) // 2)
        opening = left
        for match in _STOP.finditer(self.folded, left, start):
            if not _ABBREVIATION.search(self.folded, max(0, match.start() - 8), match.start()):
                opening = match.end()
        right = min(len(self.text), max(end, opening + 300))
        closing = next(
            (
                match.start() + 1
                for match in _STOP.finditer(self.folded, end, right)
                if not _ABBREVIATION.search(self.folded, max(0, match.start() - 8), match.start())
            ),
            right,
        )
        return self.text[opening : min(closing, opening + 300)].strip()


def prose(document: Document) -> Prose:
    """The running text of a document, lines with page numbers left out, long documents cut."""
    parts: list[str] = []
    starts: list[int] = []
    breaks: list[int] = []
    length = 0
    for page in document.pages:
        if length >= MAX_CHARACTERS:
            break
        text = page.text[: MAX_CHARACTERS - length]
        part, begins = _joined(_without_page_number(text))
        starts.append(length)
        breaks += [length + place for place in begins]
        parts.append(part)
        length += len(part)
    text = "".join(parts)
    numbers = tuple(page.number for page in document.pages[: len(starts)])
    return Prose(text, fold(text), tuple(starts), numbers, tuple(breaks))


def _joined(text: str) -> tuple[str, list[int]]:
    """A page's words joined by single spaces, and where in them a line begins behind a short one, or a column."""
    words: list[str] = []
    breaks: list[int] = []
    length, goes_on = 0, False
    for line in text.splitlines():
        for column in _GAP.split(line.strip()):
            piece = " ".join(column.split())
            if piece and not goes_on:
                breaks.append(length)
            if piece:
                words.append(piece)
                length += len(piece) + 1
            goes_on = False
        goes_on = len(line.strip()) >= SHORT_LINE
    return " ".join(words) + " ", breaks


def _without_page_number(text: str) -> str:
    """Cut the first and the last line off if they number the page. Only 300 characters at each end are looked at."""
    header = _HEADER.match(text[:300])
    text = text[header.end() :] if header else text
    tail = max(0, len(text.rstrip()) - 300)
    return text[:tail] + _FOOTER.sub("", text[tail:].rstrip())

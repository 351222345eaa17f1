"""The title of a document: the first line of its first pages that looks like a heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipeline.documents.text import Document
from pipeline.reading.rows import MAX_ROW, squeeze

_NOT_TITLE = re.compile(
    r"^(?:exhibit|annex|ex)\b[ -]?[\d.]|^page\b|^seite\b|^\W*\d+\W*$|@|https?:|www\.|execution (?:version|copy)"
    r"|confidential"
    r"|quicklinks|redacted|^source:|^\[|^draft\b|tel[.:]",
    re.IGNORECASE,
)
_END = re.compile(r"[.,;:]$")
TITLE_LINES = 60


@dataclass(frozen=True, slots=True)
class Title:
    """A heading, the page it is on, and how sure it is one."""

    value: str
    page: int
    confidence: float


def find_title(document: Document, *, wanted: Callable[[str], bool] | None = None) -> Title | None:
    """The first heading that is `wanted`, among the first lines; any heading if `wanted` is None."""
    for number, line in _lines(document):
        if _heading(line) and (wanted is None or wanted(line)):
            capitals = line.isupper() or line.istitle()
            return Title(line, number, 0.75 if capitals or wanted else 0.55)
    return None


def _lines(document: Document) -> Iterator[tuple[int, str]]:
    left = TITLE_LINES
    for page in document.pages[:3]:
        for raw in page.text.split("\n", 200)[:200]:
            line = squeeze(raw[:MAX_ROW])
            if line and left:
                left -= 1
                yield page.number, line


def _heading(line: str) -> bool:
    letters = sum(sign.isalpha() for sign in line)
    return (
        3 <= len(line) <= 120
        and letters >= len(line) * 0.5
        and line.count(" ") <= 14
        and not line[0].islower()
        and not _NOT_TITLE.search(line)
        and not (_END.search(line) and line.count(" ") > 4)
    )

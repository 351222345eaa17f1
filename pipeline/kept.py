"""What a handler sees of a document: every page, whole but for the middle of a document that is longer than memory.

Nobody reads a contract of ten thousand pages for its clauses, but a file may claim to be one; what one process can hold
at once is bounded here, the same way whether a document is read in one attempt or in several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipeline.documents.text import Page

WHOLE_CHARACTERS = 20_000_000  # of the first pages, text and layout: some five thousand full ones
LAST_PAGES = 10  # whole too, wherever the document ends


class Kept:
    """The pages of a document so far. `whole` is how many of the `stored` ones are of the first, which stay whole."""

    def __init__(self, stored: Sequence[Page] = (), whole: int = 0) -> None:
        self._pages = list(stored)
        self._whole = whole
        self._characters = sum(map(characters, self._pages[:whole]))

    def add(self, page: Page) -> None:
        """Keep the next page; one that is neither among the first nor among the last any more loses its text."""
        self._pages.append(page)
        if self._whole == len(self._pages) - 1:
            self._characters += characters(page)
            self._whole += self._characters <= WHOLE_CHARACTERS
        left = len(self._pages) - LAST_PAGES - 1
        if left >= self._whole:
            self._pages[left] = without_text(self._pages[left])

    @property
    def pages(self) -> tuple[Page, ...]:
        """All of them, in order."""
        return tuple(self._pages)

    def __len__(self) -> int:
        return len(self._pages)


def characters(page: Page) -> int:
    """What a page counts for. A layout that is the text counts once."""
    return len(page.text) + (0 if page.layout == page.text else len(page.layout))


def without_text(page: Page) -> Page:
    """The page's number, source and error alone."""
    return replace(page, text="", layout="", places=b"")

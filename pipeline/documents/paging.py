"""Text has no pages, so one ends at a form feed, after 200 lines or after 100,000 characters."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.errors import UnreadablePage
from pipeline.reasons import Reason

PAGE_LINES = 200
PAGE_CHARACTERS = 100_000  # a search vector holds 1 MB, and one line can be longer than that


def pages_of(text: str) -> Iterator[str]:
    """At least one page; a form feed at the very end starts none."""
    sheets = text.split("\f")
    if len(sheets) > 1 and not sheets[-1].strip():
        sheets.pop()
    for sheet in sheets:
        lines = sheet.split("\n")
        for start in range(0, len(lines), PAGE_LINES):
            yield from _slices("\n".join(lines[start : start + PAGE_LINES]))


def check_number(number: int, page_count: int) -> None:
    """Raises UnreadablePage when there is no such page."""
    if not 1 <= number <= page_count:
        raise UnreadablePage(Reason.CORRUPT, f"there is no page {number}; the document has {page_count}")


def _slices(page: str) -> Iterator[str]:
    for start in range(0, max(len(page), 1), PAGE_CHARACTERS):
        yield page[start : start + PAGE_CHARACTERS]

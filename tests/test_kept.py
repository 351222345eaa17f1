"""What a handler sees of a long document is bounded, and the same however many attempts the reading took."""

from __future__ import annotations

import pytest

from pipeline.documents.text import Page
from pipeline.kept import LAST_PAGES, WHOLE_CHARACTERS, Kept, characters

_PAGE = "x" * (WHOLE_CHARACTERS // 20)
_LONG = [Page(number, _PAGE, _PAGE, engine="e") for number in range(1, 61)]


def _kept(pages: list[Page], stored: tuple[Page, ...] = (), whole: int = 0) -> Kept:
    kept = Kept(stored, whole)
    for page in pages:
        kept.add(page)
    return kept


def test_a_document_of_usual_length_is_kept_whole() -> None:
    pages = [Page(number, f"page {number}", f"page  {number}") for number in range(1, 401)]
    assert _kept(pages).pages == tuple(pages)


def test_of_a_long_document_the_middle_loses_its_text_and_no_page_is_lost() -> None:
    kept = _kept(_LONG).pages
    assert [page.number for page in kept] == list(range(1, 61))
    assert [page.number for page in kept if not page.text] == list(range(21, 61 - LAST_PAGES))
    assert sum(map(characters, kept)) <= WHOLE_CHARACTERS + LAST_PAGES * len(_PAGE)


def test_a_page_with_a_layout_of_its_own_counts_twice() -> None:
    kept = _kept([Page(number, _PAGE, _PAGE + " ") for number in range(1, 41)]).pages
    assert [page.number for page in kept if page.text] == [*range(1, 10), *range(31, 41)]


@pytest.mark.parametrize("done", [1, 9, 19, 20, 21, 25, 31, 59, 60])
def test_a_document_read_in_two_attempts_is_seen_as_one_read_in_one(done: int) -> None:
    first = _kept(_LONG[:done])
    whole = min(done, 20)
    assert _kept(_LONG[done:], first.pages, whole).pages == _kept(_LONG).pages

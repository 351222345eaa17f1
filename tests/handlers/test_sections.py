"""Numbered clauses of invented contracts: their numbers, levels, headings, places and tags."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.reading.contracts.sections import clauses
from tests.handlers.pages import document

FIRST = """SUPPLY AGREEMENT
1. Term .......... 2
2. Governing Law .......... 3
ARTICLE I
Definitions
1. Term and Renewal. The term of this Agreement shall continue for two years.
1.1 It renews for successive one year terms.
(a) first;
(b) second:
(i) inner;
(ii) inner too.
740 Mill Road
12 bags of flour
2. Insurance. Supplier shall maintain liability insurance"""
SECOND = """of one million dollars.
3. GOVERNING LAW
This Agreement is governed by the laws of Ohio."""


def test_clauses_have_their_number_level_and_heading_and_contents_are_none() -> None:
    found = [(each.number, each.level, each.heading) for each in clauses(document(FIRST, SECOND))]
    assert found == [
        ("I", 1, ""),
        ("1", 2, "Term and Renewal"),
        ("1.1", 3, ""),
        ("a", 4, ""),
        ("b", 4, ""),
        ("i", 5, ""),
        ("ii", 5, ""),
        ("2", 2, "Insurance"),
        ("3", 2, "GOVERNING LAW"),
    ]


def test_a_clause_stands_where_its_offsets_say_also_over_a_page() -> None:
    pages = document(FIRST, SECOND)
    texts = {page.number: page.text for page in pages.pages}
    insurance, law = clauses(pages)[-2:]
    assert texts[1][insurance.start :].startswith("2. Insurance.")
    assert (insurance.page, insurance.end_page, texts[2][: insurance.end]) == (1, 2, "of one million dollars.\n")
    assert texts[2][law.start : law.end].endswith("laws of Ohio.")


def test_plain_kinds_of_clauses_are_tagged() -> None:
    tagged = {each.number: each.tags for each in clauses(document(FIRST, SECOND)) if each.tags}
    assert tagged == {"1": ("expiration", "renewal"), "1.1": ("renewal",), "2": ("insurance",), "3": ("governing_law",)}


def test_a_letter_i_that_follows_h_is_a_letter() -> None:
    lines = "\n".join(f"({letter}) thing;" for letter in "abcdefghij")
    assert {each.level for each in clauses(document(lines))} == {1}


@pytest.mark.parametrize("line", ["1. A", "(a) b", "1.1 A", "Section 2 A", "(i) x", "    " * 50, "1." * 100])
def test_a_long_text_of_one_kind_of_line_is_cut_without_harm(line: str) -> None:
    assert len(clauses(document("\n".join([line] * 20_000)))) <= 5_000


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="1.2()aiIV \nABc§:\u00e9", max_size=80), max_size=4))
def test_offsets_stay_inside_their_pages_and_in_order(texts: list[str]) -> None:
    pages = document(*texts)
    lengths = {page.number: len(page.text) for page in pages.pages}
    place = (0, -1)
    for each in clauses(pages):
        assert place < (each.page, each.start) <= (each.end_page, each.end)
        assert each.start <= lengths[each.page]
        assert each.end <= lengths[each.end_page]
        place = (each.page, each.start)

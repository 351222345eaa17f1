"""Amounts: what is told once of a row is what would be told each time."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.reading.amounts import find_amounts, means_the_same

PRINTED = st.text("0123456789.,' -–(%€EURx", max_size=40)


@given(PRINTED)
@example("1.234 and 1,234.50")
@example("12.345")
def test_either_decimal_mark_means_the_same_where_nothing_looks_like_thousands(text: str) -> None:
    if means_the_same(text):
        assert find_amounts(text) == find_amounts(text, comma=True)


def test_thousands_and_decimals_are_told_apart_by_the_mark_of_the_document() -> None:
    assert not means_the_same("1.234")
    assert [str(each.value) for each in find_amounts("1.234")] == ["1.234"]
    assert [str(each.value) for each in find_amounts("1.234", comma=True)] == ["1234"]


@given(PRINTED)
def test_a_caller_that_changes_what_it_got_spoils_nothing_for_the_next(text: str) -> None:
    before = list(find_amounts(text))
    find_amounts(text).clear()
    assert find_amounts(text) == before

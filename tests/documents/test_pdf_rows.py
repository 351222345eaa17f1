"""Rows and columns from character boxes: what stands side by side is one line, whatever order it was written in."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from pipeline.documents.page_rows import Glyph, layout

WIDTH, HEIGHT = 6.0, 12.0


def _word(text: str, left: float, bottom: float, size: float = 1.0) -> list[Glyph]:
    width, height = WIDTH * size, HEIGHT * size
    return [
        Glyph(" ") if sign == " " else Glyph(sign, left + width * at, bottom, left + width * (at + 1), bottom + height)
        for at, sign in enumerate(text)
    ] + [Glyph("\n")]


def _lines(page: Iterable[Glyph]) -> str:
    return layout(page).text


def _cells(line: str) -> list[str]:
    return re.split(" {2,}", line.strip())


def test_cells_far_apart_are_one_line_split_by_two_spaces() -> None:
    glyphs = _word("Total due", 50, 500) + _word("1,234.50", 400, 500)
    assert _cells(_lines(glyphs)) == ["Total due", "1,234.50"]


def test_the_order_of_writing_does_not_matter() -> None:
    words = [_word(f"cell{row}{column}", 50 + 120 * column, 700 - 14 * row) for row in range(4) for column in range(3)]
    expected = _lines(glyph for word in words for glyph in word)
    assert [_cells(line) for line in expected.split("\n")] == [[f"cell{r}{c}" for c in range(3)] for r in range(4)]
    for seed in range(5):
        shuffled = random.Random(seed).sample(words, len(words))  # noqa: S311
        assert _lines(glyph for word in shuffled for glyph in word) == expected


def test_columns_stand_below_each_other() -> None:
    glyphs = _word("Item", 50, 700) + _word("Price", 400, 700) + _word("Long name", 50, 686) + _word("9.90", 400, 686)
    first, second = _lines(glyphs).split("\n")
    assert first.index("Price") == second.index("9.90")


def test_lines_one_under_the_other_are_two_lines() -> None:
    assert _lines(_word("first", 50, 500) + _word("second", 50, 500 - HEIGHT)).split("\n") == ["first", "second"]


def test_a_big_amount_beside_a_small_label_is_one_line() -> None:
    assert _cells(_lines(_word("Total", 50, 500) + _word("119.00", 300, 500, size=1.6))) == ["Total", "119.00"]


def test_a_word_in_two_pieces_is_one_word_and_a_gap_is_a_space() -> None:
    assert _lines(_word("In", 50, 500)[:-1] + _word("voice", 62, 500)) == "Invoice"
    assert _lines(_word("due", 50, 500)[:-1] + _word("now", 50 + 3 * WIDTH + 4, 500)) == "due now"


def test_text_at_the_margin_that_runs_upwards_does_not_break_the_rows() -> None:
    upwards = [Glyph(sign, 20, 300 + 6 * at, 32, 306 + 6 * at, turns=3) for at, sign in enumerate("DRAFT")]
    rows = _word("Net amount", 50, 330) + _word("Tax amount", 50, 316) + _word("Sum total", 50, 302)
    assert _lines(upwards + rows).split("\n") == ["Net amount", "Tax amount", "Sum total", "DRAFT"]


def test_a_page_of_any_width_has_lines_of_bounded_length() -> None:
    assert len(_lines(_word("left", 0, 500) + _word("right", 500_000, 500))) < 500


def test_a_page_without_characters_is_empty() -> None:
    assert _lines([]) == ""
    assert _lines([Glyph(" "), Glyph("\n")]) == ""


numbers = st.floats(allow_nan=True, allow_infinity=True) | st.floats(-1000, 1000)
glyphs = st.builds(Glyph, st.sampled_from("aB7. \n"), numbers, numbers, numbers, numbers, st.integers(0, 3))


@given(st.lists(glyphs, max_size=60))
def test_no_numbers_however_odd_make_it_raise_or_write_endless_lines(page: list[Glyph]) -> None:
    result = _lines(page)
    assert max(map(len, result.split("\n"))) <= 400 + 3 * 60
    visible = [glyph.sign for glyph in page if not glyph.sign.isspace() and all(abs(e) < 4e5 for e in glyph[1:5])]
    assert not Counter(visible) - Counter(result)

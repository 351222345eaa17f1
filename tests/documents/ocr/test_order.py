"""The order of reading and the layout, from boxes alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipeline.documents.ocr import order
from pipeline.documents.ocr.seen import Line

PROSE = "words that fill the column well"


def line(text: str, left: float, top: float, *, width: float | None = None, height: float = 20) -> Line:
    return Line(text, left, top, left + (10 * len(text) if width is None else width), top + height, 0.9)


def column(name: str, left: float, top: float, count: int) -> list[Line]:
    return [line(f"{name}{number} {PROSE}", left, top + 30 * number) for number in range(count)]


def firsts(lines: Sequence[Line]) -> list[str]:
    return [each.split()[0] for each in order.reading(lines).splitlines()]


def test_three_columns_are_read_from_the_left() -> None:
    lines = column("c", 900, 0, 5) + column("a", 0, 4, 5) + column("b", 450, 8, 5)
    assert firsts(lines) == [f"{name}{number}" for name in "abc" for number in range(5)]


def test_a_line_across_both_columns_is_read_between_them() -> None:
    across = line("middle " + PROSE * 2, 0, 200, width=800)
    lines = [*column("a", 0, 0, 5), *column("b", 450, 0, 5), across, *column("c", 0, 250, 5), *column("d", 450, 250, 5)]
    expected = [f"{name}{number}" for name in "ab" for number in range(5)]
    expected += ["middle"] + [f"{name}{number}" for name in "cd" for number in range(5)]
    assert firsts(lines) == expected


def test_a_headline_below_both_columns_comes_after_them() -> None:
    lines = [*column("a", 0, 0, 5), *column("b", 450, 0, 5), line("next part", 0, 210)]
    assert firsts(lines)[-1] == "next"


def test_a_table_of_long_cells_and_figures_is_read_by_rows() -> None:
    lines = [
        cell
        for row in range(8)
        for cell in (
            line(f"item{row} with a long description", 0, 30 * row),
            line(f"1{row}.50", 450, 30 * row),
            line(f"2{row}.75", 600, 30 * row),
        )
    ]
    assert order.reading(lines).splitlines()[3] == "item3 with a long description 13.50 23.75"


def test_two_boxes_of_one_row_never_become_one_word() -> None:
    assert order.layout([line("Total", 0, 0, width=52), line("14.50", 50, 1)]).text == "Total 14.50"


def test_a_wide_gap_is_at_least_two_spaces() -> None:
    assert "Total  " in order.layout([line("Total", 0, 0), line("14.50", 100, 0)]).text


@pytest.mark.parametrize("lines", [[], [line("alone", 5, 5)], [line("a", 0, 0, width=0, height=0)] * 20])
def test_any_boxes_give_some_text(lines: list[Line]) -> None:
    assert order.reading(lines).split() == [each.text for each in lines]
    order.layout(lines)

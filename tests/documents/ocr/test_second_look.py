"""Doubtful lines are read again by the larger model, and nothing else is. The real engine on a real page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pipeline.config import OcrSettings
from pipeline.documents.ocr import engines, second_look
from pipeline.documents.ocr.seen import Engine, Line
from tests.documents.ocr import pages

BELOW = 0.9


@pytest.fixture(scope="module")
def larger() -> Engine:
    larger = engines.find("paddle")(OcrSettings()).larger
    assert larger is not None
    return larger()


@pytest.fixture(scope="module")
def lines() -> Sequence[Line]:
    found = engines.find("paddle")(OcrSettings()).usual().recognise(pages.letter())
    return sorted(found, key=lambda line: line.top)


def never() -> Engine:
    raise AssertionError("the larger model was asked for")


def misread(line: Line) -> Line:
    return replace(line, text="#" * len(line.text), confidence=0.5)


def test_a_page_without_doubt_costs_no_second_look(lines: Sequence[Line]) -> None:
    assert second_look.again(pages.letter(), lines, BELOW, never) == lines


def test_a_doubtful_line_is_read_again_and_the_others_stay_as_they_were(lines: Sequence[Line], larger: Engine) -> None:
    doubtful = [misread(line) if number in (1, 4) else line for number, line in enumerate(lines)]
    found = second_look.again(pages.letter(), doubtful, BELOW, lambda: larger)
    assert [line.text for line in found] == list(pages.LETTER)
    assert [found[number] for number in (0, 2, 3)] == [lines[number] for number in (0, 2, 3)]
    assert (found[1].left, found[1].top) == (lines[1].left, lines[1].top)


def test_a_page_in_doubt_is_read_again_as_a_whole(lines: Sequence[Line], larger: Engine) -> None:
    found = second_look.again(pages.letter(), [misread(line) for line in lines[:4]], BELOW, lambda: larger)
    assert [line.text for line in sorted(found, key=lambda line: line.top)] == list(pages.LETTER)


def test_a_second_reading_that_is_less_certain_is_dropped(lines: Sequence[Line], larger: Engine) -> None:
    certain = [replace(line, confidence=1.0) for line in lines[1:]]
    almost = replace(misread(lines[0]), confidence=0.9999)
    assert second_look.again(pages.letter(), [almost, *certain], 1.0, lambda: larger)[0] == almost


def test_a_second_reading_of_something_else_is_dropped(lines: Sequence[Line], larger: Engine) -> None:
    elsewhere = replace(misread(lines[0]), text="#" * 80)
    assert second_look.again(pages.letter(), [elsewhere, *lines[1:]], 0.6, lambda: larger)[0] == elsewhere

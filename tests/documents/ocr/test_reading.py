"""What is written on a page is read, however the page lay on the scanner. The real engine on real images."""

from __future__ import annotations

import pytest

from pipeline.config import OcrSettings
from pipeline.documents.ocr import Reader, reader
from tests.documents.ocr import pages


@pytest.fixture(scope="module")
def ocr() -> Reader:
    found = reader(OcrSettings())
    assert found is not None
    return found


def test_a_clean_page_is_read_line_by_line(ocr: Reader) -> None:
    seen = ocr.read(pages.letter())
    assert seen.text.splitlines() == list(pages.LETTER)
    assert (seen.turns, seen.skew_degrees) == (0, 0.0)
    assert seen.confidence > 0.9


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_page_reads_as_if_it_were_upright(ocr: Reader, turns: int) -> None:
    seen = ocr.read(pages.letter().rotate(90 * turns, expand=True))
    assert seen.turns == turns
    assert seen.text.splitlines() == list(pages.LETTER)


def test_no_recognition_means_no_reader() -> None:
    assert reader(OcrSettings(engine="none")) is None

"""What is written on a page is read, however the page lay on the scanner. The real engine on real images."""

from __future__ import annotations

import pytest
from PIL import Image

from pipeline.config import OcrSettings
from pipeline.documents.ocr import Reader, reader
from tests.documents.ocr import pages

SHORT = pages.LETTER[:3]


def cells(layout: str) -> list[tuple[str, ...]]:
    """The cells of each row: what two spaces or more part."""
    rows = [[cell.strip() for cell in line.split("  ")] for line in layout.splitlines()]
    return [tuple(cell for cell in row if cell) for row in rows]


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
    assert "paddle" in seen.engine


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_page_reads_as_if_it_were_upright(ocr: Reader, turns: int) -> None:
    seen = ocr.read(pages.letter().rotate(90 * turns, expand=True))
    assert seen.turns == turns
    assert seen.text.splitlines() == list(pages.LETTER)


@pytest.mark.parametrize("degrees", [3.0, -3.0])
def test_a_skewed_table_is_straightened_and_its_rows_do_not_mix(ocr: Reader, degrees: float) -> None:
    seen = ocr.read(pages.fallen(pages.table(), degrees))
    assert seen.skew_degrees == pytest.approx(degrees, abs=0.2)
    assert cells(seen.layout) == list(pages.TABLE)


def test_a_page_can_be_turned_and_skewed_at_once(ocr: Reader) -> None:
    seen = ocr.read(pages.fallen(pages.letter(), -2).rotate(180))
    assert (seen.turns, seen.text.splitlines()) == (2, list(pages.LETTER))


def test_a_blank_page_is_no_text_and_no_confidence(ocr: Reader) -> None:
    seen = ocr.read(Image.new("L", (800, 1100), 255))
    assert (seen.text, seen.layout, seen.confidence, seen.turns, seen.lines) == ("", "", 0.0, 0, ())


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (900, 2)])
def test_an_image_too_small_for_text_is_read_as_nothing(ocr: Reader, size: tuple[int, int]) -> None:
    assert ocr.read(Image.new("RGB", size, "black")).text == ""


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "YCbCr", "I", "I;16", "F"])
def test_images_of_any_mode_are_read(ocr: Reader, mode: str) -> None:
    assert ocr.read(pages.in_mode(pages.letter(SHORT), mode)).text.splitlines() == list(SHORT)


def test_what_is_transparent_counts_as_white(ocr: Reader) -> None:
    ink = pages.letter(SHORT).convert("L").point(lambda value: 255 - value)
    clear = Image.new("RGBA", ink.size, (0, 0, 0, 0))  # black where nothing shows, as many programs write it
    clear.putalpha(ink)
    assert ocr.read(clear).text.splitlines() == list(SHORT)


def test_boxes_of_a_huge_image_are_in_its_own_pixels(ocr: Reader) -> None:
    image = pages.letter(SHORT)
    small = ocr.read(image).lines
    huge = ocr.read(image.resize((image.width * 4, image.height * 4))).lines
    assert [line.text for line in huge] == [line.text for line in small]
    for one, other in zip(small, huge, strict=True):
        assert other.left == pytest.approx(4 * one.left, abs=40)
        assert other.middle == pytest.approx(4 * one.middle, abs=40)


def test_cells_of_a_table_are_parted_by_two_spaces(ocr: Reader) -> None:
    assert cells(ocr.read(pages.table()).layout) == list(pages.TABLE)


def test_columns_of_text_are_read_one_after_the_other(ocr: Reader) -> None:
    firsts = [line.split()[0] for line in ocr.read(pages.two_columns()).text.splitlines()]
    assert firsts == [line.split()[0] for line in pages.LEFT + pages.RIGHT]


def test_no_recognition_means_no_reader() -> None:
    assert reader(OcrSettings(engine="none")) is None

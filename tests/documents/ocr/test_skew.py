"""Skew is measured in size and direction, on upright pages and on pages that lie on their side."""

from __future__ import annotations

import pytest
from PIL import Image

from pipeline.documents.ocr import skew
from tests.documents.ocr import pages


@pytest.mark.parametrize("degrees", [-6.0, -1.5, 0.0, 0.5, 2.25, 5.0])
@pytest.mark.parametrize("side", [0, 1])
def test_the_fall_of_lines_is_measured(degrees: float, side: int) -> None:
    image = pages.fallen(pages.letter(), degrees).rotate(90 * side, expand=True)
    assert skew.measure(image) == pytest.approx(degrees, abs=0.2)


def test_a_page_without_lines_has_no_skew() -> None:
    assert skew.measure(Image.new("L", (600, 800), 200)) == 0.0
    assert skew.measure(Image.effect_noise((600, 800), 40)) == 0.0


def test_a_shadow_across_the_page_is_no_line() -> None:
    page = pages.letter().convert("L")
    shade = Image.linear_gradient("L").rotate(30, expand=True).resize(page.size)
    shaded = Image.composite(page, page.point(lambda value: value * 0.6), shade)
    assert skew.measure(pages.fallen(shaded, 1.5)) == pytest.approx(1.5, abs=0.25)

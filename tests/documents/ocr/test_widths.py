"""Signs are as wide as the text around them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PIL import Image

from pipeline.config import OcrSettings
from pipeline.documents.ocr import engines, reader
from pipeline.documents.ocr.seen import Ladder, Line, Maker
from pipeline.documents.ocr.widths import narrowed


class _Wide:
    name, version = "wide", "1"

    def recognise(self, image: Image.Image) -> list[Line]:
        del image
        return [Line("TOTAL：１２.５０（RM）", 10, 10, 200, 30, 0.99), Line("合計：１２", 10, 50, 200, 70, 0.99)]


def _found(engine: str) -> Maker:
    del engine
    return lambda settings: Ladder(_Wide)


def test_a_line_is_read_with_the_signs_of_its_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find", _found)
    ocr = reader(replace(OcrSettings(), second_look_below=0.0))
    assert ocr is not None
    assert ocr.read(Image.new("L", (300, 100), 255)).text == "TOTAL:12.50(RM)\n合計：１２"


@pytest.mark.parametrize("text", ["", "Total: 12.50 (RM)", "Größe 5 €", "价格：１２"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert narrowed(text) == text

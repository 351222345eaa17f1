"""Every engine of the package can be chosen, and one whose library is missing says what to install."""

from __future__ import annotations

import importlib.util

import pytest

from pipeline.config import OCR_ENGINES, OcrSettings
from pipeline.documents.ocr import engines, reader
from pipeline.documents.ocr.seen import Engine
from pipeline.errors import ConfigurationError
from tests.documents.ocr import pages

LIBRARIES = {"paddle": "faster_paddle", "rapidocr": "rapidocr", "tesseract": "tesserocr"}


def installed(engine: str) -> bool:
    return importlib.util.find_spec(LIBRARIES[engine]) is not None


def test_the_configuration_names_the_engines_there_are() -> None:
    assert set(OCR_ENGINES) == {*engines.names(), "none"}


def test_a_name_without_an_engine_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigurationError, match="paddle, rapidocr, tesseract or none"):
        reader(OcrSettings(engine="gocr"))


@pytest.mark.parametrize("name", engines.names())
def test_an_engine_reads_a_page_or_says_what_to_install(name: str) -> None:
    ocr = reader(OcrSettings(engine=name))
    assert ocr is not None
    if not installed(name):
        with pytest.raises(ConfigurationError, match="pip install"):
            ocr.read(pages.letter())
        return
    seen = ocr.read(pages.letter().rotate(180))
    assert (seen.turns, seen.text.splitlines()) == (2, list(pages.LETTER))


@pytest.mark.skipif(not installed("tesseract"), reason="tesserocr is not installed")
def test_a_language_without_data_is_named_with_the_package_that_has_it() -> None:
    ocr = reader(OcrSettings(engine="tesseract", languages="xyz"))
    assert ocr is not None
    with pytest.raises(ConfigurationError, match="apt install tesseract-ocr-xyz"):
        ocr.read(pages.letter())


@pytest.mark.parametrize("name", [name for name in engines.names() if installed(name)])
def test_an_engine_tells_its_name_and_version(name: str) -> None:
    engine = engines.find(name)(OcrSettings()).usual()
    assert isinstance(engine, Engine)
    assert engine.name
    assert engine.version[0].isdigit()

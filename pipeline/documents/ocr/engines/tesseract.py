"""Tesseract through tesserocr: in this process, for a parser may start no program, with the system's language data."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

from pipeline.config import OcrSettings
from pipeline.documents.ocr.seen import Ladder, Line, confidence
from pipeline.errors import ConfigurationError

# Where distributions put the data; TESSDATA_PREFIX comes before all of them.
_FOLDERS = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/share/tesseract/tessdata",
    "/usr/local/share/tessdata",
)
_CELL = 1.5  # heights of a word: a wider gap parts two cells, which tesseract takes for one line
_DPI = 200  # images carry no reliable figure, and tesseract only wants the order of magnitude


class Tesseract:
    """Tesseract with the languages of the settings, on one thread."""

    def __init__(self, languages: str) -> None:
        self._library = _library()
        folder = _folder(languages)
        self._api = self._library.PyTessBaseAPI(path=str(folder), lang=languages, psm=self._library.PSM.AUTO)
        self.name = f"tesseract {languages}"
        self.version = str(self._library.tesseract_version()).split("\n", 1)[0].removeprefix("tesseract ").strip()

    def recognise(self, image: Image.Image) -> Sequence[Line]:
        """Find and read the lines, cut where a row of cells was taken for a line."""
        self._api.SetImage(image)
        try:
            self._api.SetSourceResolution(_DPI)
            self._api.Recognize()
            return [_joined(words) for words in self._cells()]
        finally:
            self._api.Clear()

    def _cells(self) -> Iterator[list[Line]]:
        words: list[Line] = []
        for starts_line, word in self._words():
            if words and (starts_line or word.left - words[-1].right > _CELL * max(word.height, words[-1].height)):
                yield words
                words = []
            words.append(word)
        if words:
            yield words

    def _words(self) -> Iterator[tuple[bool, Line]]:
        found = self._api.GetIterator()
        level = self._library.RIL
        if found is None or found.Empty(level.WORD):
            return
        starts_line = False
        for each in self._library.iterate_level(found, level.WORD):
            starts_line |= each.IsAtBeginningOf(level.TEXTLINE)
            word = _word(each, level.WORD)
            if word is not None:
                yield starts_line, word
                starts_line = False


def _word(found: Any, level: int) -> Line | None:
    box = found.BoundingBox(level)
    text = (found.GetUTF8Text(level) or "").strip() if box else ""
    if not text:
        return None
    left, top, right, bottom = box
    return Line(text, left, top, right, bottom, found.Confidence(level) / 100)


def _library() -> Any:
    # Read when the library is loaded. Its threads cost three times the processor time that they save.
    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    try:
        return importlib.import_module("tesserocr")
    except ImportError as error:
        raise ConfigurationError(
            "ocr.engine: tesseract needs the package tesserocr; `pip install tesserocr` adds it, "
            "`ocr.engine: paddle` does without."
        ) from error


def _folder(languages: str) -> Path:
    """The first folder that has the data of every language."""
    named = os.environ.get("TESSDATA_PREFIX")
    folders = [Path(each) for each in ((named,) if named else ()) + _FOLDERS]
    for folder in folders:
        if all((folder / f"{language}.traineddata").is_file() for language in languages.split("+")):
            return folder
    packages = " ".join(f"tesseract-ocr-{language}" for language in languages.split("+"))
    raise ConfigurationError(
        f"ocr.languages: no folder has tesseract's data for {languages}. `apt install {packages}` adds it on Debian; "
        "elsewhere let TESSDATA_PREFIX name the folder of the .traineddata files."
    )


def _joined(words: Sequence[Line]) -> Line:
    return Line(
        " ".join(word.text for word in words),
        min(word.left for word in words),
        min(word.top for word in words),
        max(word.right for word in words),
        max(word.bottom for word in words),
        confidence(words),
    )


def _ladder(settings: OcrSettings) -> Ladder:
    # Read the wrong way round, pages gave 0.24 to 0.42; upright receipts 0.83.
    return Ladder(partial(Tesseract, settings.languages), upright_above=0.6)


engine = _ladder

"""PP-OCRv6 through faster-paddle: both models come in its wheel, so nothing is downloaded or installed besides."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from PIL import Image

from pipeline.config import OcrSettings
from pipeline.documents.ocr.seen import Ladder, Line
from pipeline.errors import ConfigurationError

# Pixels of the longer side that the detector works on; lines are read from the full image whatever this is.
_DETECTOR_SIDE = 960
# Pixels of the shorter side below which the detector works on an enlarged copy; the library's own figure.
_DETECTOR_LEAST = 736
# Upside-down text was read with at most 0.76, upright text with at least 0.88 on the pages that this was chosen on.
_UPRIGHT = 0.85


class Paddle:
    """One model of PP-OCRv6, on one thread: the worker's slots are what runs side by side."""

    def __init__(self, model: str, *, detector_least: int) -> None:
        self.name = f"faster-paddle PP-OCRv6 {model}"
        self._engine = _load(model, detector_least)
        self.version = version("faster-paddle")

    def recognise(self, image: Image.Image) -> Sequence[Line]:
        """Find and read the lines. An uncompressed bitmap is the quickest way to hand an image over."""
        buffer = io.BytesIO()
        image.save(buffer, "BMP")
        found = self._engine.ocr(buffer.getvalue())["bounds"]
        return [_line(each) for each in found.values() if each["text"].strip()]


def _load(model: str, detector_least: int) -> Any:
    try:
        library = importlib.import_module("faster_paddle")  # 60 MB that only a page without text needs
    except ImportError as error:
        raise ConfigurationError(
            "ocr.engine: paddle needs the package faster-paddle; `pip install faster-paddle` adds it."
        ) from error
    return library.OcrEngine(model_size=model, threads=1, det_max_side=_DETECTOR_SIDE, det_min_side=detector_least)


def _line(found: dict[str, Any]) -> Line:
    left, top = found["topLeftCoord"]
    right, bottom = found["bottomRightCoord"]
    return Line(found["text"].strip(), left, top, right, bottom, found["confidence"])


def _ladder(settings: OcrSettings) -> Ladder:
    del settings  # the models know all their languages at once
    usual = partial(Paddle, "tiny", detector_least=_DETECTOR_LEAST)
    # The larger model also gets sheets of a few lines, which would only cost more when made larger.
    return Ladder(usual, partial(Paddle, "small", detector_least=0), _UPRIGHT)


engine = _ladder

"""PP-OCRv6 small through RapidOCR and ONNX Runtime: a second implementation of the same model, at twice the memory."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from PIL import Image

from pipeline.config import OcrSettings
from pipeline.documents.ocr.seen import Ladder, Line
from pipeline.errors import ConfigurationError

_DETECTOR_SIDE = 960  # pixels of the longer side, as for paddle


class RapidOcr:
    """The models of the rapidocr wheel, on one thread, without its own turning of lines: the reader turns pages."""

    def __init__(self) -> None:
        self.name = "rapidocr"
        self._numpy, self._engine = _load()
        self.version = version("rapidocr")

    def recognise(self, image: Image.Image) -> Sequence[Line]:
        """Find and read the lines. The library takes an array with the channels blue, green, red."""
        found = self._engine(self._numpy.asarray(image.convert("RGB"))[:, :, ::-1])
        if found.boxes is None:
            return []
        seen = zip(found.boxes, found.txts, found.scores, strict=True)
        return [_line(corners, text, score) for corners, text, score in seen if text.strip()]


def _load() -> tuple[Any, Any]:
    try:
        importlib.import_module("onnxruntime")
        library = importlib.import_module("rapidocr")
    except ImportError as error:
        raise ConfigurationError(
            "ocr.engine: rapidocr needs the packages rapidocr and onnxruntime; `pip install rapidocr onnxruntime` adds "
            "them, `ocr.engine: paddle` does without."
        ) from error
    engine = library.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECTOR_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    return importlib.import_module("numpy"), engine


def _line(corners: Any, text: str, score: float) -> Line:
    across, down = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return Line(text.strip(), min(across), min(down), max(across), max(down), float(score))


def _ladder(settings: OcrSettings) -> Ladder:
    del settings  # the model knows all its languages at once
    return Ladder(RapidOcr)


engine = _ladder

"""Text from images: one seam for every engine. A format asks its reader and never learns which engine that is.

Engines are in the package `engines`, one file each; all that is common to them - orientation, skew, order - is here.
"""

from __future__ import annotations

import importlib.util

from pipeline.config import OCR_ENGINES, OcrSettings
from pipeline.documents.ocr.seen import Engine, Line, Reader, Recognised

__all__ = ["Engine", "Line", "Reader", "Recognised", "missing", "reader"]


def missing(settings: OcrSettings) -> tuple[str, ...]:
    """The libraries that the engine of these settings needs and this installation does not have. Loads none."""
    return tuple(name for name in OCR_ENGINES[settings.engine] if importlib.util.find_spec(name) is None)


def reader(settings: OcrSettings) -> Reader | None:
    """What reads images under these settings, or None for the engine `none`.

    Cheap: libraries and models are loaded at the first read. Raises ConfigurationError for an unknown engine.
    """
    if settings.engine == "none":
        return None
    from pipeline.documents.ocr.reading import PageReader  # noqa: PLC0415 - nothing to load where recognition is off

    return PageReader(settings)

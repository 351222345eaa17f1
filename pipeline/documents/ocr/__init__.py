"""Text from images: one seam for every engine. A format asks its reader and never learns which engine that is.

Engines are in the package `engines`, one file each; all that is common to them - orientation, skew, order - is here.
"""

from __future__ import annotations

from pipeline.config import OcrSettings
from pipeline.documents.ocr.seen import Engine, Line, Reader, Recognised

__all__ = ["Engine", "Line", "Reader", "Recognised", "reader"]


def reader(settings: OcrSettings) -> Reader | None:
    """What reads images under these settings, or None for the engine `none`.

    Cheap: libraries and models are loaded at the first read. Raises ConfigurationError for an unknown engine.
    """
    if settings.engine == "none":
        return None
    from pipeline.documents.ocr.reading import PageReader  # noqa: PLC0415 - nothing to load where recognition is off

    return PageReader(settings)

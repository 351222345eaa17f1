"""A photo of a page as phones take it."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pillow_heif

from tests.documents.seeing import draw

MOST_PAGES = 1


def build(pages: Sequence[str]) -> bytes:
    """A picture that shows the first text."""
    file = io.BytesIO()
    pillow_heif.from_pillow(draw(pages[0])).save(file, quality=80)
    return file.getvalue()

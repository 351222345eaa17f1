"""A scan as a fax machine or scanner stores it: a frame a page."""

from __future__ import annotations

import io
from collections.abc import Sequence

from tests.documents.seeing import draw


def build(pages: Sequence[str]) -> bytes:
    """A TIFF with these pages, compressed as scanners do."""
    first, *others = (draw(page).convert("1") for page in pages)
    file = io.BytesIO()
    first.save(file, "TIFF", save_all=True, append_images=others, compression="group4", dpi=(200, 200))
    return file.getvalue()

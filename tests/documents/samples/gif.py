"""A picture of a page in few colours."""

from __future__ import annotations

import io
from collections.abc import Sequence

from tests.documents.seeing import draw

MOST_PAGES = 1


def build(pages: Sequence[str]) -> bytes:
    """A picture that shows the first text."""
    file = io.BytesIO()
    draw(pages[0]).save(file, "GIF")
    return file.getvalue()

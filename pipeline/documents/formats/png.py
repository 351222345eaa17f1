"""PNG, one page: screenshots and scans; the first frame of an animation."""

from __future__ import annotations

from pipeline.documents.contract import Format
from pipeline.documents.images.pictures import PictureFormat, by_pillow

format: Format = PictureFormat(  # noqa: A001 - the name by which formats are found
    "png", "image/png", lambda head: head.startswith(b"\x89PNG\r\n\x1a\n"), by_pillow("PNG")
)

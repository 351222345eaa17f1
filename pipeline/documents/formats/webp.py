"""WebP, one page: photos from phones and shops; the first frame of an animation."""

from __future__ import annotations

from pipeline.documents.contract import Format
from pipeline.documents.images.pictures import PictureFormat, by_pillow

format: Format = PictureFormat(  # noqa: A001 - the name by which formats are found
    "webp",
    "image/webp",
    lambda head: head.startswith(b"RIFF") and head[8:12] == b"WEBP",
    by_pillow("WEBP"),
    extra_bytes=7,
)

"""GIF, one page: the first frame, for what moves in an animation is decoration."""

from __future__ import annotations

from pipeline.documents.contract import Format
from pipeline.documents.images.pictures import PictureFormat, by_pillow

format: Format = PictureFormat(  # noqa: A001 - the name by which formats are found
    "gif", "image/gif", lambda head: head.startswith((b"GIF87a", b"GIF89a")), by_pillow("GIF"), extra_bytes=4
)

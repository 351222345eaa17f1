"""JPEG, one page: photos and scans. It is scaled down while it is decoded, so that its size costs little."""

from __future__ import annotations

from pipeline.documents.contract import Format
from pipeline.documents.images.pictures import PictureFormat, by_pillow

format: Format = PictureFormat(  # noqa: A001 - the name by which formats are found
    "jpeg", "image/jpeg", lambda head: head.startswith(b"\xff\xd8\xff"), by_pillow("JPEG")
)

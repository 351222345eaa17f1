"""BMP, one page: what old scanners and screenshots leave."""

from __future__ import annotations

import struct

from pipeline.documents.contract import Format
from pipeline.documents.images.pictures import PictureFormat, by_pillow

_HEADER_BYTES = (12, 16, 40, 52, 56, 64, 108, 124)  # of every version; two letters alone may begin a text


def _is_bmp(head: bytes) -> bool:
    return head.startswith(b"BM") and len(head) >= 18 and struct.unpack_from("<I", head, 14)[0] in _HEADER_BYTES


format: Format = PictureFormat("bmp", "image/bmp", _is_bmp, by_pillow("BMP"))  # noqa: A001 - how formats are found

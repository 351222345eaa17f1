"""HEIC, one page: photos from phones; the primary picture of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from PIL import Image

from pipeline.config import LimitSettings
from pipeline.documents.contract import Format
from pipeline.documents.images.pictures import Opener, PictureFormat

_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs")
_BRAND_BYTES = 64


def _is_heic(head: bytes) -> bool:
    """By its brands; the general ones belong to AVIF as well."""
    if head[4:8] != b"ftyp":
        return False
    brands = head[8 : min(int.from_bytes(head[:4], "big"), _BRAND_BYTES)]
    return any(brand in brands for brand in _BRANDS) or (b"mif1" in brands and b"avif" not in brands)


def _frames(file: BinaryIO, limits: LimitSettings) -> Sequence[Opener]:
    return (lambda: _open(file),)


def _open(file: BinaryIO) -> Image.Image:
    from pillow_heif import HeifImageFile  # noqa: PLC0415 - a decoder of its own that only these files need

    file.seek(0)
    picture: Image.Image = HeifImageFile(file)  # type: ignore[no-untyped-call]  # it has no types
    return picture


format: Format = PictureFormat(  # noqa: A001 - the name by which formats are found
    "heic", "image/heic", _is_heic, _frames, extra_bytes=6
)

"""TIFF, every frame a page: scans and faxes. Frames are found by the file's own chain, so a broken one is a gap."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from typing import BinaryIO, cast

from PIL import Image

from pipeline.config import LimitSettings
from pipeline.documents.contract import Format
from pipeline.documents.images.pictures import Opener, PictureFormat, open_by_pillow
from pipeline.documents.images.tiff_frames import At, Layout, frames

_HEADS = (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")


def _frames(file: BinaryIO, limits: LimitSettings) -> Sequence[Opener]:
    layout, places = frames(file, limits.max_pages)
    return tuple(partial(_open, file, layout, place) for place in places)


def _open(file: BinaryIO, layout: Layout, place: int) -> Image.Image:
    return open_by_pillow(cast("BinaryIO", io.BufferedReader(At(file, layout.header(place)))), "TIFF")


format: Format = PictureFormat(  # noqa: A001 - the name by which formats are found
    "tiff", "image/tiff", lambda head: head.startswith(_HEADS), _frames
)

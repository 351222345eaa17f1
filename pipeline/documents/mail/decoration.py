"""Which images of a mail are its dress and not its matter: logos, icons, banners, pixels that spy on the reader.

Judged by their figures alone, and each judgement names the figure. A picture as large as a scanned page is always read,
also when it is shown in the text: people paste photos of invoices.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass

from PIL import Image

from pipeline.documents.signatures import looks_like

MOST_HEADER_BYTES = 524_288  # a camera's data and thumbnails come before a JPEG's size
SMALL_SIDE = 100  # pixels
SMALL_AREA = 100_000  # pixels; a receipt of which a word can be read has more
SMALL_BYTES = 1_500
DRAWING_BYTES = 100_000  # of an image without pixels, or in a format that nobody reads
PAGE_SIDE = 480  # pixels; the shorter side of a page that can be read
PAGE_AREA = 400_000
PAGE_WIDTH = 2.0  # heights; a banner is wider
_READABLE = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "ICO")
_SHOWN = re.compile(r"cid:([^\s\"'<>)]{1,250})", re.I)
_OUTLOOKS_NAME = re.compile(r"image\d{3,4}\.(?:png|jpe?g|gif|bmp|emf|wmf)", re.I)


@dataclass(frozen=True, slots=True)
class Picture:
    """The figures of an image. Width and height are in pixels, 0 if they cannot be told.

    `shown` says that the text of the mail shows it; `times` how often the same bytes are in the mail.
    """

    width: int
    height: int
    byte_count: int
    shown: bool = False
    times: int = 1


def decoration(picture: Picture) -> str:
    """Why the image is decoration, "an image of 80 x 30 pixels" for example; empty if it is not."""
    if not picture.width or not picture.height:
        is_small = picture.byte_count < DRAWING_BYTES
        return "decoration: a drawing in the text" if picture.shown and is_small else ""
    pixels = f"{picture.width} x {picture.height} pixels"
    if min(picture.width, picture.height) < SMALL_SIDE or picture.width * picture.height < SMALL_AREA:
        return f"decoration: an image of {pixels}"
    if picture.byte_count < SMALL_BYTES:
        return f"decoration: an image of {picture.byte_count:,} bytes"
    if _is_as_large_as_a_page(picture):
        return ""
    if picture.shown:
        return f"decoration: an image of {pixels} in the text"
    return f"decoration: the same image {picture.times} times" if picture.times > 1 else ""


def _is_as_large_as_a_page(picture: Picture) -> bool:
    return (
        min(picture.width, picture.height) >= PAGE_SIDE
        and picture.width * picture.height >= PAGE_AREA
        and picture.width <= PAGE_WIDTH * picture.height
    )


def is_image(head: bytes, media_type: str) -> bool:
    """Whether it is an image by its first bytes, or says so while the bytes say nothing."""
    seen = looks_like(head, b"")
    if media_type.startswith("image/") and (seen is None or "markup" in seen or "XML" in seen):
        return True
    return bool(seen) and str(seen).endswith(" image")


def pixels(head: bytes) -> tuple[int, int]:
    """Width and height by the image's header, of which the first 512 KiB are enough; (0, 0) if unknown. Never raises.

    Nothing is decoded.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(head), formats=_READABLE) as image:
                return image.size
    except MemoryError:
        raise
    except Image.DecompressionBombError:
        return (PAGE_AREA, PAGE_AREA)  # whoever reads it says how large it is
    except Exception:  # noqa: BLE001 - readers of image headers raise anything on hostile bytes
        return (0, 0)


def shown_in(html: str) -> frozenset[str]:
    """The content identifiers that an HTML body refers to, in lower case."""
    return frozenset(match[1].replace("%40", "@").lower() for match in _SHOWN.finditer(html))


def is_shown(name: str, content_id: str, shown: frozenset[str]) -> bool:
    """Whether the text shows the part, or would: Outlook keeps its names when a gateway drops the HTML."""
    return content_id.lower() in shown or bool(content_id and _OUTLOOKS_NAME.fullmatch(name))

"""Any image, in any mode and size, as what engines take: RGB or grey, on white, no larger than reading needs."""

from __future__ import annotations

from PIL import Image

# A4 at 300 dpi. More pixels than that make letters larger than any engine wants them, at a price in memory.
_MOST_PIXELS = 8_700_000
_DEEP = ("I", "F")


def plain(image: Image.Image) -> Image.Image:
    """The image as RGB, or L when it has no colour; what is transparent becomes white."""
    if image.mode.startswith(_DEEP):
        return _shallow(image)
    if image.has_transparency_data:
        layer = image if image.mode == "RGBA" else image.convert("RGBA")
        sheet = Image.new("RGB", layer.size, "white")
        sheet.paste(layer, mask=layer.getchannel("A"))
        return sheet
    if image.mode in ("1", "L", "LA", "La"):
        return image.convert("L")
    return image.convert("RGB")


def fitted(image: Image.Image) -> tuple[Image.Image, float]:
    """The image within the pixels that reading needs, and by what it was scaled (at most 1)."""
    pixels = image.width * image.height
    if pixels <= _MOST_PIXELS:
        return image, 1.0
    scale = (_MOST_PIXELS / pixels) ** 0.5
    size = (max(round(image.width * scale), 1), max(round(image.height * scale), 1))
    return image.resize(size, Image.Resampling.BOX, reducing_gap=2.0), scale


def turned(image: Image.Image, turns: int) -> Image.Image:
    """The image turned by quarter turns clockwise, without loss."""
    how = (None, Image.Transpose.ROTATE_270, Image.Transpose.ROTATE_180, Image.Transpose.ROTATE_90)[turns % 4]
    return image if how is None else image.transpose(how)


def _shallow(image: Image.Image) -> Image.Image:
    """A grey image of 16 or 32 bits in 8; its brightest value tells what white is, for files do not."""
    deep = image.convert("F")
    _, brightest = deep.getextrema()
    white = float(brightest) if isinstance(brightest, (int, float)) else 255.0
    scale = 1.0 if 1.0 < white <= 255.0 or white <= 0.0 else 255.0 / white
    return deep.point(lambda value: value * scale).convert("L")

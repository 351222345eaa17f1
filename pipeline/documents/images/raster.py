"""Pictures as pixels: any mode as RGB or grey on white, scaled down band by band so that no second copy is needed."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image

_DEEP = ("I", "F")
_BAND_ROWS = 128
_INK_CELLS = 6  # fewer cells that differ from the background are specks; a page number has more
_INK_LEVELS = 16  # out of 255; the noise of a scanner is below after averaging
_INK_SIDE = 600  # pixels of the shorter side at which ink is looked for


def fitted(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture at this size, RGB or L, what is transparent in white.

    Needs the memory of the result and of a band, beside the picture given.
    """
    factor = max(min(image.width // size[0], image.height // size[1]), 1)
    scale = _scale(image)
    opaque = _is_all_transparent(image)
    result: Image.Image | None = None
    for top in range(0, image.height, _BAND_ROWS * factor):
        box = (0, top, image.width, min(top + _BAND_ROWS * factor, image.height))
        band = _plain(image.crop(box), scale, opaque=opaque).reduce(factor)
        if box[3] - box[1] == image.height:
            result = band
        else:
            rows = -(-image.height // factor)
            result = result or Image.new(band.mode, (band.width, rows), "white")
            result.paste(band, (0, top // factor))
    assert result is not None
    return result if result.size == size else result.resize(size, Image.Resampling.BICUBIC)


def has_ink(image: Image.Image) -> bool:
    """Whether anything stands out from the background; specks and noise do not. Cheap: a page takes milliseconds."""
    factor = max(min(image.size) // _INK_SIDE, 1)
    histogram = image.convert("L").reduce(factor).histogram()
    background = _median(histogram)
    far = sum(count for level, count in enumerate(histogram) if abs(level - background) > _INK_LEVELS)
    return far >= _INK_CELLS


def rows_lost(image: Image.Image) -> int:
    """How many rows at the bottom are of one and the same colour, as a decoder leaves what it had no data for."""
    grey = image.convert("L")
    fill: object = None
    for lost in range(grey.height):
        top = grey.height - lost - 1
        levels = grey.crop((0, top, grey.width, top + 1)).getextrema()
        if levels[0] != levels[1] or levels != (fill or levels):
            return lost
        fill = levels
    return grey.height


def _median(histogram: list[int]) -> int:
    seen, half = 0, sum(histogram) / 2
    for level, count in enumerate(histogram):
        seen += count
        if seen >= half:
            return level
    return 255


def _plain(band: Image.Image, scale: float, *, opaque: bool) -> Image.Image:
    if band.mode.startswith(_DEEP):
        return band.convert("F").point(lambda value: value * scale).convert("L")
    if band.mode == "LAB":
        return band.getchannel("L")
    if band.mode in ("RGBa", "La"):
        band = band.convert("RGBA" if band.mode == "RGBa" else "LA")
    if band.has_transparency_data and not opaque:
        layer = band.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("L" if band.mode == "LA" else "RGB")
    band.info.pop("transparency", None)
    return band.convert("L" if band.mode in ("1", "L", "LA") else "RGB")


def _scale(image: Image.Image) -> float:
    """What makes the brightest value of a deep grey picture white; files do not say how many bits they use."""
    if not image.mode.startswith(_DEEP):
        return 1.0
    whitest = max(_brightest(image), default=255.0)
    return 255.0 / whitest if whitest > 255.0 or 0.0 < whitest <= 1.0 else 1.0


def _brightest(image: Image.Image) -> Iterator[float]:
    for top in range(0, image.height, _BAND_ROWS):
        band = image.crop((0, top, image.width, min(top + _BAND_ROWS, image.height)))
        _, brightest = band.convert("F").getextrema()
        if isinstance(brightest, (int, float)):
            yield float(brightest)


def _is_all_transparent(image: Image.Image) -> bool:
    """Whether nothing at all would be seen, as some programs write for a scan: then the alpha means nothing."""
    if image.mode not in ("RGBA", "LA"):
        return False
    return image.getchannel("A").getextrema()[1] == 0

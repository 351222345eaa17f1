"""Print labelled receipts and scan them badly: `python -m bench.printed_receipts RECEIPTS FOLDER`

RECEIPTS is a folder as bench/fields.py knows it (NAME.boxes.csv with NAME.json). FOLDER gets an image of each, every
line drawn where its box is, as worn paper shows it, with NAME.jpg.gold.json beside it: so recognition can be measured,
and rankers trained, on far more receipts than were ever photographed. The same receipts give the same images.
"""

from __future__ import annotations

import argparse
import io
import json
import random
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

from bench.fields import Sample, boxes, receipt
from pipeline.documents.ocr.seen import Line

_FONTS = ("DejaVuSansMono", "DejaVuSansMono-Bold", "DejaVuSansCondensed", "DejaVuSans", "DejaVuSerifCondensed")
_LETTER = 40  # pixels; letters are drawn this high and then brought to the size of their box
_WIDTHS = (420, 900)  # pixels of an image; photographs and scans of receipts are as coarse as that
_MARGIN = 20


def printed(lines: Sequence[Line], chance: random.Random) -> Image.Image:
    """The lines as a till prints them, each filling its box, the page brought to a width of `_WIDTHS`."""
    right, bottom = max(line.right for line in lines), max(line.bottom for line in lines)
    left, top = min(line.left for line in lines), min(line.top for line in lines)
    scale = chance.uniform(*_WIDTHS) / (right - left)
    size = (round((right - left) * scale) + 2 * _MARGIN, round((bottom - top) * scale) + 2 * _MARGIN)
    page = Image.new("L", size, 255)
    font = ImageFont.truetype(f"{chance.choice(_FONTS)}.ttf", _LETTER)
    for line in lines:
        drawn = _drawn(line.text, font)
        box = (max(round(line.width * scale), 1), max(round(0.8 * line.height * scale), 1))
        place = (_MARGIN + round((line.left - left) * scale), _MARGIN + round((line.top - top) * scale))
        page.paste(drawn.resize(box, Image.Resampling.LANCZOS), place)
    return page


def worn(page: Image.Image, chance: random.Random) -> bytes:
    """The page as a poor scan of a faded print: grey, soft, with noise and rows that did not print, JPEG 35 to 70."""
    fade = chance.uniform(0.5, 1)
    ink = page.point(lambda value: 255 - round((255 - value) * fade))
    if chance.random() < 0.5:
        ink = _striped(ink, chance)
    askew = ink.rotate(chance.uniform(-1.5, 1.5), resample=Image.Resampling.BICUBIC, expand=True, fillcolor=255)
    soft = askew.filter(ImageFilter.GaussianBlur(chance.uniform(0.4, 1.1)))
    noise = Image.effect_noise(soft.size, chance.uniform(5, 30))
    buffer = io.BytesIO()
    ImageChops.add(soft, noise, 1, -128).save(buffer, "JPEG", quality=chance.randint(35, 70))
    return buffer.getvalue()


def _drawn(text: str, font: ImageFont.FreeTypeFont) -> Image.Image:
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("L", (max(round(right - left), 1), max(round(bottom - top), 1)), 255)
    ImageDraw.Draw(image).text((-left, -top), text, fill=0, font=font)
    return image


def _striped(page: Image.Image, chance: random.Random) -> Image.Image:
    """The page with paler rows of pixels, as a worn print head leaves them."""
    pale = ImageDraw.Draw(page)
    step = chance.randint(4, 9)
    for row in range(chance.randint(0, step), page.height, step):
        pale.line((0, row, page.width, row), fill=chance.randint(150, 255))
    return page


def _write(sample: Sample, lines: Sequence[Line], folder: Path) -> None:
    chance = random.Random(sample.name)  # noqa: S311 - wear, no secret
    image = folder / f"{sample.name}.jpg"
    image.write_bytes(worn(printed(lines, chance), chance))
    image.with_name(f"{image.name}.gold.json").write_text(json.dumps({"fields": sample.gold}), encoding="utf-8")


def main() -> None:
    """Print all receipts of the folder."""
    parser = argparse.ArgumentParser(description="Print labelled receipts and scan them badly.")
    parser.add_argument("receipts", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(options.receipts.glob("*.boxes.csv")):
        _write(receipt(path), boxes(path), options.folder)


if __name__ == "__main__":
    main()

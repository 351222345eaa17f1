"""Pages with known text: seeded words, rendered at 200 dpi, clean and as scanners and cameras see them."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator

import pypdfium2 as pdfium
from PIL import Image, ImageChops, ImageFilter
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen import canvas

DPI = 200
_WORDS = (
    "the of and to in that for on with as by at from or this which shall be is are not any other under such "
    "notice party agreement services supplier customer payment invoice delivery warehouse freight insurance "
    "liability damages interest account quarterly balance reference consignment pallet engine bearing valve "
    "copper aluminium plywood coffee paper printer licence maintenance schedule jurisdiction termination renewal "
    "confidential obligation warranty breach reasonable written consent assigned thereof business days month year "
    "thirty ninety Bristol Antwerp Hamburg Lyon Geneva Martin Keller Okafor Lindqvist Moreau Hughes Limited GmbH "
)
_FONTS = ("Helvetica", "Times-Roman", "Courier", "Helvetica-Bold")


def pages(count: int) -> Iterator[tuple[str, Image.Image, str]]:
    """Name, image and text of `count` clean pages of each kind. The same pages at every call."""
    for number in range(count):
        for kind, draw in (("prose", _prose), ("columns", _columns), ("invoice", _invoice)):
            chance = random.Random(f"{kind}{number}")  # noqa: S311 - words for a measurement, no secret
            sheet = _Sheet(_FONTS[number % len(_FONTS)])
            draw(sheet, chance)
            yield f"{kind}{number:02d}", sheet.image(), "\n".join(sheet.written)


def scanned(image: Image.Image, chance: random.Random) -> Image.Image:
    """The page as it comes out of an office scanner: up to 2 degrees askew, a little soft, grey and noisy, JPEG 60."""
    askew = image.convert("L").rotate(
        chance.uniform(-2, 2), resample=Image.Resampling.BICUBIC, expand=True, fillcolor=255
    )
    soft = askew.filter(ImageFilter.GaussianBlur(0.7)).point(lambda value: value * 0.88 + 14)
    return _stored(_grainy(soft, 18), quality=60)


def skewed(image: Image.Image, chance: random.Random) -> Image.Image:
    """The page laid askew on the glass, by one to three degrees, and nothing else."""
    degrees = chance.choice((-1, 1)) * chance.uniform(1, 3)
    return image.convert("L").rotate(degrees, resample=Image.Resampling.BICUBIC, expand=True, fillcolor=255)


def noisy(image: Image.Image, chance: random.Random) -> Image.Image:
    """The page straight, but soft, grey and grainy, and stored as a poor JPEG."""
    soft = image.convert("L").filter(ImageFilter.GaussianBlur(chance.uniform(0.7, 1.0)))
    return _stored(_grainy(soft.point(lambda value: value * 0.8 + 25), 30), quality=35)


def photographed(image: Image.Image, chance: random.Random) -> Image.Image:
    """The page on a table, taken by hand from somewhat aside: shadow to one side, its edges no longer parallel."""
    margin = image.width // 20
    table = Image.new("L", (image.width + 2 * margin, image.height + 2 * margin), 95)
    table.paste(image.convert("L"), (margin, margin))
    off = [chance.uniform(0, 0.8) * margin for _ in range(8)]
    width, height = table.size
    corners = (off[0], off[1], off[2], height - off[3], width - off[4], height - off[5], width - off[6], off[7])
    seen = table.transform(table.size, Image.Transform.QUAD, corners, Image.Resampling.BICUBIC)
    light = Image.linear_gradient("L").rotate(chance.choice((0, 90, 180, 270))).resize(seen.size)
    shaded = ImageChops.multiply(seen, light.point(lambda value: 130 + value * 0.45))
    return _stored(_grainy(shaded.filter(ImageFilter.GaussianBlur(0.8)), 10), quality=75)


def _grainy(image: Image.Image, sigma: float) -> Image.Image:
    return ImageChops.add(image, Image.effect_noise(image.size, sigma), 1, -128)


def _stored(image: Image.Image, quality: int) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(io.BytesIO(buffer.getvalue()))


def _word(chance: random.Random) -> str:
    return chance.choice(_WORDS.split())


class _Sheet:
    """An A4 page that remembers what is written on it, in reading order."""

    def __init__(self, font: str) -> None:
        self.written: list[str] = []
        self._font = font
        self._buffer = io.BytesIO()
        self._canvas = canvas.Canvas(self._buffer, pagesize=A4)

    def write(self, left: float, height: float, text: str, *, size: float = 10.5) -> None:
        self._canvas.setFont(self._font, size)
        self._canvas.drawString(left, height, text)
        self.written.append(text)

    def fits(self, text: str, width: float, size: float = 10.5) -> bool:
        return bool(stringWidth(text, self._font, size) <= width)

    def image(self) -> Image.Image:
        self._canvas.save()
        document = pdfium.PdfDocument(self._buffer.getvalue())
        try:
            image: Image.Image = document[0].render(scale=DPI / 72).to_pil()
            return image.convert("RGB")
        finally:
            document.close()


def _paragraph(sheet: _Sheet, chance: random.Random, box: tuple[float, float, float, float], size: float) -> None:
    """Words from the top of the box (left, bottom, width, top) to its bottom, broken where they no longer fit."""
    left, bottom, width, top = box
    line = ""
    while top > bottom:
        word = _word(chance) if chance.random() < 0.93 else f"{chance.uniform(1, 9_999):,.2f}"
        if sheet.fits(f"{line} {word}".strip(), width, size):
            line = f"{line} {word}".strip()
            continue
        sheet.write(left, top, line, size=size)
        line, top = word, top - 1.35 * size


def _prose(sheet: _Sheet, chance: random.Random) -> None:
    sheet.write(70, 780, "Framework agreement for services", size=16)
    _paragraph(sheet, chance, (70, 80, 455, 740), 10.5)


def _columns(sheet: _Sheet, chance: random.Random) -> None:
    sheet.write(70, 780, "Report of the warehouse committee", size=18)
    _paragraph(sheet, chance, (60, 120, 225, 740), 9.5)
    _paragraph(sheet, chance, (310, 120, 225, 740), 9.5)


def _invoice(sheet: _Sheet, chance: random.Random) -> None:
    sheet.write(60, 790, f"{_word(chance).title()} {_word(chance)} Limited", size=16)
    for number, label in enumerate(("Invoice number", "Invoice date", "Customer", "Terms")):
        sheet.write(60, 750 - 16 * number, label)
        sheet.write(200, 750 - 16 * number, f"{_word(chance)}-{chance.randint(1000, 99999)}")
    for left, label in ((60, "Item"), (300, "Quantity"), (390, "Price"), (480, "Amount")):
        sheet.write(left, 650, label)
    for number in range(14):
        height = 630 - 18 * number
        quantity, price = chance.randint(1, 40), chance.uniform(1, 900)
        sheet.write(60, height, " ".join(_word(chance) for _ in range(3)))
        sheet.write(300, height, str(quantity))
        sheet.write(390, height, f"{price:,.2f}")
        sheet.write(480, height, f"{quantity * price:,.2f}")
    sheet.write(390, 360, "Total")
    sheet.write(480, 360, f"{chance.uniform(100, 90_000):,.2f}")

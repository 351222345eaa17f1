"""A page as an office scanner leaves it: one picture at 200 dots an inch, a little askew, with noise and no text."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pypdfium2
from PIL import Image, ImageChops
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

DPI = 200
_ASKEW = 0.7  # degrees
_PAPER = 236  # of 255: paper is not as white as a screen
_NOISE = 24  # of 255, from the darkest to the lightest
_QUALITY = 35
_SEED = 417


def scan(page: bytes, path: Path) -> None:
    """Print the first page of a PDF, so to speak, and write its scan to `path`, as a PDF again."""
    with pypdfium2.PdfDocument(page) as document:
        width, height = document[0].get_size()
        printed = document[0].render(scale=DPI / 72, grayscale=True).to_pil()
    picture = io.BytesIO()
    _aged(printed.rotate(_ASKEW, Image.Resampling.BICUBIC, fillcolor=255)).save(picture, "JPEG", quality=_QUALITY)
    canvas = Canvas(str(path), pagesize=(width, height), invariant=1, pageCompression=1)
    canvas.drawImage(ImageReader(picture), 0, 0, width, height)
    canvas.showPage()
    canvas.save()


def _aged(image: Image.Image) -> Image.Image:
    """On paper that is not quite white, with the same noise each time."""
    paper = image.point([_PAPER * level // 255 for level in range(256)])
    grains = random.Random(_SEED).randbytes(image.width * image.height)  # noqa: S311 - nobody is to be surprised
    noise = Image.frombytes("L", image.size, grains).point([_NOISE * level // 255 for level in range(256)])
    return ImageChops.add(paper, noise, offset=-_NOISE // 2)

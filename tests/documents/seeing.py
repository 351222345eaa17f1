"""Pictures whose text a test can read without recognition: each character is a column of eight black or white fields.

Fields are found by their share of the picture, so that scaling, grey levels and lossy compression do no harm.
"""

from __future__ import annotations

import math

from PIL import Image, ImageDraw

from pipeline.documents.ocr import Recognised

FIELD = 16  # pixels
COLUMNS = 40
_BITS = 8


def draw(text: str) -> Image.Image:
    """A white picture that shows the text; its first field is black, so that nobody takes it for a blank page."""
    raw = text.encode()
    rows = max(math.ceil((len(raw) + 1) / COLUMNS), 1)
    picture = Image.new("L", (COLUMNS * FIELD, (rows * _BITS + 1) * FIELD), 255)
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, picture.width - 1, FIELD - 1), fill=0)
    for place, byte in enumerate(bytes([len(raw)]) + raw):
        column, row = place % COLUMNS, place // COLUMNS
        for bit in range(_BITS):
            if byte >> bit & 1:
                left, top = column * FIELD, (row * _BITS + bit + 1) * FIELD
                pen.rectangle((left, top, left + FIELD - 1, top + FIELD - 1), fill=0)
    return picture


class Seeing:
    """Reads what `draw` drew, up to 255 bytes."""

    def read(self, image: Image.Image) -> Recognised:
        """The text of a drawn picture, whatever its size."""
        grey = image.convert("L")
        side = grey.width / COLUMNS
        rows = round((grey.height / side - 1) / _BITS)

        def byte(place: int) -> int:
            column, row = place % COLUMNS, place // COLUMNS
            middles = ((column + 0.5) * side, (row * _BITS + 1.5) * side)
            across, lowest = int(middles[0]), grey.height - 1
            bits = [grey.getpixel((across, min(int(middles[1] + bit * side), lowest))) for bit in range(_BITS)]
            return sum(1 << bit for bit, level in enumerate(bits) if isinstance(level, float | int) and level < 128)

        length = min(byte(0), rows * COLUMNS - 1)
        text = bytes(byte(place) for place in range(1, length + 1)).decode("utf-8", "replace")
        return Recognised(text, text, 1.0, 0, 0.0, "seeing 1", ())

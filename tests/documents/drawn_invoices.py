"""Invoices as producers of PDF write them: the same rows, drawn a line, a cell, a word or a glyph at a time."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Mapping, Sequence

from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

Row = tuple[str, str, str, str]
HEAD: Row = ("Description", "Qty", "Unit price", "Amount")
_RIGHT = (0.0, 370.0, 455.0, 540.0)  # points, right edges of all columns but the first
_LEFT = 50.0
_STEP = 15.0  # points from row to row
_THINGS = "blue steel valve|wireless router|audit|chair, oak|support per hour|A4 paper|filter 10 mm|training day 2"
_TERMS = (
    "The goods stay ours until they are paid for in full. Complaints are to be made in writing before the end of the"
    " week in which the goods arrive, with a copy of this sheet, and never keep anybody from paying what is not in"
    " doubt. Whoever pays later than agreed owes interest from the day after, without any reminder being sent, and"
    " bears what it costs to collect the sum. Nothing that was said by telephone is part of this agreement. "
)


def rows(random_: random.Random, count: int) -> list[Row]:
    """Random rows: a description, a quantity, a price, an amount."""
    made: list[Row] = []
    for _ in range(count):
        quantity, cents = random_.randint(1, 40), random_.randint(5, 190_000)
        thing = f"{random_.choice(_THINGS.split('|'))} {random_.choice('ABCDE')}{random_.randint(1, 99)}"
        made.append((thing, str(quantity), f"{cents / 100:,.2f}", f"{quantity * cents / 100:,.2f}"))
    return made


def invoice(style: str, items: Sequence[Row], *, terms: bool = False, size: float = 10) -> bytes:
    """A page of PDF with the rows, written in one of STYLES; with `terms`, under as many lines of running text."""
    content = io.BytesIO()
    canvas = Canvas(content)
    font = "Courier" if style == "line" else "Helvetica"
    canvas.setFont(font, size)
    canvas.drawString(_LEFT, 800, "Invoice INV-2026-0042")
    top = 770.0
    if terms:
        for line in simpleSplit(_TERMS * 3, font, size, 490):
            canvas.drawString(_LEFT, top, line)
            top -= _STEP
        top -= _STEP
    STYLES[style](canvas, [HEAD, *items], top, size)
    canvas.save()
    return content.getvalue()


def _left(row: Row, column: int, size: float) -> float:
    return _RIGHT[column] - stringWidth(row[column], "Helvetica", size) if column else _LEFT


def _lines(canvas: Canvas, items: Sequence[Row], top: float, size: float) -> None:
    """Padded with spaces, as printers of one pitch had it."""
    for place, (thing, *numbers) in enumerate(items):
        canvas.drawString(_LEFT, top - _STEP * place, f"{thing:<34}" + "".join(f"{each:>13}" for each in numbers))


def _cells(canvas: Canvas, items: Sequence[Row], top: float, size: float) -> None:
    for place, row in enumerate(items):
        for column, cell in enumerate(row):
            canvas.drawString(_left(row, column, size), top - _STEP * place, cell)


def _columns(canvas: Canvas, items: Sequence[Row], top: float, size: float) -> None:
    for column in range(len(HEAD)):
        for place, row in enumerate(items):
            canvas.drawString(_left(row, column, size), top - _STEP * place, row[column])


def _words(canvas: Canvas, items: Sequence[Row], top: float, size: float) -> None:
    for place, row in enumerate(items):
        for column, cell in enumerate(row):
            left = _left(row, column, size)
            for word in cell.split():
                canvas.drawString(left, top - _STEP * place, word)
                left += stringWidth(word + " ", "Helvetica", size)


def _glyphs(canvas: Canvas, items: Sequence[Row], top: float, size: float) -> None:
    for place, row in enumerate(items):
        for column, cell in enumerate(row):
            left = _left(row, column, size)
            for sign in cell:
                if sign != " ":
                    canvas.drawString(left, top - _STEP * place, sign)
                left += stringWidth(sign, "Helvetica", size)


def _kerned(canvas: Canvas, items: Sequence[Row], top: float, size: float) -> None:
    """A whole row in one operator, the gaps between its cells being nothing but kerning."""
    for place, row in enumerate(items):
        parts, end = [], _LEFT
        for column, cell in enumerate(row):
            left = _left(row, column, size)
            parts.append(f"{-(left - end) * 1000 / size:.1f} ({cell})")
            end = left + stringWidth(cell, "Helvetica", size)
        text = canvas.beginText(_LEFT, top - _STEP * place)
        text._code.append(f"[{' '.join(parts)}] TJ")
        canvas.drawText(text)


STYLES: Mapping[str, Callable[[Canvas, Sequence[Row], float, float], None]] = {
    "line": _lines,
    "cell": _cells,
    "columns": _columns,
    "word": _words,
    "glyph": _glyphs,
    "kerned": _kerned,
}

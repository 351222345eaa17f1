"""A pen on a canvas: text, blocks, tables and totals in one family of type. Lengths are points, from the lower left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reportlab.lib import colors
from reportlab.platypus import Table

LEFT = 56.0  # the margin at both sides


@dataclass(frozen=True, slots=True)
class Columns:
    """The table of lines: its headings, its column widths, the colours of its heading and the size of its type."""

    headings: tuple[str, ...]
    widths: tuple[float, ...]
    ink: Any = colors.black
    ground: Any = colors.white
    size: float = 9


class Pen:
    """Draws in one family: Times, Helvetica or Courier. `page` is width and height."""

    def __init__(self, canvas: Any, family: str, page: tuple[float, float]) -> None:
        self.canvas = canvas
        self.width, self.height = page
        self.right = self.width - LEFT
        self._regular = "Times-Roman" if family == "Times" else family
        self._bold = f"{family}-Bold"

    def ink(self, colour: Any) -> None:
        """Write in this colour from now on."""
        self.canvas.setFillColor(colour)

    def write(self, x: float, y: float, text: str, *, size: float = 9.5, bold: bool = False) -> None:
        """Text that begins at x."""
        self.canvas.setFont(self._bold if bold else self._regular, size)
        self.canvas.drawString(x, y, text)

    def write_right(self, y: float, text: str, *, size: float = 9.5, bold: bool = False) -> None:
        """Text that ends at the right margin."""
        self.canvas.setFont(self._bold if bold else self._regular, size)
        self.canvas.drawRightString(self.right, y, text)

    def block(self, x: float, top: float, lines: Sequence[str]) -> None:
        """Lines under each other, the first one at `top`."""
        for place, line in enumerate(lines):
            self.write(x, top - 14 * place, line)

    def pairs(self, x: float, top: float, pairs: Sequence[tuple[str, str]], *, gap: float = 100) -> None:
        """Labels, and each one's value `gap` to the right of it."""
        self.block(x, top, [label for label, _ in pairs])
        self.block(x + gap, top, [value for _, value in pairs])

    def table(self, top: float, columns: Columns, rows: Sequence[Sequence[str]]) -> float:
        """The table of lines under `top`; returns the y of its lower edge."""
        style = [
            ("FONT", (0, 0), (-1, 0), self._bold, columns.size),
            ("FONT", (0, 1), (-1, -1), self._regular, columns.size),
            ("TEXTCOLOR", (0, 0), (-1, 0), columns.ink),
            ("BACKGROUND", (0, 0), (-1, 0), columns.ground),
            ("ALIGN", (1, 0), (1, -1), "RIGHT"),
            ("ALIGN", (3, 0), (-1, -1), "RIGHT"),
            ("LINEBELOW", (0, 0), (-1, -1), 0.4, colors.grey),
        ]
        table = Table([columns.headings, *rows], colWidths=columns.widths, style=style)
        bottom = top - float(table.wrapOn(self.canvas, 0, 0)[1])
        table.drawOn(self.canvas, LEFT, bottom)
        return bottom

    def totals(self, top: float, totals: Sequence[tuple[str, str]]) -> float:
        """Labels and amounts at the right, the last one in bold under a rule; returns the y of the last."""
        for place, (label, amount) in enumerate(totals, 1):
            last = place == len(totals)
            self.write(self.right - 200, top - 20 * place, label, size=10, bold=last)
            self.write_right(top - 20 * place, amount, size=10, bold=last)
        bottom = top - 20 * len(totals)
        self.canvas.line(self.right - 200, bottom + 13, self.right, bottom + 13)
        return bottom

    def footer(self, text: str) -> None:
        """Small text in the middle of the lower edge."""
        self.canvas.setFont(self._regular, 8)
        self.canvas.drawCentredString(self.width / 2, 34, text)

    def turn(self) -> None:
        """End the page."""
        self.canvas.showPage()

"""The parts of an Excel workbook: its sheets in order, shared texts, number formats, and the cells of a sheet."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.documents.office.numbers import BUILT_IN, NumberFormat, parse_format, shown_number
from pipeline.documents.office.sheets import MAX_COLUMNS, MAX_ROW_CHARACTERS
from pipeline.documents.office.xml import Attributes, attribute
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

MAX_SHARED_BYTES = 250_000_000  # in memory
_BYTES_A_TEXT = 60  # what Python adds to each
_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
_BOOLEANS = {"1": "TRUE", "0": "FALSE", "true": "TRUE", "false": "FALSE"}
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet as the workbook lists it; `relation` leads to its part."""

    name: str
    relation: str
    hidden: bool


class WorkbookPart:
    """Listens to the workbook: which sheets, in which order, and from which year days count."""

    def __init__(self) -> None:
        self.sheets: list[Sheet] = []
        self.from_1904 = False

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if tag == "sheet":
            relation = next((value for key, value in attributes.items() if key.endswith(":id")), "")
            hidden = attribute(attributes, "state") in ("hidden", "veryHidden")
            self.sheets.append(Sheet(attribute(attributes, "name") or "", relation, hidden))
        elif tag == "workbookPr":
            self.from_1904 = attribute(attributes, "date1904") in ("1", "true")

    def end(self, tag: str) -> None:
        """An element ends."""

    def text(self, data: str) -> None:
        """Nothing here is text."""


class SharedTexts:
    """Listens to the shared texts, or to the comments of a sheet; phonetic readings are left out.

    `item` is the tag of each. Raises DocumentError(bomb) for too many.
    """

    def __init__(self, item: str = "si") -> None:
        self._item = item
        self.texts: list[str] = []
        self._pieces: list[str] = []
        self._hearing = self._phonetic = False
        self._bytes = 0

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if tag == self._item:
            self._pieces = []
        elif tag == "rPh":
            self._phonetic = True
        elif tag == "t":
            self._hearing = not self._phonetic

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag == "t":
            self._hearing = False
        elif tag == "rPh":
            self._phonetic = False
        elif tag == self._item:
            self.texts.append(unescaped("".join(self._pieces)))
            self._count(_BYTES_A_TEXT)

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > MAX_SHARED_BYTES:
            most = MAX_SHARED_BYTES // 1_000_000
            raise DocumentError(Reason.BOMB, f"its texts take more than {most} MB in memory")

    def text(self, data: str) -> None:
        """Characters."""
        if self._hearing:
            self._pieces.append(data)
            self._count(len(data) * (1 if data.isascii() else 4))


class StylesPart:
    """Listens to the styles: the number format of each cell style."""

    def __init__(self) -> None:
        self.formats: list[NumberFormat] = []
        self._codes = {number: parse_format(code) for number, code in BUILT_IN.items()}
        self._in_cells = False

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if tag == "numFmt":
            number = _whole(attribute(attributes, "numFmtId"))
            self._codes[number] = parse_format(attribute(attributes, "formatCode") or "")
        elif tag == "cellXfs":
            self._in_cells = True
        elif tag == "xf" and self._in_cells:
            number = _whole(attribute(attributes, "numFmtId"))
            self.formats.append(self._codes.get(number, NumberFormat()))

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag == "cellXfs":
            self._in_cells = False

    def text(self, data: str) -> None:
        """Nothing here is text."""


class CellReader:
    """Listens to a worksheet and hands on each row, as a column's number to what its cell shows."""

    def __init__(
        self,
        texts: Sequence[str],
        formats: Sequence[NumberFormat],
        on_row: Callable[[int, dict[int, str]], None],
        *,
        from_1904: bool,
    ) -> None:
        self._texts, self._formats, self._on_row, self._from_1904 = texts, formats, on_row, from_1904
        self._row, self._column, self._held = 0, -1, 0
        self._cells: dict[int, str] = {}
        self._type, self._style = "n", 0
        self._computed = self._hearing = self._phonetic = False
        self._pieces: list[str] = []

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if tag == "c":
            self._start_cell(attributes)
        elif tag == "v" or (tag == "t" and not self._phonetic):
            self._hearing = True
        elif tag == "f":
            self._computed = True
        elif tag == "rPh":
            self._phonetic = True
        elif tag == "row":
            number = _whole(attribute(attributes, "r"))
            self._row, self._column, self._cells, self._held = number or self._row + 1, -1, {}, 0

    def _start_cell(self, attributes: Attributes) -> None:
        reference = _REFERENCE.fullmatch(attributes.get("r", ""))
        self._column = column_number(reference[1]) if reference else self._column + 1
        self._type, self._style = attributes.get("t", "n"), _whole(attributes.get("s"))
        self._computed, self._pieces = False, []

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in ("v", "t"):
            self._hearing = False
        elif tag == "rPh":
            self._phonetic = False
        elif tag == "c" and self._pieces and 0 <= self._column < MAX_COLUMNS:
            self._cells[self._column] = self._shown("".join(self._pieces))
        elif tag == "row" and self._cells:
            self._on_row(self._row, self._cells)
            self._cells = {}

    def text(self, data: str) -> None:
        """Characters."""
        if self._hearing:
            self._pieces.append(data)
            self._held += len(data)
            if self._held > MAX_ROW_CHARACTERS:
                raise DocumentError(
                    Reason.BOMB, f"row {self._row} has more than {MAX_ROW_CHARACTERS:,} characters, as many as are read"
                )

    def _shown(self, raw: str) -> str:
        if self._type == "s":
            number = _whole(raw.strip(), -1)
            return self._texts[number] if 0 <= number < len(self._texts) else ""
        if self._type == "b":
            return _BOOLEANS.get(raw.strip(), raw)
        if self._type == "d":
            return raw.replace("T", " ")
        if self._type in ("str", "inlineStr", "e"):
            return unescaped(raw)
        style = self._formats[self._style] if self._style < len(self._formats) else NumberFormat()
        return shown_number(raw, style, computed=self._computed, from_1904=self._from_1904)


def unescaped(text: str) -> str:
    """Characters that XML cannot hold are written _x000D_; carriage returns add nothing to a line break."""
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text).replace("\r\n", "\n").replace("\r", "")


def column_number(letters: str) -> int:
    """A column's letters as a number from 0: A is 0, XFD is 16,383."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _whole(value: str | None, otherwise: int = 0) -> int:
    return int(value) if value and value.isascii() and value.isdecimal() and len(value) < 10 else otherwise

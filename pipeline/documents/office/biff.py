"""The records of old Excel workbooks: sheets, shared texts, number formats, cells. Nothing is reserved by a count."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pipeline.documents.office.numbers import BUILT_IN, NumberFormat, parse_format, shown_number
from pipeline.documents.office.rtf_words import codec_of_page
from pipeline.documents.office.sheets import SheetWriter
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

MAX_SHARED_BYTES = 250_000_000  # in memory
_BYTES_A_TEXT = 60  # what Python adds to each
_BOF, _EOF, _CONTINUE, _FILE_PASSWORD = 0x809, 0x0A, 0x3C, 0x2F
_CODE_PAGE, _DATE_MODE, _FORMAT, _STYLE, _SHEET, _SHARED = 0x42, 0x22, 0x41E, 0xE0, 0x85, 0xFC
_NUMBER, _RK, _MANY_RK, _SHARED_LABEL, _LABEL, _RICH_LABEL = 0x203, 0x27E, 0xBD, 0xFD, 0x204, 0xD6
_BOOLEAN, _FORMULA, _RESULT, _TEXT_BOX = 0x205, 0x06, 0x207, 0x1B6
_LATEST = 0x600
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
_WORKSHEET = 0x10


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet as the workbook lists it; `position` is where it begins in the stream."""

    name: str
    position: int
    hidden: bool


@dataclass(slots=True)
class Workbook:
    """What the beginning of the stream says of the whole workbook."""

    latest: bool = True
    codec: str = "cp1252"
    from_1904: bool = False
    encrypted: bool = False
    sheets: list[Sheet] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    formats: list[NumberFormat] = field(default_factory=list)


def records(stream: bytes, position: int = 0) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each record until the stream ends or is cut."""
    while position + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, position)
        yield kind, stream[position + 4 : position + 4 + size]
        position += 4 + size


def read_workbook(stream: bytes) -> Workbook:
    """What holds for all sheets. Raises DocumentError: corrupt, unsupported, bomb."""
    book = Workbook()
    codes = dict(BUILT_IN)
    styles: list[int] = []
    shared: list[bytes] = []
    last = 0
    for number, (kind, content) in enumerate(records(stream)):
        if number == 0:
            book.latest = _is_latest(kind, content)
        elif kind == _EOF:
            break
        elif kind == _SHARED or (kind == _CONTINUE and last == _SHARED):
            shared.append(content)
        else:
            _on_global(book, kind, content, codes, styles)
        last = last if kind == _CONTINUE else kind
        if book.encrypted:
            return book
    parsed = {number: parse_format(code) for number, code in codes.items()}
    book.formats = [parsed.get(style, NumberFormat()) for style in styles]
    book.texts = list(_shared_texts(shared))
    return book


def _is_latest(kind: int, content: bytes) -> bool:
    if kind != _BOF or len(content) < 4:
        raise DocumentError(Reason.UNSUPPORTED, "an Excel workbook from before 1993; save it as XLSX or PDF")
    return int(struct.unpack_from("<H", content)[0]) >= _LATEST


def _on_global(book: Workbook, kind: int, content: bytes, codes: dict[int, str], styles: list[int]) -> None:
    if kind == _FILE_PASSWORD:
        book.encrypted = True
    elif kind == _CODE_PAGE and len(content) >= 2:
        number = struct.unpack_from("<H", content)[0]
        book.codec = codec_of_page({0x8000: 10000, 0x8001: 1252, 1200: 1252}.get(number, number))
    elif kind == _DATE_MODE:
        book.from_1904 = content[:1] == b"\x01"
    elif kind == _FORMAT and len(content) >= 4:
        at = 2 if book.latest else 3
        codes[struct.unpack_from("<H", content)[0]] = (
            _text(content, at, book) if book.latest else content[at : at + content[2]].decode(book.codec, "replace")
        )
    elif kind == _STYLE and len(content) >= 4:
        styles.append(struct.unpack_from("<H", content, 2)[0])
    elif kind == _SHEET and len(content) >= 8:
        book.sheets.append(_sheet(content, book))


def _sheet(content: bytes, book: Workbook) -> Sheet:
    position, state, _, length = struct.unpack_from("<IBBB", content)
    if not book.latest:
        name = content[7 : 7 + length].decode(book.codec, "replace")
    elif content[7] & 1:
        name = content[8 : 8 + 2 * length].decode("utf-16-le", "replace")
    else:
        name = content[8 : 8 + length].decode("latin-1")
    return Sheet(name, position, bool(state & 3))


def _text(content: bytes, at: int, book: Workbook) -> str:
    """A text with its length in two bytes before it."""
    if len(content) < at + 3:
        return ""
    (length,) = struct.unpack_from("<H", content, at)
    if not book.latest:
        return content[at + 2 : at + 2 + length].decode(book.codec, "replace")
    if content[at + 2] & 1:
        return content[at + 3 : at + 3 + 2 * length].decode("utf-16-le", "replace")
    return content[at + 3 : at + 3 + length].decode("latin-1")


def _shared_texts(pieces: Sequence[bytes]) -> Iterator[str]:
    reader, total = _Shared(pieces), 0
    while (text := reader.next()) is not None:
        total += _BYTES_A_TEXT + len(text) * (1 if text.isascii() else 4)
        if total > MAX_SHARED_BYTES:
            raise DocumentError(
                Reason.BOMB, f"its shared texts take more than {MAX_SHARED_BYTES // 1_000_000} MB in memory"
            )
        yield text


class _Shared:
    """Reads shared texts from a record and those that continue it; characters may change their width in between."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]
        self._piece, self._at = 0, 8  # two counts come first; neither is believed

    def next(self) -> str | None:
        """The next text; None at the end or where the rest is damaged."""
        self._settle()
        if self._piece >= len(self._pieces) or len(self._pieces[self._piece]) < self._at + 3:
            return None
        length, flags = struct.unpack_from("<HB", self._pieces[self._piece], self._at)
        self._at += 3
        runs = self._integer("<H", 2) if flags & 8 else 0
        extra = self._integer("<I", 4) if flags & 4 else 0
        text = self._characters(length, flags & 1)
        self._skip(4 * runs + extra)
        return text

    def _settle(self) -> None:
        while self._piece < len(self._pieces) and self._at >= len(self._pieces[self._piece]):
            self._at -= len(self._pieces[self._piece])
            self._piece += 1

    def _integer(self, form: str, size: int) -> int:
        piece = self._pieces[self._piece]
        value = struct.unpack_from(form, piece, self._at)[0] if len(piece) >= self._at + size else 0
        self._at += size
        return int(value)

    def _characters(self, length: int, wide: int) -> str:
        shown: list[str] = []
        while length and self._piece < len(self._pieces):
            piece = self._pieces[self._piece]
            taken = min(length, max(len(piece) - self._at, 0) >> wide)
            raw = piece[self._at : self._at + (taken << wide)]
            shown.append(raw.decode("utf-16-le" if wide else "latin-1", "replace"))
            length -= taken
            self._at += taken << wide
            if length:
                self._piece, self._at = self._piece + 1, 1
                wide = self._pieces[self._piece][0] & 1 if self._piece < len(self._pieces) else 0
        return "".join(shown)

    def _skip(self, size: int) -> None:
        self._at += size
        self._settle()


class SheetReader:
    """Reads the records of one sheet and hands on its rows, and its text boxes below them."""

    def __init__(self, stream: bytes, book: Workbook, writer: SheetWriter) -> None:
        self._stream, self._book, self._writer = stream, book, writer
        self._row, self._cells = -1, dict[int, str]()
        self._formula: tuple[int, int] | None = None
        self._boxes: list[str] = []

    def read(self, sheet: Sheet) -> None:
        """All of a worksheet; nothing of a chart or a macro. A cut sheet ends where it is cut."""
        depth, box = 0, 0
        for kind, content in records(self._stream, sheet.position):
            if depth == 0 and (kind != _BOF or content[2:3] != bytes((_WORKSHEET,))):
                return
            depth += (kind == _BOF) - (kind == _EOF)
            if depth == 0:
                break
            if kind == _CONTINUE and box:
                self._boxes.append(_box_text(content, box))
            elif depth == 1 and len(content) >= 6:
                self._on_cell(kind, content)
            box = struct.unpack_from("<H", content, 10)[0] if kind == _TEXT_BOX and len(content) >= 12 else 0
        self._end_row()
        for text in self._boxes:
            if text.strip():
                self._writer.line(text)

    def _on_cell(self, kind: int, content: bytes) -> None:
        if kind == _RESULT and self._formula:
            self._put(*self._formula, _text(content, 0, self._book))
            self._formula = None
            return
        row, column, style = struct.unpack_from("<HHH", content)
        if kind == _MANY_RK:
            for offset in range((len(content) - 6) // 6):
                style, value = struct.unpack_from("<HI", content, 4 + 6 * offset)
                self._put(row, column + offset, self._shown(_unpacked(value), style))
        elif kind == _FORMULA and len(content) >= 14:
            self._on_formula(row, column, style, content[6:14])
        elif (shown := self._value(kind, content, style)) is not None:
            self._put(row, column, shown)

    def _value(self, kind: int, content: bytes, style: int) -> str | None:
        if kind == _SHARED_LABEL and len(content) >= 10:
            (number,) = struct.unpack_from("<I", content, 6)
            return self._book.texts[number] if number < len(self._book.texts) else ""
        if kind == _RK and len(content) >= 10:
            return self._shown(_unpacked(struct.unpack_from("<I", content, 6)[0]), style)
        if kind == _NUMBER and len(content) >= 14:
            return self._shown(struct.unpack_from("<d", content, 6)[0], style)
        if kind in (_LABEL, _RICH_LABEL):
            return _text(content, 6, self._book)
        if kind == _BOOLEAN and len(content) >= 8:
            return _boolean_or_error(content[6], is_error=bool(content[7]))
        return None

    def _on_formula(self, row: int, column: int, style: int, result: bytes) -> None:
        if result[6:] != b"\xff\xff":
            self._put(row, column, self._shown(struct.unpack("<d", result)[0], style, computed=True))
        elif result[0] == 0:
            self._formula = (row, column)
        elif result[0] in (1, 2):
            self._put(row, column, _boolean_or_error(result[2], is_error=result[0] == 2))

    def _shown(self, value: float, style: int, *, computed: bool = False) -> str:
        formats = self._book.formats
        form = formats[style] if style < len(formats) else NumberFormat()
        return shown_number(repr(value), form, computed=computed, from_1904=self._book.from_1904)

    def _put(self, row: int, column: int, shown: str) -> None:
        if row != self._row:
            self._end_row()
            self._row = row
        self._cells[column] = shown

    def _end_row(self) -> None:
        if self._cells:
            self._writer.row(self._row + 1, self._cells)
        self._cells = {}


def _unpacked(value: int) -> float:
    """A number in 30 bits: whole or the first half of a fraction, perhaps of a hundred times the value."""
    number: float
    if value & 2:
        number = (value >> 2) - (1 << 30 if value & 0x80000000 else 0)
    else:
        number = struct.unpack("<d", struct.pack("<II", 0, value & 0xFFFFFFFC))[0]
    return number / 100 if value & 1 else number


def _boolean_or_error(value: int, *, is_error: bool) -> str:
    return _ERRORS.get(value, "#ERROR!") if is_error else ("TRUE" if value else "FALSE")


def _box_text(content: bytes, length: int) -> str:
    if content[:1] == b"\x01":
        return content[1 : 1 + 2 * length].decode("utf-16-le", "replace")
    return content[1 : 1 + length].decode("latin-1")

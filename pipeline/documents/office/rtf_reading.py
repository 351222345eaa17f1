"""RTF as a machine: a stack of groups, a font's character set for each run of bytes, paragraphs, rows and pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pipeline.documents.office.rtf_words import (
    CHARACTERS,
    DEFAULT_CODEC,
    KNOWN_AFTER_STAR,
    MARGINS,
    NO_TEXT,
    SYMBOL_CHARSET,
    SYMBOLS,
    codec_of_charset,
    codec_of_page,
)
from pipeline.documents.office.symbols import symbol
from pipeline.documents.office.text import Block, PageBuilder, grid
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

MAX_DEPTH = 2_000
_ROWS_AT_ONCE = 200
_TAB_LAYOUT = "    "
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_TOKEN = re.compile(rb"[^\\{}]*")
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|([^\\{}\r\n\x00]+)|[\r\n\x00]+|(.)",
    re.S,
)


@dataclass(slots=True)
class _Group:
    """What a group inherits and its end undoes."""

    skip: bool = False
    star: bool = False
    hidden: bool = False
    deleted: bool = False
    after_unicode: int = 1
    font: int = 0
    target: str = ""
    fonts: bool = False


@dataclass(slots=True)
class _Table:
    """Rows that are not yet written, and the row and cell at hand; `nested` are cells of a table in the cell."""

    rows: list[list[Block]] = field(default_factory=list)
    row: list[Block] = field(default_factory=list)
    cell: Block = field(default_factory=Block)
    nested: list[Block] = field(default_factory=list)


class RtfReading:
    """One document, read into pages."""

    def __init__(self, pages: PageBuilder) -> None:
        self._pages = pages
        self._groups = [_Group()]
        self._codec = DEFAULT_CODEC
        self._charsets: dict[int, int] = {}
        self._bytes = bytearray()
        self._runs: list[str] = []
        self._kept_runs: list[list[str]] = []
        self._aside: list[Block] = []
        self._margins: set[str] = set()
        self._table = _Table()
        self._in_table = False
        self._fallback = 0
        self._section_page = 0
        self._continues = False
        self._words = self._handlers()

    def _handlers(self) -> dict[str, Callable[[int | None], None]]:
        return {
            "par": lambda _: self._end_paragraph(),
            "sect": lambda _: self._end_section(),
            "page": lambda _: self._end_page(),
            "pagebb": lambda _: self._end_page(),
            "sbknone": lambda _: self._continue_section(),
            "cell": lambda _: self._end_cell(),
            "row": lambda _: self._end_row(),
            "nestcell": lambda _: self._end_nested_cell(),
            "nestrow": lambda _: self._end_nested_row(),
            "pard": lambda _: self._set_in_table(False),
            "intbl": lambda _: self._set_in_table(True),
            "plain": lambda _: self._on_plain(),
            "v": lambda value: self._set(hidden=value != 0),
            "deleted": lambda value: self._set(deleted=value != 0),
            "uc": lambda value: self._set(after_unicode=min(max(value or 0, 0), 10)),
            "u": self._on_unicode,
            "f": lambda value: self._set(font=value or 0),
            "fcharset": self._on_charset,
            "fonttbl": lambda _: self._set(fonts=True),
            "ansicpg": lambda value: self._set_codec(codec_of_page(value or 1252)),
            "mac": lambda _: self._set_codec("mac_roman"),
            "pc": lambda _: self._set_codec("cp437"),
            "pca": lambda _: self._set_codec("cp850"),
            "footnote": lambda _: self._begin_aside("footnote"),
            "annotation": lambda _: self._begin_aside("annotation"),
            "shptxt": lambda _: self._begin_aside("box"),
        }

    def read(self, raw: bytes) -> None:
        """Read all of it. Raises DocumentError(bomb) for groups without end."""
        at, end = 0, len(raw)
        while at < end:
            match = _TOKEN.match(raw, at)
            if match is None:
                break
            at = match.end() + self._on_token(match)
            if self._groups[-1].skip and (passed := _NO_TOKEN.match(raw, at)):
                at = passed.end()  # pictures are megabytes of digits
        self._flush()
        while self._aside:
            self._end_aside("box")
        if "".join(self._runs).strip():
            self._end_paragraph()
        self._write_table()
        if len(self._groups) > 1:
            self._pages.note = "the end of the file is missing"
        self._groups = [_Group()]
        self._end_section()

    def _on_token(self, match: re.Match[bytes]) -> int:
        """How many bytes after the token are raw and to be passed over."""
        word, number, hexadecimal, sign, brace, text, _ = match.groups()
        if text is not None:
            self._on_bytes(text)
        elif hexadecimal is not None:
            self._on_bytes(bytes.fromhex(hexadecimal.decode()))
        elif word is not None:
            return self._on_word(word.decode(), int(number) if number is not None else None)
        elif brace is not None:
            self._on_brace(opening=brace == b"{")
        elif sign is not None:
            self._on_sign(sign)
        return 0

    @property
    def _group(self) -> _Group:
        return self._groups[-1]

    def _set(self, *, hidden: bool | None = None, deleted: bool | None = None, after_unicode: int | None = None,
             font: int | None = None, fonts: bool | None = None) -> None:  # fmt: skip
        group = self._group
        group.hidden = group.hidden if hidden is None else hidden
        group.deleted = group.deleted if deleted is None else deleted
        group.after_unicode = group.after_unicode if after_unicode is None else after_unicode
        group.font = group.font if font is None else font
        group.fonts = group.fonts if fonts is None else fonts

    def _on_brace(self, *, opening: bool) -> None:
        self._flush()
        self._fallback = 0
        if opening:
            if len(self._groups) > MAX_DEPTH:
                raise DocumentError(Reason.BOMB, f"its groups are nested more than {MAX_DEPTH:,} deep")
            self._groups.append(replace(self._group, star=False, target=""))
        elif len(self._groups) > 1:
            target = self._groups.pop().target
            if target:
                self._end_aside(target)

    def _on_word(self, word: str, number: int | None) -> int:
        self._flush()
        if word == "bin":
            return max(number or 0, 0)
        group = self._group
        if word in NO_TEXT or (group.star and word not in KNOWN_AFTER_STAR):
            group.skip = True
        group.star = False
        if group.skip:
            return 0
        if word in CHARACTERS:
            self._add(CHARACTERS[word])
        elif word in MARGINS:
            self._begin_aside(word)
        elif handler := self._words.get(word):
            handler(number)
        return 0

    def _on_sign(self, sign: bytes) -> None:
        self._flush()
        if sign == b"*":
            self._group.star = True
        elif sign in b"\r\n":
            self._end_paragraph() if not self._group.skip else None
        elif sign in SYMBOLS:
            self._add(SYMBOLS[sign])

    def _on_bytes(self, piece: bytes) -> None:
        if self._fallback:
            dropped = min(self._fallback, len(piece))
            self._fallback -= dropped
            piece = piece[dropped:]
        if self._visible and piece:
            self._bytes += piece

    @property
    def _visible(self) -> bool:
        group = self._group
        return not (group.skip or group.fonts or group.hidden or group.deleted)

    def _flush(self) -> None:
        """Decode the bytes at hand: characters of several bytes come byte by byte."""
        if not self._bytes:
            return
        charset = self._charsets.get(self._group.font)
        if charset == SYMBOL_CHARSET:
            text = "".join(symbol("Symbol", f"{byte:x}") for byte in self._bytes)
        else:
            text = self._bytes.decode(codec_of_charset(charset) or self._codec, "replace")
        self._bytes.clear()
        self._runs.append(text)

    def _add(self, text: str) -> None:
        if self._visible:
            self._runs.append(text)

    def _on_unicode(self, number: int | None) -> None:
        code = (number or 0) % 0x10000
        self._fallback = self._group.after_unicode
        self._add(symbol("Symbol", f"{code:x}") if 0xF020 <= code <= 0xF0FF else chr(code))

    def _on_charset(self, number: int | None) -> None:
        if self._group.fonts and number is not None and len(self._charsets) < 10_000:
            self._charsets[self._group.font] = number

    def _set_codec(self, codec: str) -> None:
        self._codec = codec

    def _set_in_table(self, inside: bool) -> None:
        self._in_table = inside

    def _on_plain(self) -> None:
        self._set(hidden=False, deleted=False)

    def _taken(self) -> str:
        """The paragraph at hand, with characters above U+FFFF put together."""
        text = "".join(self._runs)
        self._runs.clear()
        if not text.isascii() and _SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text.replace("\u00ad", "")

    def _end_paragraph(self) -> None:
        self._flush()
        text = self._taken()
        layout = text.replace("\t", _TAB_LAYOUT) if "\t" in text else None
        if self._aside:
            self._aside[-1].line(text, layout)
        elif self._in_table:
            self._table.cell.line(text, layout)
        else:
            self._write_table()
            self._pages.line(text, layout)

    def _end_page(self) -> None:
        if self._aside or self._in_table or self._group.skip:
            return
        if "".join(self._runs).strip():
            self._end_paragraph()
        self._write_table()
        self._pages.end_page()

    def _end_section(self) -> None:
        """A section says at its beginning whether it continues the page; its text comes after that."""
        self._end_page()
        if self._continues:
            self._pages.join(self._section_page)
        self._continues = False
        self._section_page = self._pages.count

    def _continue_section(self) -> None:
        self._continues = True

    def _end_cell(self) -> None:
        if self._aside:
            self._add("  ")
            return
        if self._runs:
            inside, self._in_table = self._in_table, True
            self._end_paragraph()
            self._in_table = inside
        self._table.row.append(self._table.cell)
        self._table.cell = Block()

    def _end_row(self) -> None:
        if self._table.row:
            self._table.rows.append(self._table.row)
            self._table.row = []
        if len(self._table.rows) >= _ROWS_AT_ONCE:
            self._write_table()

    def _end_nested_cell(self) -> None:
        block = Block()
        block.line(self._taken())
        self._table.nested.append(block)

    def _end_nested_row(self) -> None:
        for text, layout in grid([self._table.nested]):
            self._table.cell.line(text, layout)
        self._table.nested = []

    def _write_table(self) -> None:
        if self._table.row:
            self._table.rows.append(self._table.row)
        if not self._table.rows:
            return
        rows, self._table = self._table.rows, _Table(cell=self._table.cell if self._in_table else Block())
        for text, layout in grid(rows):
            self._pages.line(text, layout)

    def _begin_aside(self, target: str) -> None:
        """What is written elsewhere than where it stands: notes, headers, text boxes."""
        if not self._group.target:
            self._group.target = target
            self._aside.append(Block())
            self._kept_runs.append(self._runs)
            self._runs = []

    def _end_aside(self, target: str) -> None:
        if self._runs:
            self._end_paragraph()
        block, self._runs, trimmed = self._aside.pop(), self._kept_runs.pop(), Block()
        block.pour(trimmed)
        text = "\n".join(trimmed.text)
        if not text.strip() or (target in MARGINS and text in self._margins):
            return
        if target in MARGINS:
            self._margins.add(text)
        if target == "annotation":
            trimmed.text.insert(0, "Comment:")
            trimmed.layout.insert(0, "Comment:")
        if target == "box" or (target.startswith("header") and not self._pages.count and self._pages.empty):
            trimmed.pour(self._aside[-1] if self._aside else self._pages)
        else:
            self._pages.pending.append(trimmed)

"""Text of office documents as it is collected: lines, grids of cells, and pages that cost little memory.

Pages end where the document says so; else as plain text does, after 200 lines or 100,000 characters.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Protocol

from pipeline.config import MEGABYTE, LimitSettings
from pipeline.documents.contract import Attachment
from pipeline.documents.text import Page, Source
from pipeline.errors import DocumentError, UnreadablePage
from pipeline.reasons import Reason

PAGE_LINES = 200
PAGE_CHARACTERS = 100_000
GAP = "  "
WIDEST_COLUMN = 48  # characters; a longer cell pushes the rest of its row only
_PADDING_SHARE = 6  # padding may be this many times what it sets apart
_PADDING_FREE = 20_000
_MAX_NOTED = 300


class Lines(Protocol):
    """Whatever takes lines in reading order."""

    def line(self, text: str, layout: str | None = None) -> None:
        """One line, or several by newlines; `layout` is as it looks, None for the same as `text`."""


class Block:
    """Lines kept for later: a cell, a note, a text box."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.layout: list[str] = []

    def line(self, text: str, layout: str | None = None) -> None:
        """One line more."""
        self.text.extend(text.split("\n"))
        self.layout.extend((text if layout is None else layout).split("\n"))

    def pour(self, into: Lines) -> None:
        """Hand all lines on, without blank ones at either end."""
        text, layout = "\n".join(self.text).strip("\n"), "\n".join(self.layout).strip("\n")
        if text.strip() or layout.strip():
            into.line(text, layout)


def grid(rows: Sequence[Sequence[Block]]) -> Iterator[tuple[str, str]]:
    """Rows of cells as (text, layout): columns at least two spaces apart, and below each other in the layout.

    In the text a row of one-line cells is one line; otherwise its cells follow each other, as they are read.
    """
    widths = _widths(rows)
    for row in rows:
        cells = [[line.rstrip() for line in _trimmed(cell.layout)] for cell in row]
        layout = "\n".join(_aligned(line, widths) for line in zip_longest(*cells, fillvalue=""))
        texts = ["\n".join(_trimmed(cell.text)) for cell in row]
        several = any("\n" in text for text in texts)
        text = ("\n" if several else GAP).join(text for text in texts if text.strip())
        if text.strip():
            yield text, layout


def _trimmed(lines: Sequence[str]) -> Sequence[str]:
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return lines[first:last]


def _widths(rows: Sequence[Sequence[Block]]) -> list[int]:
    """Characters of each column, none where padding would be out of proportion."""
    widths = [0] * max((len(row) for row in rows), default=0)
    content, lines = 0, 0
    for row in rows:
        filled = [column for column, cell in enumerate(row) if any(cell.layout)]
        for column in filled:
            longest = max(map(len, row[column].layout))
            content += sum(map(len, row[column].layout))
            if column != filled[-1]:  # nothing stands beside the last cell, which may be a title across the sheet
                widths[column] = max(widths[column], min(longest, WIDEST_COLUMN))
            widths[column] = widths[column] or 1
        lines += max((len(cell.layout) for cell in row), default=0)
    padded = lines * (sum(widths) + len(GAP) * len(widths))
    return widths if is_in_proportion(padded, content) else [0] * len(widths)


def is_in_proportion(padded: int, content: int) -> bool:
    """Whether so many characters may be spent on setting apart so much content."""
    return padded <= _PADDING_SHARE * content + _PADDING_FREE


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """A line of cells; a column that is empty everywhere takes no room."""
    shown: list[str] = []
    debt = 0  # what an overlong cell took from the columns after it
    for cell, width in zip(cells, widths, strict=False):
        if not width and not cell:
            continue
        room = max(width - debt, 0)
        shown.append(cell.ljust(room))
        debt = max(debt + len(cell) - width, 0)
    return GAP.join(shown).rstrip()


@dataclass(frozen=True, slots=True)
class _Packed:
    """A page, compressed: a workbook has thousands. `layout` is None where it equals the text."""

    text: bytes
    layout: bytes | None
    note: str


class PageBuilder:
    """Takes lines and page ends, gives pages. Raises DocumentError(too_many_pages) as soon as there are too many."""

    def __init__(self, limits: LimitSettings) -> None:
        self._limits = limits
        self._packed: list[_Packed] = []
        self._text: list[str] = []
        self._layout: list[str] = []
        self._lines = self._characters = 0
        self.written = 0
        self.note = ""
        self.pending: list[Block] = []

    @property
    def count(self) -> int:
        """Pages that are complete."""
        return len(self._packed)

    @property
    def empty(self) -> bool:
        """Whether nothing stands on the page that is being written."""
        return not self._characters and not self.pending

    def line(self, text: str, layout: str | None = None) -> None:
        """One line or several. A run of blank lines is one; a page never begins with one."""
        shown = text if layout is None else layout
        if not text.strip() and (not self._text or not self._text[-1].strip()):
            return
        for start in range(0, max(len(text), 1), PAGE_CHARACTERS):
            end = start + PAGE_CHARACTERS
            # The layout of a piece that is cut is the text: columns of such a length help nobody.
            self._add(text[start:end], shown if max(len(text), len(shown)) <= PAGE_CHARACTERS else text[start:end])

    def _add(self, text: str, layout: str) -> None:
        lines = max(text.count("\n"), layout.count("\n")) + 1
        size = max(len(text), len(layout)) + 1
        if self._lines and (self._lines + lines > PAGE_LINES or self._characters + size > PAGE_CHARACTERS):
            self.end_page()
        self._text.append(text)
        self._layout.append(layout)
        self._lines += lines
        self._characters += size if text.strip() else 0
        self.written += len(text)
        if self.written > self._limits.max_inflated_megabytes * MEGABYTE:
            raise DocumentError(
                Reason.BOMB,
                f"its text has more than {self.written / 1_000_000:,.0f} million characters;"
                f" limits.max_inflated_megabytes allows {self._limits.max_inflated_megabytes:g}",
            )

    def end_page(self, *, even_empty: bool = False) -> None:
        """The page ends here; notes that wait for its end come first. An empty page is none, unless it is to count."""
        if self.empty and not even_empty:
            return
        while self._text and not self._text[-1].strip():
            self._text.pop()
            self._layout.pop()
        waiting, self.pending = self.pending, []
        for block in waiting:
            self._text.extend(block.text)
            self._layout.extend(block.layout)
        text, layout = "\n".join(self._text), "\n".join(self._layout)
        self._pack(text, layout)
        self._text, self._layout, self._lines, self._characters = [], [], 0, 0

    def _pack(self, text: str, layout: str) -> None:
        if len(self._packed) >= self._limits.max_pages:
            raise DocumentError(
                Reason.TOO_MANY_PAGES,
                f"it has more than {len(self._packed):,} pages, which is what limits.max_pages allows",
            )
        self._packed.append(_Packed(_packed(text), None if layout == text else _packed(layout), self.note[:_MAX_NOTED]))

    def join(self, number: int) -> None:
        """Page `number` and the one after it are one page. Nothing happens when either is not complete."""
        if not 1 <= number < len(self._packed):
            return
        first, second = self._packed[number - 1 : number + 1]
        text = f"{_unpacked(first.text)}\n{_unpacked(second.text)}"
        layout = f"{_unpacked(first.layout or first.text)}\n{_unpacked(second.layout or second.text)}"
        self._packed[number - 1 : number + 1] = [replace(first, text=_packed(text), layout=_packed(layout))]

    def finish(self, engine: str, files: Callable[[], Iterator[Attachment]] = lambda: iter(())) -> OpenPages:
        """The document: at least one page. `files` gives its attachments anew at each call."""
        self.end_page()
        if not self._packed:
            self._pack("", "")
        return OpenPages(tuple(self._packed), engine, files)


@dataclass(frozen=True, slots=True)
class OpenPages:
    """A document whose pages are known, and its files."""

    packed: tuple[_Packed, ...] = field(repr=False)
    engine: str
    files: Callable[[], Iterator[Attachment]]

    @property
    def page_count(self) -> int:
        """How many pages it has, at least 1."""
        return len(self.packed)

    def read_page(self, number: int) -> Page:
        """Page `number`. Raises UnreadablePage when there is no such page."""
        if not 1 <= number <= self.page_count:
            raise UnreadablePage(Reason.CORRUPT, f"there is no page {number}; the document has {self.page_count}")
        packed = self.packed[number - 1]
        text = _unpacked(packed.text)
        layout = text if packed.layout is None else _unpacked(packed.layout)
        return Page(number, text, layout, Source.NATIVE, engine=self.engine, note=packed.note).storable()

    def attachments(self) -> Iterator[Attachment]:
        """Every file inside, in order. Raises DocumentError, with what came before still good."""
        return self.files()


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def _unpacked(raw: bytes) -> str:
    return zlib.decompress(raw).decode("utf-8", "surrogatepass")

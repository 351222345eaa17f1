"""What a reader of an HTML page sees, as lines: blocks begin lines, table rows stay rows, hidden parts are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice, zip_longest

from pipeline.documents.encodings import decode
from pipeline.documents.markup.html_tokens import Tag, tokens
from pipeline.documents.paging import PAGE_CHARACTERS, PAGE_LINES
from pipeline.documents.rows import aligned

_DECLARED = re.compile(rb"""<meta\b[^>]{0,300}?\bcharset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_XML_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_DECLARED_WITHIN = 8192
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html",
    "legend", "li", "main", "nav", "ol", "option", "p", "pre", "section", "summary", "title", "ul",
})  # fmt: skip
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
_CELLS = ("td", "th")
_HIDDEN = re.compile(r"(?:^|\s)hidden(?=[\s=/]|$)", re.IGNORECASE)
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all", re.IGNORECASE)
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_HIDDEN_WITHIN = 2000
_COLSPAN = re.compile(r"""\bcolspan\s*=\s*["']?(\d{1,2})""", re.IGNORECASE)
_TOGETHER = 500  # rows of a table that line up; all of a large one would not fit into memory
_BLANKS = re.compile(r"[ \t\n\r\f]+")


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The visible text as pages, each with its layout, in which columns line up; and the encoding it was in."""

    pages: tuple[tuple[str, str], ...]
    encoding: str


def read(raw: bytes) -> HtmlText:
    """The visible text of an HTML page of any depth and brokenness. Never raises; takes time by its length alone."""
    head = raw[:_DECLARED_WITHIN]
    label = _XML_DECLARED.match(head) or _DECLARED.search(head)
    found = decode(raw, label[1].decode("ascii") if label else "")
    return HtmlText(tuple(_pages(_rows(found.text))), found.encoding)


Row = list[list[str]]  # cells, each of lines; a paragraph is a row of one cell


def _rows(text: str) -> Iterator[Row]:
    writer = _Writer()
    for token in tokens(text):
        writer.take(token)
        if writer.rows:
            yield from writer.rows
            writer.rows.clear()
    writer.finish()
    yield from writer.rows


@dataclass(slots=True)
class _Writer:
    """Takes tokens in and puts finished rows out, for its owner to take away."""

    rows: list[Row] = field(default_factory=list)
    _row: Row = field(default_factory=list)
    _cell: list[str] = field(default_factory=list)
    _line: list[str] = field(default_factory=list)
    _hidden: str = ""  # the element that hides what is in it
    _hidden_depth: int = 0
    _in_cell: bool = False
    _pre: int = 0

    def take(self, token: Tag | str) -> None:
        """Take in the next token."""
        if isinstance(token, Tag):
            if self._hidden:
                self._leave_hidden(token)
            elif not token.ends and token.name not in _VOID and _hides(token):
                self._hidden, self._hidden_depth = token.name, 1
            else:
                self._tag(token)
        elif not self._hidden:
            self._words(token)

    def finish(self) -> None:
        """End what is still open."""
        self._end_row()

    def _leave_hidden(self, tag: Tag) -> None:
        if self._hidden == "p" and tag.name in _BLOCKS:  # a paragraph ends where the next block begins
            self._hidden = ""
            self.take(tag)
        elif tag.name == self._hidden:
            self._hidden_depth += -1 if tag.ends else 1
            if self._hidden_depth <= 0:
                self._hidden = ""

    def _tag(self, tag: Tag) -> None:
        if tag.name in _CELLS:
            self._end_cell()
            if not tag.ends:
                span = _COLSPAN.search(tag.attributes)
                self._row.extend([] for _ in range(int(span[1]) - 1 if span else 0))
            self._in_cell = not tag.ends
        elif tag.name in ("tr", "table"):
            self._end_row()
            self._in_cell = False
        elif tag.name == "br":
            self._end_line(keep_empty=False)
        elif tag.name in _BLOCKS:
            self._end_line(keep_empty=False)
            if tag.name == "pre":
                self._pre = max(self._pre + (-1 if tag.ends else 1), 0)
            if not self._in_cell:
                self._end_row()

    def _words(self, text: str) -> None:
        if not self._pre:
            self._line.append(text)
            return
        first, *others = text.split("\n")
        self._line.append(first)
        for line in others:
            self._end_line(keep_empty=True)
            self._line.append(line)

    def _end_line(self, *, keep_empty: bool) -> None:
        joined = "".join(self._line)
        line = joined.rstrip() if self._pre else _BLANKS.sub(" ", joined).strip()
        self._line.clear()
        if line or (keep_empty and self._cell):
            self._cell.append(line.replace("\N{NO-BREAK SPACE}", " "))

    def _end_cell(self) -> None:
        self._end_line(keep_empty=False)
        if self._cell or self._in_cell:
            self._row.append(self._cell)
            self._cell = []

    def _end_row(self) -> None:
        self._end_cell()
        if any(self._row):
            self.rows.append(self._row)
        self._row = []


def _hides(tag: Tag) -> bool:
    attributes = tag.attributes[:_HIDDEN_WITHIN]
    return bool(_UNSEEN.search(attributes) or _HIDDEN.search(_QUOTED.sub("''", attributes)))


def _pages(rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """At least one page; a row of a table is never parted unless it is longer than a page."""
    text: list[str] = []
    layout: list[str] = []
    size = 0
    for lines, laid in _laid(rows):
        for part, laid_part in _parts(lines, laid):
            grown = max(sum(map(len, part)), sum(map(len, laid_part)))
            if text and (len(text) + len(part) > PAGE_LINES or size + grown > PAGE_CHARACTERS):
                yield "\n".join(text), "\n".join(layout)
                text, layout, size = [], [], 0
            text += part
            layout += laid_part
            size += grown
    yield "\n".join(text), "\n".join(layout)


def _parts(lines: list[str], laid: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """A row whole if it fits a page, else line by line."""
    if max(len(lines), len(laid)) <= PAGE_LINES and sum(map(len, lines)) <= PAGE_CHARACTERS:
        yield lines, laid
        return
    for place in range(max(len(lines), len(laid))):
        yield lines[place : place + 1], laid[place : place + 1]


def _laid(rows: Iterable[Row]) -> Iterator[tuple[list[str], list[str]]]:
    """Each row as text, cell after cell, and as layout, cells side by side and in line with the rows around."""
    for is_table, group in groupby(rows, key=lambda row: len(row) > 1):
        if is_table:
            while together := list(islice(group, _TOGETHER)):
                yield from _table(together)
        else:
            for row in group:
                lines = [piece for line in row[0] for piece in _slices(line)]
                yield lines, lines


def _table(rows: Sequence[Row]) -> Iterator[tuple[list[str], list[str]]]:
    beside = [list(zip_longest(*row, fillvalue="")) for row in rows]
    laid = aligned([cells for row_lines in beside for cells in row_lines])
    for row, row_lines in zip(rows, beside, strict=True):
        yield _text(row), [piece for _ in row_lines for piece in _slices(next(laid))]


def _text(row: Sequence[Sequence[str]]) -> list[str]:
    filled = [cell for cell in row if cell]
    if all(len(cell) == 1 for cell in filled):
        return list(_slices("  ".join(cell[0] for cell in filled)))
    return [piece for cell in filled for line in cell for piece in _slices(line)]


def _slices(line: str) -> Iterator[str]:
    for start in range(0, max(len(line), 1), PAGE_CHARACTERS):
        yield line[start : start + PAGE_CHARACTERS]

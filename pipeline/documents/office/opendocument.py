"""Paragraphs, lists, tables and notes of OpenDocument content, and what its parts are called.

The content is one part for text, sheets and slides alike; what differs is what a table and a page are.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from typing import BinaryIO

from pipeline.config import LimitSettings
from pipeline.documents.office.files import Inside
from pipeline.documents.office.opendocument_lists import Lists
from pipeline.documents.office.packages import PIECE_BYTES, Package, holds
from pipeline.documents.office.text import Block, Lines, PageBuilder, grid
from pipeline.documents.office.xml import Attributes, attribute, read_xml
from pipeline.documents.parsing import faults_are_io, read_edges
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

FILES = Inside(embedded=(), pictures=("pictures/",))
CONTENT, STYLES, _MANIFEST = "content.xml", "styles.xml", "meta-inf/manifest.xml"
MAX_HELD_CHARACTERS = 30_000_000
_MAX_SPACES = 200
_MAX_SPAN = 63
_ROWS_AT_ONCE = 200
_TAB_LAYOUT = "    "
_FLAT = b"urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_SKIPPED = frozenset(
    {
        "tracked-changes", "note-citation", "ruby-text", "forms", "title", "desc", "hidden-text", "hidden-paragraph",
        "scripts", "creator", "date", "sender-initials", "initials", "database-range", "content-validations", "math",
    }
)  # fmt: skip
_MARGINS = frozenset({"header", "footer", "header-left", "footer-left", "header-first", "footer-first"})


class OpenDocumentKind(enum.Enum):
    """The kinds of OpenDocument: how their media types go on, today's and OpenOffice's first, and their names end."""

    TEXT = (b"text", b"writer", (".odt", ".ott", ".fodt", ".sxw", ".odm"))
    SHEETS = (b"spreadsheet", b"calc", (".ods", ".ots", ".fods", ".sxc"))
    SLIDES = (b"presentation", b"impress", (".odp", ".otp", ".fodp", ".sxi"))

    def __init__(self, word: bytes, old_word: bytes, endings: tuple[str, ...]) -> None:
        self.marks = (b"application/vnd.oasis.opendocument." + word, b"application/vnd.sun.xml." + old_word)
        self.endings = endings

    def recognises(self, head: bytes, tail: bytes, name: str) -> bool:
        """By the media type that stands first in the package; by the name where a package does not say."""
        if not head.startswith(b"PK"):
            return _FLAT in head and b"mimetype" in head and any(mark in head for mark in self.marks)
        said = [kind for kind in OpenDocumentKind if any(mark in head[:120] for mark in kind.marks)]
        if said or not (holds(tail, b"content.xml") and holds(tail, b"meta-inf/manifest.xml")):
            return self in said
        ending = next((kind for kind in OpenDocumentKind if name.lower().endswith(kind.endings)), None)
        return (ending or OpenDocumentKind.TEXT) is self


class Source:
    """Where content and styles come from: a package, or one flat XML file."""

    def __init__(self, file: BinaryIO, limits: LimitSettings) -> None:
        """Raises DocumentError: empty_file, needs_password, unsupported, truncated, corrupt, bomb."""
        head, _ = read_edges(file)
        self._file = file
        self.package = None if _FLAT in head and not head.startswith(b"PK") else Package(file, limits)
        if self.package:
            _check_readable(self.package)

    def read(self, part: str, listener: Story | Margins | Lists) -> None:
        """Tell `listener` of a part; a flat file is all parts at once. Raises DocumentError."""
        if self.package:
            read_xml(self.package.pieces(part), listener, part) if self.package.has(part) else None
        else:
            read_xml(self._flat_pieces(), listener, part)

    def _flat_pieces(self) -> Iterable[bytes]:
        self._file.seek(0)
        while piece := self._read_piece():
            yield piece

    def _read_piece(self) -> bytes:
        with faults_are_io():
            return self._file.read(PIECE_BYTES)


def _check_readable(package: Package) -> None:
    manifest = b"".join(package.pieces(_MANIFEST)) if package.size(_MANIFEST) < PIECE_BYTES * 16 else b""
    if b"encryption-data" in manifest or package.has("encrypted-package"):
        raise DocumentError(Reason.NEEDS_PASSWORD, "the document is encrypted; save it without a password")
    if not package.has(CONTENT):
        raise DocumentError(Reason.UNSUPPORTED, "the package has no part content.xml: no OpenDocument")


class Story:
    """Listens to content and writes its lines; pages end where a style, a slide or the program last ended them."""

    def __init__(self, lines: Lines, lists: Lists | None = None) -> None:
        self.pages = lines if isinstance(lines, PageBuilder) else None
        self._lists = lists
        self.targets: list[Lines] = [lines]
        self._runs: list[list[str]] = []
        self._tables: list[list[list[Block]]] = []
        self._spans: list[int] = []
        self._breaks: set[str] = set()
        self._style = ""
        self._skip = 0
        self._inside = 0
        self._held = 0
        self._row_breaks = False
        self.starts = self._starters()
        self.ends = self._enders()

    def _starters(self) -> dict[str, Callable[[Attributes], None]]:
        return {
            "body": self._start_body,
            "style": self._on_style,
            "paragraph-properties": self._on_properties,
            "properties": self._on_properties,
            "p": self._start_paragraph,
            "h": self._start_paragraph,
            "s": self._on_spaces,
            "tab": lambda _: self._write("\t"),
            "tab-stop": lambda _: self._write("\t") if self._runs else None,
            "line-break": lambda _: self._write("\n"),
            "soft-page-break": lambda _: self.end_page(),
            "note-body": lambda _: self.targets.append(Block()),
            "footnote-body": lambda _: self.targets.append(Block()),
            "endnote-body": lambda _: self.targets.append(Block()),
            "annotation": lambda _: self.targets.append(Block()),
            "text-box": lambda _: self.targets.append(Block()),
            "table": self.start_table,
            "table-row": self.start_row,
            "table-cell": self.start_cell,
            "covered-table-cell": self.start_cell,
        }

    def _enders(self) -> dict[str, Callable[[], None]]:
        return {
            "body": self._end_body,
            "p": self._end_paragraph,
            "h": self._end_paragraph,
            "note-body": self._end_note,
            "footnote-body": self._end_note,
            "endnote-body": self._end_note,
            "annotation": self._end_annotation,
            "text-box": self._end_box,
            "table": self.end_table,
            "table-row": self.end_row,
            "table-cell": self.end_cell,
            "covered-table-cell": self.end_cell,
        }

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if self._skip or tag in _SKIPPED:
            self._skip += 1
            return
        if self._lists and self._inside:
            self._lists.in_body(tag, attributes)
        handler = self.starts.get(tag)
        if handler and (self._inside or tag in ("body", "style", "paragraph-properties", "properties")):
            handler(attributes)

    def end(self, tag: str) -> None:
        """An element ends."""
        if self._skip:
            self._skip -= 1
            return
        if self._lists and self._inside:
            self._lists.out_of_body(tag)
        handler = self.ends.get(tag)
        if handler and self._inside:
            handler()

    def text(self, data: str) -> None:
        """Characters; those between paragraphs are no text."""
        if self._runs and self._inside and not self._skip:
            self._write(data.replace("\n", " ") if "\n" in data else data)

    def _write(self, data: str) -> None:
        if not self._runs:
            return
        self._runs[-1].append(data)
        self._held += len(data)
        if self._held > MAX_HELD_CHARACTERS:
            raise DocumentError(
                Reason.BOMB,
                f"a paragraph, table or note has more than {MAX_HELD_CHARACTERS:,} characters, as many as are held",
            )

    def _start_body(self, _: Attributes) -> None:
        self._inside += 1

    def _end_body(self) -> None:
        self._inside -= 1

    def _on_style(self, attributes: Attributes) -> None:
        self._style = attribute(attributes, "name") or ""
        if attribute(attributes, "master-page-name") and attribute(attributes, "family") == "paragraph":
            self._breaks.add(self._style)

    def _on_properties(self, attributes: Attributes) -> None:
        if attribute(attributes, "break-before") == "page":
            self._breaks.add(self._style)

    def _start_paragraph(self, attributes: Attributes) -> None:
        if attribute(attributes, "style-name") in self._breaks:
            self.end_page()
        self._runs.append([])
        label = self._lists.label() if self._lists else ""
        if label:
            self._runs[-1].append(f"{label} ")

    def _end_paragraph(self) -> None:
        if self._runs:
            self._emit(self._runs.pop())

    def _emit(self, runs: list[str]) -> None:
        text = "".join(runs).replace("\u00ad", "")
        self.targets[-1].line(text, text.replace("\t", _TAB_LAYOUT) if "\t" in text else None)
        self._let_go()

    def _let_go(self) -> None:
        if self.pages and len(self.targets) == 1:
            self._held = 0

    def _on_spaces(self, attributes: Attributes) -> None:
        count = attribute(attributes, "c") or "1"
        self._write(" " * min(int(count), _MAX_SPACES) if count.isdecimal() and len(count) < 9 else " ")

    def end_page(self) -> None:
        """The page ends here, within a table with its row; a box or a margin has no pages."""
        if not self.pages:
            return
        if len(self.targets) > 1:
            self._row_breaks = bool(self._tables)
            return
        if self._runs and "".join(self._runs[-1]).strip():
            self._emit(self._runs[-1])
            self._runs[-1].clear()
        self.pages.end_page()

    def _end_note(self) -> None:
        note = self.targets.pop()
        if isinstance(note, Block) and self.pages:
            self.pages.pending.append(note)

    def _end_annotation(self) -> None:
        note = self.targets.pop()
        if isinstance(note, Block) and self.pages and any(line.strip() for line in note.text):
            note.text.insert(0, "Comment:")
            note.layout.insert(0, "Comment:")
            self.pages.pending.append(note)

    def _end_box(self) -> None:
        box = self.targets.pop()
        if isinstance(box, Block):
            box.pour(self.targets[-1])

    def start_table(self, attributes: Attributes) -> None:
        """A table begins."""
        self._tables.append([])

    def start_row(self, attributes: Attributes) -> None:
        """A row begins."""
        if self._tables:
            self._tables[-1].append([])

    def start_cell(self, attributes: Attributes) -> None:
        """A cell begins; one that another covers is empty."""
        self._spans.append(repeats(attributes, "number-columns-repeated", _MAX_SPAN))
        self.targets.append(Block())

    def end_cell(self) -> None:
        """A cell ends."""
        cell, repeated = self.targets.pop(), self._spans.pop()
        if self._tables and self._tables[-1] and isinstance(cell, Block):
            self._tables[-1][-1].extend([cell] * repeated)

    def end_row(self) -> None:
        """A row ends."""
        if self._tables and (self._row_breaks or len(self._tables[-1]) >= _ROWS_AT_ONCE):
            self._write_rows(self._tables[-1])
        if self._row_breaks and self.pages and len(self.targets) == 1:
            self._row_breaks = False
            self.pages.end_page()

    def end_table(self) -> None:
        """A table ends."""
        if self._tables:
            self._write_rows(self._tables.pop())

    def _write_rows(self, rows: list[list[Block]]) -> None:
        for text, layout in grid(rows):
            self.targets[-1].line(text, layout)
        rows.clear()
        self._let_go()


class Margins:
    """Listens to the styles and keeps headers and footers, each text once."""

    def __init__(self) -> None:
        self.headers: dict[str, Block] = {}
        self.footers: dict[str, Block] = {}
        self._story: Story | None = None
        self._block = Block()
        self._in_master = False

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if self._story:
            self._story.start(tag, attributes)
        elif tag == "master-page":
            self._in_master = True
        elif self._in_master and tag in _MARGINS:
            self._block = Block()
            self._story = Story(self._block)
            self._story.start("body", {})

    def end(self, tag: str) -> None:
        """An element ends."""
        if self._story and tag in _MARGINS:
            self._story, trimmed = None, Block()
            self._block.pour(trimmed)
            if trimmed.text:
                kept = self.headers if tag.startswith("header") else self.footers
                kept.setdefault("\n".join(trimmed.text), trimmed)
        elif self._story:
            self._story.end(tag)
        elif tag == "master-page":
            self._in_master = False

    def text(self, data: str) -> None:
        """Characters."""
        if self._story:
            self._story.text(data)


def repeats(attributes: Attributes, name: str, most: int) -> int:
    """How often an element stands for itself, at least once and at most `most` times."""
    value = attribute(attributes, name) or "1"
    return max(1, min(int(value), most)) if value.isascii() and value.isdecimal() and len(value) < 10 else 1

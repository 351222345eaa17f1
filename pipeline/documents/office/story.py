"""Paragraphs, tables and text boxes of Word and DrawingML markup, as a reader meets them.

What is not on paper is left out: tracked deletions, hidden runs, field codes, the second of two versions of a drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pipeline.documents.office.symbols import symbol
from pipeline.documents.office.text import Block, Lines, PageBuilder, grid
from pipeline.documents.office.word_numbering import Numbering
from pipeline.documents.office.xml import Attributes, attribute
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_SKIPPED = frozenset(
    {
        "del", "moveFrom", "rPr", "tabs", "tblPr", "trPr", "sdtPr",
        "sdtEndPr", "instrText", "delText", "delInstrText", "rt", "ffData", "fldData",
        "binData", "tblGrid", "pPrChange", "sectPrChange", "numberingChange", "clrMapOvr",
    }
)  # fmt: skip
_TAB_LAYOUT = "    "
_ROWS_AT_ONCE = 200
MAX_HELD_CHARACTERS = 30_000_000
_MAX_SPAN = 63
_FALSE = ("0", "false", "off")


@dataclass(slots=True)
class _Table:
    """A table in the making; `breaks` says that a page ends with the row at hand."""

    rows: list[list[Block]] = field(default_factory=list)
    row: list[Block] | None = None
    span: int = 1
    breaks: bool = False


@dataclass(slots=True)
class _Paragraph:
    """A paragraph in the making, with what numbers it."""

    runs: list[str] = field(default_factory=list)
    number: str | None = None
    level: str | None = None
    style: str | None = None
    ends_section: bool = False


class Story:
    """Listens to one part and writes its lines. `notes` maps "footnote 2" to what is written at the page's end."""

    def __init__(
        self, lines: Lines, numbering: Numbering | None = None, notes: Mapping[str, Block] | None = None
    ) -> None:
        self._pages = lines if isinstance(lines, PageBuilder) else None
        self._numbering = numbering
        self._notes = dict(notes or {})
        self._targets: list[Lines] = [lines]
        self._paragraphs: list[_Paragraph] = []
        self._tables: list[_Table] = []
        self._choices: list[int] = []
        self._skip = 0
        self._skip_root = ""
        self._hearing = self._hidden = self._in_properties = self._continues = False
        self._heard = self._held = 0
        self._section_page = 0
        self._starts = self._starters()
        self._ends = self._enders()

    def _starters(self) -> dict[str, Callable[[Attributes], None]]:
        return {
            "t": self._start_text,
            "p": self._start_paragraph,
            "pPr": self._start_properties,
            "ilvl": self._on_level,
            "numId": self._on_number,
            "pStyle": self._on_style,
            "pageBreakBefore": self._on_break_before,
            "tbl": lambda _: self._tables.append(_Table()),
            "tr": self._start_row,
            "tc": self._start_cell,
            "gridSpan": self._on_span,
            "txbxContent": lambda _: self._targets.append(Block()),
            "AlternateContent": lambda _: self._choices.append(-1),
            "Choice": self._start_choice,
            "Fallback": self._start_fallback,
            "br": self._on_break,
            "cr": lambda _: self._write("\n"),
            "tab": self._on_tab,
            "ptab": lambda _: self._write("\t"),
            "noBreakHyphen": lambda _: self._write("-"),
            "sym": self._on_symbol,
            "lastRenderedPageBreak": lambda _: self._end_page(),
            "footnoteReference": lambda attributes: self._refer("footnote", attributes),
            "endnoteReference": lambda attributes: self._refer("endnote", attributes),
            "commentReference": lambda attributes: self._refer("comment", attributes),
            "type": self._on_section_type,
            "sectPr": self._start_section,
        }

    def _enders(self) -> dict[str, Callable[[], None]]:
        return {
            "t": self._end_text,
            "r": self._end_run,
            "p": self._end_paragraph,
            "pPr": self._end_properties,
            "tr": self._end_row,
            "tc": self._end_cell,
            "tbl": self._end_table,
            "txbxContent": self._end_box,
            "AlternateContent": self._end_alternatives,
            "sectPr": self._end_section,
        }

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""
        if self._skip:
            self._skip += 1
            if tag == "vanish" and self._skip_root == "rPr" and not self._in_properties:
                self._hidden = attribute(attributes, "val") not in _FALSE
        elif tag in _SKIPPED:
            self._skip, self._skip_root = 1, tag
        elif handler := self._starts.get(tag):
            handler(attributes)

    def end(self, tag: str) -> None:
        """An element ends."""
        if self._skip:
            self._skip -= 1
        elif handler := self._ends.get(tag):
            handler()

    def text(self, data: str) -> None:
        """Characters; those between elements are no text."""
        if self._hearing and not self._skip and not self._hidden:
            self._write(data)

    def _write(self, data: str) -> None:
        if self._paragraphs and not self._hidden:
            self._paragraphs[-1].runs.append(data)
            self._heard += len(data)
            self._held += len(data)
            if self._held > MAX_HELD_CHARACTERS:
                raise DocumentError(
                    Reason.BOMB,
                    f"a paragraph, table or note has more than {MAX_HELD_CHARACTERS:,} characters, as many as are held",
                )

    def _start_text(self, _: Attributes) -> None:
        self._hearing = True

    def _end_text(self) -> None:
        self._hearing = False

    def _end_run(self) -> None:
        self._hidden = False

    def _start_paragraph(self, _: Attributes) -> None:
        self._paragraphs.append(_Paragraph())

    def _end_paragraph(self) -> None:
        if self._paragraphs:
            paragraph = self._paragraphs.pop()
            self._emit(paragraph.runs)
            if paragraph.ends_section:
                self._turn_section()

    def _emit(self, runs: list[str]) -> None:
        text = "".join(runs).strip("\n")
        if self._pages and len(self._targets) == 1:
            self._held = 0
        self._targets[-1].line(text, text.replace("\t", _TAB_LAYOUT) if "\t" in text else None)

    def _start_properties(self, _: Attributes) -> None:
        self._in_properties = True

    def _end_properties(self) -> None:
        self._in_properties = False
        if self._paragraphs and self._numbering:
            paragraph = self._paragraphs[-1]
            label = self._numbering.label(paragraph.number, paragraph.level, paragraph.style)
            if label:
                paragraph.runs.append(f"{label} ")

    def _on_level(self, attributes: Attributes) -> None:
        if self._paragraphs:
            self._paragraphs[-1].level = attribute(attributes, "val")

    def _on_number(self, attributes: Attributes) -> None:
        if self._paragraphs:
            self._paragraphs[-1].number = attribute(attributes, "val")

    def _on_style(self, attributes: Attributes) -> None:
        if self._paragraphs:
            self._paragraphs[-1].style = attribute(attributes, "val")

    def _on_break_before(self, attributes: Attributes) -> None:
        if attribute(attributes, "val") not in _FALSE:
            self._end_page()

    def _on_tab(self, _: Attributes) -> None:
        if not self._in_properties:
            self._write("\t")

    def _on_symbol(self, attributes: Attributes) -> None:
        self._write(symbol(attribute(attributes, "font") or "", attribute(attributes, "char") or ""))

    def _on_break(self, attributes: Attributes) -> None:
        if attribute(attributes, "type") == "page":
            self._end_page()
        else:
            self._write("\n")

    def _end_page(self) -> None:
        """The page ends here, within a table with its row; a box or a header has no pages."""
        if not self._pages or self._hidden:
            return
        if len(self._targets) > 1:
            if self._tables:
                self._tables[0].breaks = True
            return
        if self._paragraphs and "".join(self._paragraphs[-1].runs).strip():
            self._emit(self._paragraphs[-1].runs)
            self._paragraphs[-1].runs.clear()
        if self._pages.empty:
            self._section_page = 0  # the section begins with a page of its own, whatever it says
        self._pages.end_page()

    def _refer(self, kind: str, attributes: Attributes) -> None:
        note = None if self._hidden else self._notes.pop(f"{kind} {attribute(attributes, 'id')}", None)
        if note and self._pages:
            self._pages.pending.append(note)

    def _start_section(self, _: Attributes) -> None:
        """A section's properties stand at its end, but say how it began."""
        self._continues = False

    def _on_section_type(self, attributes: Attributes) -> None:
        self._continues = attribute(attributes, "val") == "continuous"

    def _end_section(self) -> None:
        """Those of a section before the last stand in its last paragraph, whose text is still to come."""
        if self._paragraphs:
            self._paragraphs[-1].ends_section = True
        else:
            self._turn_section()

    def _turn_section(self) -> None:
        if self._pages and len(self._targets) == 1:
            self._end_page()
            if self._continues:
                self._pages.join(self._section_page)
            self._section_page = self._pages.count

    def _start_row(self, _: Attributes) -> None:
        if self._tables:
            self._tables[-1].row = []

    def _start_cell(self, _: Attributes) -> None:
        if self._tables:
            self._tables[-1].span = 1
            self._targets.append(Block())

    def _on_span(self, attributes: Attributes) -> None:
        value = attribute(attributes, "val") or ""
        if self._tables and value.isdecimal() and len(value) < 3:
            self._tables[-1].span = min(int(value), _MAX_SPAN)

    def _end_cell(self) -> None:
        if not self._tables:
            return
        cell = self._targets.pop()
        row = self._tables[-1].row
        if row is not None and isinstance(cell, Block):
            row.append(cell)
            row.extend(Block() for _ in range(self._tables[-1].span - 1))

    def _end_row(self) -> None:
        if not self._tables or self._tables[-1].row is None:
            return
        table = self._tables[-1]
        table.rows.append(table.row or [])
        table.row = None
        if table.breaks or len(table.rows) >= _ROWS_AT_ONCE:
            self._write_rows(table)
        if table.breaks and self._pages and len(self._tables) == 1:
            table.breaks = False
            self._pages.end_page()

    def _end_table(self) -> None:
        if self._tables:
            self._write_rows(self._tables.pop())

    def _write_rows(self, table: _Table) -> None:
        for text, layout in grid(table.rows):
            self._targets[-1].line(text, layout)
        table.rows = []
        if self._pages and len(self._targets) == 1:
            self._held = 0

    def _end_box(self) -> None:
        """A box's lines stand before the paragraph that it is anchored in."""
        box = self._targets.pop()
        if isinstance(box, Block):
            box.pour(self._targets[-1])

    def _start_choice(self, _: Attributes) -> None:
        if self._choices:
            self._choices[-1] = self._heard

    def _start_fallback(self, _: Attributes) -> None:
        """The fallback repeats the choice, unless that had no text for us."""
        if self._choices and -1 < self._choices[-1] < self._heard:
            self._skip, self._skip_root = 1, "Fallback"

    def _end_alternatives(self) -> None:
        if self._choices:
            self._choices.pop()

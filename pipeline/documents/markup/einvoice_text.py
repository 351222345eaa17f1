"""An electronic invoice as a person would read it: labels and values, lines as rows, then what has no label here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.documents.markup import einvoice_tables
from pipeline.documents.markup.xml_text import MAX_DEPTH, Enough, label, words_of
from pipeline.documents.rows import aligned

MAX_TREE_ELEMENTS = 200_000  # a large invoice has 10,000 lines of 20 elements
_STEP = re.compile(r"([^\[@]+)(?:\[(\w+)=(\w+)\])?(?:@(\w+))?")
_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)")
_CODES = {
    "380": "invoice", "381": "credit note", "384": "corrected invoice", "389": "self-billed invoice",
    "326": "partial invoice", "386": "prepayment invoice", "TD01": "invoice", "TD02": "advance on an invoice",
    "TD04": "credit note", "TD05": "debit note", "TD06": "fee note", "TD24": "deferred invoice",
}  # fmt: skip


@dataclass(slots=True)
class Element:
    """An element with its text and children; `told` once a label or a row has shown it."""

    name: str
    attributes: Mapping[str, str]
    text: str
    children: list[Element]
    told: bool = False


class ElementTree:
    """A receiver that keeps the document as elements; `root` is None when it has more than MAX_TREE_ELEMENTS."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._text: list[str] = []
        self._count = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element. Raises Enough when there are too many."""
        self._count += 1
        if self._count > MAX_TREE_ELEMENTS:
            self.root = None
            raise Enough
        self._settle()
        element = Element(name, attributes, "", [])
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def text(self, text: str) -> None:
        """Collect the text of the innermost element."""
        self._text.append(text)

    def end(self) -> None:
        """End an element."""
        self._settle()
        self._open.pop()

    def _settle(self) -> None:
        """Give the innermost element its text; what stands after a child becomes a child of its own."""
        words = "".join(self._text)
        self._text.clear()
        if not words.strip() or not self._open:
            return
        if self._open[-1].children:
            self._open[-1].children.append(Element("text", {}, words, []))
        else:
            self._open[-1].text = words


def pages(root: Element, kind: str) -> Iterator[str]:
    """One text an invoice: a FatturaPA may hold several. `kind` as einvoice_xml.kind_of says."""
    syntax = einvoice_tables.SYNTAXES[kind]
    bodies = _find(root, syntax.body) if syntax.body else [root]
    for number, body in enumerate(bodies or [root]):
        lines = [*_labels(root, body, syntax), "", *_tables(body, syntax), *_amounts(body, syntax)]
        for other in bodies if number == 0 else ():
            other.told = other is not body
        rest = list(_rest(body if number else root, 0))
        for other in bodies:
            other.told = False
        yield "\n".join([*lines, *(["", "Also in the file:", *rest] if rest else [])])


def _labels(root: Element, body: Element, syntax: einvoice_tables.Syntax) -> Iterator[str]:
    for name, path in syntax.header:
        yield from _told(name, root, path)
    if body is not root:
        for name, path in syntax.body_header:
            yield from _told(name, body, path)


def _amounts(body: Element, syntax: einvoice_tables.Syntax) -> Iterator[str]:
    for name, path in syntax.amounts:
        yield from _told(name, body, path)


def _told(name: str, parent: Element, path: str) -> Iterator[str]:
    """A line a value; a path that ends in `*` joins all values below it."""
    glue = {"*": ", ", "+": ""}.get(path[-1])
    for element in _find(parent, path.rstrip("/*+")):
        values = list(_values(element)) if glue is not None else [_value(element)]
        words = (", " if glue is None else glue).join(each for each in values if each)
        if words:
            yield f"{name}: {words}"


def _values(element: Element) -> Iterator[str]:
    yield _value(element)
    for child in element.children:
        yield from _values(child)


def _value(element: Element) -> str:
    """The element's text, shown as a person writes it; marks it as told."""
    element.told = True
    words = words_of(element.text)
    date = _DATE.fullmatch(words) if element.attributes.get("format") == "102" else None
    if date:
        return "-".join(date.groups())
    if element.name.endswith(("TypeCode", "TipoDocumento")) and words in _CODES:
        return f"{words} ({_CODES[words]})"
    unit = element.attributes.get("currencyID", "")
    return f"{words} {unit}".strip()


def _tables(body: Element, syntax: einvoice_tables.Syntax) -> Iterator[str]:
    for table in syntax.tables:
        rows = [[_cell(row, column.paths) for column in table.columns] for row in _find(body, table.rows)]
        used = [number for number in range(len(table.columns)) if any(row[number] for row in rows)]
        if used:
            titles = [table.columns[number].title for number in used]
            yield from aligned([titles, *([row[number] for number in used] for row in rows)])
            yield ""


def _cell(row: Element, paths: Sequence[str]) -> str:
    values: list[str] = []
    for path in paths:
        attribute = path.partition("@")[2]
        for element in _find(row, path):
            values.append(element.attributes.get(attribute, "") if attribute else _bare(element))
    return ", ".join(dict.fromkeys(each for each in values if each))


def _bare(element: Element) -> str:
    """The value without its currency, which a column has once for all."""
    element.told = True
    return words_of(element.text)


def _find(parent: Element, path: str) -> list[Element]:
    """Elements by a path as `Party/ID[schemeID=VA]`; `A|B` is either name; an attribute at its end is not looked at."""
    found = [parent]
    for step in path.split("/"):
        match = _STEP.fullmatch(step)
        if match is None:
            raise ValueError(path)
        names, key, value = match[1].split("|"), match[2], match[3]
        found = [
            child
            for element in found
            for child in element.children
            if child.name in names and (key is None or child.attributes.get(key) == value)
        ]
    return found


def _rest(element: Element, depth: int) -> Iterator[str]:
    """Lines for what has not been told, below the names of the elements it stands in."""
    if depth > MAX_DEPTH:
        return
    words = "" if element.told else words_of(element.text)
    inner = [line for child in element.children if not _skipped(child) for line in _rest(child, depth + 1)]
    if words or inner:
        name = label(element.name, element.attributes) if depth else element.name
        yield "  " * depth + (f"{name}: {words}" if words else name)
        yield from inner


def _skipped(element: Element) -> bool:
    return element.told and element.name == "FatturaElettronicaBody"

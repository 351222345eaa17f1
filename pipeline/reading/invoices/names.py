"""Who sends an invoice and who receives it: names of companies and people, found by label, address and letterhead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.reading.invoices.addressees import find_addressee
from pipeline.reading.invoices.addresses import FoundName
from pipeline.reading.invoices.letterhead import PRICE, find_sender
from pipeline.reading.invoices.naming import FROM_TO, HAS_FORM, ROUTE_WORDS, as_name
from pipeline.reading.invoices.tables import has_item_word, is_header
from pipeline.reading.labels import Kind, Label
from pipeline.reading.rows import Cell, Row, fold

_NAME_LINE = re.compile(r"(?:name|firma|company|nom|naam|nombre|nome|ragione sociale) ?: *(.*)$", re.IGNORECASE)
ROUTE_ROWS = 12
HEADING_CELLS = 3  # with a word for goods among them; an address beside two other columns has none
_LEADING = re.compile(r"\b(?:to|by|von|an|par|a|da|por|door|aan)$")
_TO = re.compile(r"(?:to|an|aan|para) ?: (?=\S)")
TO_WORDS = frozenset(word for words in FROM_TO.values() for word in words.split())


def find_buyer(rows: Sequence[Row]) -> FoundName | None:
    """The receiver: beside or under its label, else the addressee of the address window."""
    inline = under = None
    for place, cell, word in _routed(rows):
        if word not in FROM_TO:
            under = under or _beside(rows, place, cell, cell.end) or _under(rows, place, cell)
    for place, row in enumerate(rows):
        under = under or _opposite(rows, place)
        inline = inline or _addressed(row)
        for cell, end in _labels_of(row, Kind.BUYER):
            inline = inline or _inline(rows, place, cell, end) or _beside(rows, place, cell, end)
            under = under or _under(rows, place, cell)
    return inline or under or find_addressee(rows)


def _opposite(rows: Sequence[Row], place: int) -> FoundName | None:
    """The name under a mere "To" that stands in a row with the seller's heading."""
    row = rows[place]
    if not any(label.kind is Kind.SELLER for label in row.labels):
        return None
    heads = (cell for cell in row.cells if fold(cell.text).rstrip(" :") in TO_WORDS)
    return next((found for cell in heads if (found := _under(rows, place, cell))), None)


def _addressed(row: Row) -> FoundName | None:
    """The name behind "To:" at the beginning of a cell."""
    for cell in row.cells:
        match = _TO.match(row.folded[cell.start : cell.end])
        name = as_name(cell.text[match.end() :]) if match else None
        if name:
            return FoundName(name, row, "label", 0.75)
    return None


def find_seller(rows: Sequence[Row], buyer: FoundName | None) -> FoundName | None:
    """The sender: under its label, else the name that letterhead, footer, legal form and web domain agree on."""
    for place, row in enumerate(rows):
        for cell, end in _labels_of(row, Kind.SELLER):
            found = _inline(rows, place, cell, end) or _beside(rows, place, cell, end) or _under(rows, place, cell)
            if found and _differs(found.value, buyer):
                return found
    for place, cell, word in _routed(rows):
        if word not in FROM_TO:
            continue
        found = _beside(rows, place, cell, cell.end) or _under(rows, place, cell)
        if found and _differs(found.value, buyer):
            return found
    return find_sender([row for row in rows if not is_header(row)], buyer)


def _routed(rows: Sequence[Row]) -> Iterator[tuple[int, Cell, str]]:
    """The headings "From" and "To" of two address blocks, alone in cells: side by side, or "To" further down."""
    heads = [
        (place, cell, word)
        for place, row in enumerate(rows)
        for cell in row.cells
        if (word := fold(cell.text).rstrip(" :")) in ROUTE_WORDS
    ]
    for number, (place, cell, word) in enumerate(heads):
        for other in heads[number + 1 :]:
            near = rows[other[0]].page == rows[place].page and other[0] - place <= ROUTE_ROWS
            if near and other[2] in FROM_TO.get(word, "").split():
                yield place, cell, word
                yield other
                return


def _differs(name: str, buyer: FoundName | None) -> bool:
    return buyer is None or fold(buyer.value) != fold(name)


def _labels_of(row: Row, kind: Kind) -> Iterator[tuple[Cell, int]]:
    """Labels of a kind that open a cell and are part of neither a sentence nor, without a colon, a company's name."""
    for label in row.labels:
        cell = next((each for each in row.cells if _opens(each, label)), None)
        if label.kind is not kind or cell is None:
            continue
        rest = row.text[label.end : cell.end].lstrip()
        named = rest[:1] != ":" and HAS_FORM.search(cell.text) and not _LEADING.search(row.folded[: label.end])
        if not named and (not rest or rest[0] in ":(/" or as_name(rest)):
            yield cell, label.end


def _opens(cell: Cell, label: Label) -> bool:
    """Whether a label stands first in a cell, or second behind a stroke, as in "Consignee / Bill to"."""
    before = cell.text[: max(0, label.start - cell.start)].rstrip()
    return cell.start <= label.start < cell.end and (not before or (before[-1] in "/|" and len(before) < 20))


def _inline(rows: Sequence[Row], place: int, cell: Cell, end: int) -> FoundName | None:
    """The name after the colon of a label, or after "to" or "by"; in the next cell only if none is under the label."""
    row = rows[place]
    rest = row.text[end : cell.end].strip()
    if rest.strip(" :") and (rest.startswith(":") or _LEADING.search(row.folded[:end])):
        name = as_name(rest.strip(" :")) or _before_address(rest.strip(" :"))
        return FoundName(name, row, "label", 0.9 if rest.startswith(":") else 0.8) if name else None
    if rest == ":":
        after = next((each for each in row.cells if each.start >= cell.end), None)
        stands = any(_starts(each, cell) for each in rows[place + 1 : place + 2])
        name = as_name(after.text) if after and not (stands and _under(rows, place, cell)) else None
        return FoundName(name, row, "label", 0.85) if name else None
    return None


def _before_address(text: str) -> str | None:
    """The name that opens an address on one line."""
    parts = text.split(",")
    return as_name(parts[0]) if len(parts) > 2 and any(map(str.isdigit, text)) else None


def _beside(rows: Sequence[Row], place: int, cell: Cell, end: int) -> FoundName | None:
    """The name in the column right of a label that is alone in its cell, if no heading of columns can be meant.

    So it is where nothing stands under the label, or where another label does, with its own value beside it.
    """
    row = rows[place]
    after = next((each for each in row.cells if each.start >= cell.end), None)
    name = as_name(after.text) if after and end >= cell.end - 1 and not is_header(row) else None
    if after is None or name is None:
        return None
    near = [each for each in rows[max(0, place - 1) : place + 2] if each.page == row.page and each is not row]
    listed = any(_labelled(each, cell) and _starts(each, after) for each in near)
    alone = not any(_starts(each, cell) for each in rows[place + 1 : place + 2])
    return FoundName(name, row, "label", 0.7) if listed or alone else None


def _starts(row: Row, above: Cell) -> bool:
    return any(abs(each.start - above.start) <= 4 for each in row.cells)


def _labelled(row: Row, above: Cell) -> bool:
    return any(abs(label.start - above.start) <= 4 for label in row.labels)


def _under(rows: Sequence[Row], place: int, cell: Cell) -> FoundName | None:
    """The name in the rows under a label; a company there wins over the person printed above it."""
    first: FoundName | None = None
    for row in rows[place + 1 : place + 6]:
        if row.page != rows[place].page or _lists(row):
            break
        if named := _named(row, cell):
            return named
        below = next((each for each in row.cells if abs(each.start - cell.start) <= 4), None)
        name = as_name(below.text) if below else None
        if name is None:
            if first:
                break
            continue
        if HAS_FORM.search(name):
            return FoundName(name, row, "label", 0.91)
        first = first or FoundName(name, row, "label", 0.75)
    return first


def _lists(row: Row) -> bool:
    """Whether a row belongs to the list of items: a header, even of unusual words, or something with a price."""
    heads = len(row.cells) >= HEADING_CELLS and has_item_word(row)
    return heads or is_header(row) or (not row.labels and PRICE.fullmatch(row.cells[-1].text.strip("$€£ ")) is not None)


def _named(row: Row, label: Cell) -> FoundName | None:
    """The value of a line "Name: X" in the block under a label."""
    for position, cell in enumerate(row.cells):
        match = _NAME_LINE.match(cell.text)
        if match and abs(cell.start - label.start) <= 4:
            rest = match[1] or (row.cells[position + 1].text if position + 1 < len(row.cells) else "")
            name = as_name(rest)
            return FoundName(name, row, "label", 0.85) if name else None
    return None

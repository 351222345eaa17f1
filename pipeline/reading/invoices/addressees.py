"""The receiver of an invoice without a label: in the window of the letter, else the block that is not the sender's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.reading.invoices.addresses import FoundName, domains, is_comma_line, is_of, is_sender_line
from pipeline.reading.invoices.letterhead import LEAST, is_nobody, senders
from pipeline.reading.invoices.naming import HAS_FORM, POSTAL, as_name
from pipeline.reading.invoices.tables import headed, is_header
from pipeline.reading.labels import Kind
from pipeline.reading.rows import Cell, Row, fold

BLOCK_ROWS = 9
WINDOW_ROWS = 25
LEAST_WORDS = 2  # of a name that no label announces: one word is a family's name or a heading, half an answer
LEAST_ROWS = 5  # above a list of items; a header higher up is none
TOP_ROWS = 40
LETTERHEAD_ROWS = 2  # over a gap, a name as high as this is the sender's
_BARE_CODE = re.compile(r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}")
_NUMBERED = re.compile(r"^\d{1,4}[a-z]?,? \S|\d{1,4}[a-z]?$")
_CARE_OF = re.compile(r"c/o\b", re.IGNORECASE)
_NOT_THEIRS = frozenset({Kind.SHIP, Kind.SELLER})


def find_addressee(rows: Sequence[Row]) -> FoundName | None:
    """The name under a sender's line; else the first address block of the upper half that is not the sender's."""
    upper = _above_items(rows)
    window = _in_window(upper)
    if window:
        return window
    blocks = list({fold(name): (place, name) for place, name in _blocks(upper)}.values())[:3]
    sender = _sender(rows) if blocks else None
    others = [each for each in blocks if sender is None or fold(each[1]) != fold(sender)]
    if not others or (len(others) == len(blocks) == 1 and sender is None):
        return None
    if len(blocks) > 1 and len(others) == len(blocks):
        return _second(upper, blocks)
    place, name = others[0]
    return FoundName(name, upper[place], "pattern", 0.62)


def _sender(rows: Sequence[Row]) -> str | None:
    """The best name that has signs of a sender, whatever its legal form."""
    weighed = senders([row for row in rows if not is_header(row)])
    return next((each.found.value for each in weighed if each.signs >= LEAST), None)


def _above_items(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows above the list of items, where there is one: below it stands the sender's footer."""
    first = next((place for place, row in enumerate(rows) if is_header(row)), len(rows))
    return rows[:first] if first >= LEAST_ROWS else [row for row in rows if not is_header(row)]


def _second(rows: Sequence[Row], blocks: Sequence[tuple[int, str]]) -> FoundName:
    """Of two blocks the lower one, unless a web domain says that it is the sender's."""
    hosts = domains(rows)
    own = [any(is_of(name, domain) for domain in hosts) for _, name in blocks]
    place, name = blocks[0] if own[1] and not own[0] else blocks[1]
    return FoundName(name, rows[place], "pattern", 0.6 if any(own) else 0.45)


def _in_window(rows: Sequence[Row]) -> FoundName | None:
    for place, row in enumerate(rows[:WINDOW_ROWS]):
        for cell in row.cells:
            if is_sender_line(cell):
                found = _under(rows, place, cell)
                if found or not is_comma_line(cell):  # a letterhead on one line has nothing under it
                    return found
    return None


def _under(rows: Sequence[Row], place: int, sender: Cell) -> FoundName | None:
    for row in rows[place + 1 : place + 4]:
        cell = next((each for each in row.cells if abs(each.start - sender.start) <= 8), None)
        if cell is None or row.page != rows[place].page or _CARE_OF.match(cell.text) or is_nobody(cell.text):
            continue
        if name := as_name(cell.text):
            return FoundName(name, row, "pattern", 0.65)
    return None


def _blocks(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Address blocks in the upper half of the first page: place of the first line, and the name there."""
    top = [row for row in rows[:TOP_ROWS] if row.page == rows[0].page]
    for place, row in enumerate(top):
        for cell in row.cells:
            if POSTAL.search(cell.text) and not is_sender_line(cell):
                first = _climb(top, place, cell)
                if first is not None and not headed(top, first[0], cell.start, _NOT_THEIRS):
                    yield first


def _climb(rows: Sequence[Row], place: int, cell: Cell) -> tuple[int, str] | None:
    """The first line of the block that ends in a cell; where lines of other columns lie between, one gap is allowed."""
    found, missed = None, 0
    for upper in range(place - 1, max(-1, place - BLOCK_ROWS), -1):
        line = next((each for each in rows[upper].cells if abs(each.start - cell.start) <= 2), None)
        missed += line is None
        company = found is not None and HAS_FORM.search(found[1]) is not None
        if missed > 1 or (found and missed and (company or upper < LETTERHEAD_ROWS)) or (line and is_sender_line(line)):
            break
        if line is None:
            continue
        if found and _BARE_CODE.fullmatch(cell.text) and _NUMBERED.search(line.text):
            found = company = None  # the town stood alone between the street and its code
        name = _plain_name(line)
        if found and (name is None or company):
            break  # another block ends here: no address has a street above its name, nor somebody above a company
        found = (upper, name) if name else found
    return found


def _plain_name(line: Cell) -> str | None:
    name = None if _CARE_OF.match(line.text) or is_nobody(line.text) else as_name(line.text)
    if name is None or re.search(r"\d", name) or is_nobody(name):
        return None
    return name if len(name.split()) >= LEAST_WORDS else None

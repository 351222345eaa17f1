"""Addresses without labels: the window of a letter, the line of the sender above it, and blocks with a postcode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.reading.naming import HAS_FORM, POSTAL, SENDER_BREAK, as_name
from pipeline.reading.rows import Cell, Row, fold

_DOMAIN = re.compile(r"(?:@|www\.|https?://(?:www\.)?)([a-z0-9-]{2,40}(?:\.[a-z0-9-]{2,20}){1,3})")
_WORD = re.compile(r"[a-z0-9]{3,}")
_FREEMAIL = frozenset(
    {"gmail", "hotmail", "outlook", "yahoo", "example", "gmx", "web", "icloud", "aol", "live", "orange"}
)
BLOCK_ROWS = 6
_COMMA_BREAK = re.compile(r" ?[,;/] | [•·|*∙●▪⋅‧■◦–—-] ")


@dataclass(frozen=True, slots=True)
class FoundName:
    """A name, the row it stands in, how it was found (label or pattern) and how sure that is."""

    value: str
    row: Row
    method: str
    confidence: float


def find_addressee(rows: Sequence[Row]) -> FoundName | None:
    """The addressee without a label: under a sender line, or the second of the two address blocks of a letter."""
    for place, row in enumerate(rows[:25]):
        for cell in row.cells:
            if _sender_line(cell):
                found = _addressee(rows, place, cell)
                if found is None and _comma_line(cell):  # a letterhead on one line
                    continue
                return found or _first_block(rows)
    blocks = list({fold(name): (place, name) for place, name in _blocks(rows)}.values())[:2]
    if len(blocks) < 2:
        return None
    hosts = domains(rows)
    own = [any(is_of(name, domain) for domain in hosts) for _, name in blocks]
    place, name = blocks[0] if own[1] and not own[0] else blocks[1]
    return FoundName(name, rows[place], "pattern", 0.6 if any(own) else 0.45)


def _first_block(rows: Sequence[Row]) -> FoundName | None:
    """The first address block: the receiver's, where the sender's address is one line."""
    for place, name in _blocks(rows):
        return FoundName(name, rows[place], "pattern", 0.5)
    return None


def _addressee(rows: Sequence[Row], place: int, sender: Cell) -> FoundName | None:
    for row in rows[place + 1 : place + 4]:
        cell = next((each for each in row.cells if abs(each.start - sender.start) <= 8), None)
        name = as_name(cell.text) if cell else None
        if name:
            return FoundName(name, row, "pattern", 0.65)
    return None


def _sender_line(cell: Cell) -> bool:
    parts = [part for part in SENDER_BREAK.split(cell.text) if part]
    marked = len(parts) >= 3 and any(re.search(r"\d", part) for part in parts[1:]) and "http" not in cell.text
    return marked or _comma_line(cell)


def sender(cell: Cell) -> str | None:
    """The name that opens the line of a sender above the window, or None if the cell is no such line."""
    if not _sender_line(cell):
        return None
    return as_name((_COMMA_BREAK if _comma_line(cell) else SENDER_BREAK).split(cell.text, maxsplit=1)[0])


def _comma_line(cell: Cell) -> bool:
    """Whether a cell is a whole address on one line, with commas: a name, a house number, and a postcode last."""
    parts = [part.strip() for part in _COMMA_BREAK.split(cell.text[:160]) if part.strip()]
    if not 3 <= len(parts) <= 5 or re.search(r"\d", parts[0]) or as_name(parts[0]) is None:
        return False
    placed = next((place for place, part in enumerate(parts) if POSTAL.search(part)), 0)
    return placed >= 2 and any(re.search(r"\d", part) for part in parts[1:placed])


def _blocks(rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Address blocks in the upper half of the first page: place of the first line, and the name there."""
    top = [row for row in rows[:40] if row.page == rows[0].page]
    for place, row in enumerate(top):
        for cell in row.cells:
            if POSTAL.search(cell.text) and not _sender_line(cell):
                first = _climb(top, place, cell)
                if first is not None:
                    yield first


def _climb(rows: Sequence[Row], place: int, cell: Cell) -> tuple[int, str] | None:
    found, missed = None, 0
    for upper in range(place - 1, max(-1, place - BLOCK_ROWS), -1):
        line = next((each for each in rows[upper].cells if abs(each.start - cell.start) <= 2), None)
        if line is None:
            missed += 1
            if missed > 1:
                break
            continue
        if _sender_line(line):
            break
        name = as_name(line.text)
        plain = name is not None and not re.search(r"\d", name)
        if found and (not plain or (HAS_FORM.search(found[1]) and HAS_FORM.search(line.text))):
            break  # another block ends here: no address has a street above its name, nor two companies
        if name is not None and plain:
            found = (upper, name)
    return found


def domains(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(match[1] for row in rows for match in _DOMAIN.finditer(row.folded)))[:20]


def is_of(name: str, domain: str) -> bool:
    """Whether a web domain is made of the name's words: together four letters and most of the domain."""
    host = next((part for part in domain.split(".")[-2::-1] if part not in ("co", "com")), "")
    if host in _FREEMAIL:
        return False
    words = [word for word in _WORD.findall(fold(name)) if len(word) >= 3]
    covered = sum(len(word) for word in words if word in host)
    return covered >= 4 and covered * 10 >= 7 * len(host.replace("-", ""))

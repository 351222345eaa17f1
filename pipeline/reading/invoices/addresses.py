"""Addresses on one line, as the sender's above the window of a letter, and whose name a web domain is made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.reading.invoices.naming import POSTAL, SENDER_BREAK, as_name
from pipeline.reading.rows import Cell, Row, fold

_DOMAIN = re.compile(r"(?:@|www\.|https?://(?:www\.)?)([a-z0-9-]{2,40}(?:\.[a-z0-9-]{2,20}){1,3})")
_WORD = re.compile(r"[a-z0-9]{3,}")
_FREEMAIL = frozenset(
    {"gmail", "hotmail", "outlook", "yahoo", "example", "gmx", "web", "icloud", "aol", "live", "orange"}
)
_COMMA_BREAK = re.compile(r" ?[,;/] | [•·|*∙●▪⋅‧■◦–—-] ")


@dataclass(frozen=True, slots=True)
class FoundName:
    """A name, the row it stands in, how it was found (label or pattern) and how sure that is."""

    value: str
    row: Row
    method: str
    confidence: float


def is_sender_line(cell: Cell) -> bool:
    """Whether a cell is a name and an address on one line, as letters have it above the window."""
    parts = [part for part in SENDER_BREAK.split(cell.text) if part]
    marked = len(parts) >= 3 and any(re.search(r"\d", part) for part in parts[1:]) and "http" not in cell.text
    return marked or is_comma_line(cell)


def sender(cell: Cell) -> str | None:
    """The name that opens the line of a sender above the window, or None if the cell is no such line."""
    if not is_sender_line(cell):
        return None
    return as_name((_COMMA_BREAK if is_comma_line(cell) else SENDER_BREAK).split(cell.text, maxsplit=1)[0])


def is_comma_line(cell: Cell) -> bool:
    """Whether a cell is a whole address on one line, with commas: a name, a house number, and a postcode last."""
    parts = [part.strip() for part in _COMMA_BREAK.split(cell.text[:160]) if part.strip()]
    if not 3 <= len(parts) <= 5 or re.search(r"\d", parts[0]) or as_name(parts[0]) is None:
        return False
    placed = next((place for place, part in enumerate(parts) if POSTAL.search(part)), 0)
    return placed >= 2 and any(re.search(r"\d", part) for part in parts[1:placed])


def domains(rows: Sequence[Row]) -> list[str]:
    """The domains of web and mail addresses, in order."""
    return list(dict.fromkeys(match[1] for row in rows for match in _DOMAIN.finditer(row.folded)))[:20]


def is_of(name: str, domain: str) -> bool:
    """Whether a web domain is made of the name's words: together four letters and most of the domain."""
    host = next((part for part in domain.split(".")[-2::-1] if part not in ("co", "com")), "")
    if host in _FREEMAIL:
        return False
    words = [word for word in _WORD.findall(fold(name)) if len(word) >= 3]
    covered = sum(len(word) for word in words if word in host)
    return covered >= 4 and covered * 10 >= 7 * len(host.replace("-", ""))

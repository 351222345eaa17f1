"""What a label announces in words or figures: the rest of its cell, else the next cell, else the cell under it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.reading import amounts
from pipeline.reading.dates import find_dates
from pipeline.reading.identifiers import FoundIdentifier, find_bics
from pipeline.reading.invoices.tables import cells_below, is_header
from pipeline.reading.labels import Kind, Label, find_labels
from pipeline.reading.rows import Row, fold

_LEADING = " :.#°º-–\t"
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9/_.-]{1,30}[A-Za-z0-9](?: ?[/-] ?[A-Za-z0-9]{1,12})?")
_STRUCTURED = re.compile(r"\+{3}[\d/]{12,16}\+{3}|(?:RF\d\d)?(?: ?[A-Z0-9]{2,5}){3,7}")
_BIC_WORD = re.compile(r"\b(?:bic|swift)\b")


def find_code(rows: Sequence[Row], kind: Kind) -> tuple[str, Row, float] | None:
    """The number of an order or a reference behind its label, its row and how sure it is."""
    for place, row in enumerate(rows):
        for label in row.labels if not is_header(row) else ():
            if label.kind is not kind or not _opens(row, label):
                continue
            for text, where, trust in _values(rows, place, label):
                code = _as_code(text)
                if code:
                    return code, where, trust
    return None


def find_bic(rows: Sequence[Row], country: str | None) -> tuple[str, Row, float] | None:
    """The first BIC behind or under its label; surest where it is in the `country` of the IBAN."""
    found: list[tuple[str, Row, float]] = []
    for place, row in enumerate(rows):
        for each in find_bics(row.text):
            if _BIC_WORD.search(row.folded[max(0, each.start - 30) : each.start] + " " + _over(rows, place, each)):
                found.append((each.value, row, 0.95 if each.value[4:6] == country else 0.85))
    return max(found, key=lambda each: each[2], default=None)


def _over(rows: Sequence[Row], place: int, found: FoundIdentifier) -> str:
    above = rows[place - 1] if place else None
    cells = [cell for cell in above.cells if cell.overlaps(found.start - 1, found.end + 1)] if above else []
    return " ".join(fold(cell.text) for cell in cells)


def _opens(row: Row, label: Label) -> bool:
    """Whether a label stands first in its cell, or behind a comma: in the middle of a sentence it announces nothing."""
    before = row.text[: label.start].rstrip(" ")
    return before[-1:] in (",", ";", "|", "·") or any(cell.start == label.start for cell in row.cells)


def _values(rows: Sequence[Row], place: int, label: Label) -> Iterator[tuple[str, Row, float]]:
    row = rows[place]
    position = next(number for number, cell in enumerate(row.cells) if cell.start <= label.start < cell.end)
    rest = row.text[label.end : row.cells[position].end].strip(_LEADING)
    if rest:
        yield rest, row, 0.9
        return
    following = row.cells[position + 1 : position + 2]
    if following and not find_labels(fold(following[0].text)):
        yield following[0].text, row, 0.88
    for cell, under in cells_below(rows, place, label.start, label.end)[:1]:
        yield cell.text, under, 0.86


def _as_code(text: str) -> str | None:
    """The text as a number of something, or None: a date, money, or words alone are none."""
    text = text.strip(" ,;.")
    if not any(map(str.isdigit, text)) or find_labels(fold(text)):
        return None
    if find_dates(fold(text)) or any(each.cents or each.currency for each in amounts.find_amounts(text)):
        return None
    return text if _CODE.fullmatch(text) or _STRUCTURED.fullmatch(text) else None

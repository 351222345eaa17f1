"""The dates of an invoice: what a label left of or above them announces, else the date of the letterhead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.handling import Field
from pipeline.reading import dates
from pipeline.reading.invoices.sheet import Sheet, field
from pipeline.reading.invoices.tables import cells_below
from pipeline.reading.labels import Kind, Label
from pipeline.reading.rows import Row, fold

LETTERHEAD_ROWS = 25
UNDISPUTED = 0.91  # a date that a label announces, and no other one could be it
_PRINTED_DATE = re.compile(
    r"[ :.#°]{0,9}(?:nr\.? |no\.? )?(?:[a-z]{1,4} )?(?:[a-z/_.-]{0,12}\d[\w/_.-]{0,40})?[ ,]{1,5}"
    r"(?:du|vom|von|del|dated?|van|of|le|issued at|v\.)[ :]{1,3}"
)
_PAYABLE_BY = re.compile(r" {1,3}(?:on|by|before|am|bis|zum|le|avant le|op|voor|el|il|entro il)? {0,3}")
_NOTHING_BETWEEN = re.compile(
    r"[^a-z0-9]{0,120}(?:(?:the|on|am|le|el|il|op|is|by|zum|den|dem|del|du|vom|from|dal|von|van)\b[ :.]{1,3})?"
)
_DISCOUNT = re.compile(r" (?:mit|abzuglich|abzgl\.|less|with|avec|con|met) \d{1,2}(?:[.,]\d{1,2})? ?% ?[a-z]")
_TOWN = re.compile(r"[^\W\d_][\w .'/()-]{1,24}, ?(?:le |den |the |il |el )?\d")
_DATE_LABELS = {
    Kind.ISSUED: ("issue_date", 0.93),
    Kind.NUMBER: ("issue_date", 0.75),
    Kind.TITLE: ("issue_date", 0.65),
    Kind.DATE: ("issue_date", 0.7),
    Kind.DUE: ("due_date", 0.93),
    Kind.PAYABLE: ("due_date", 0.8),
    Kind.DELIVERY: ("delivery_date", 0.9),
}
_LOOSE = frozenset({Kind.NUMBER, Kind.TITLE})
_ABOVE = frozenset({Kind.ISSUED, Kind.DUE, Kind.DATE, Kind.DELIVERY, Kind.PERIOD})
_JOINING = re.compile(r"[^a-z0-9]{1,12}(?:bis|to|until|through|au|al|tot|t/m|a|hasta|fino al)?[^a-z0-9]{0,12}")


def find_dates(sheet: Sheet) -> Iterator[tuple[str, Field]]:
    """Each date by its name; of several that a label announces the best labelled, then the first."""
    best: dict[str, tuple[float, str, Row]] = {}
    for place, row in enumerate(sheet.rows):
        found = dates.find_dates(row.folded, day_first=sheet.day_first)
        for label in row.labels:
            for name, trust, value, where in _dated(sheet, place, label, found):
                if name not in best or trust > best[name][0]:
                    best[name] = (trust, value, where)
    others = {value for name, (_, value, _) in best.items() if name != "issue_date"}
    for name, (trust, value, row) in best.items():
        alone = name == "issue_date" and _heading_dates(sheet) - others <= {value}
        yield name, field(value, row, "label", max(trust, UNDISPUTED) if alone else trust)
    yield from _period(sheet)
    if "issue_date" not in best:
        yield from _letter_date(sheet)


def _heading_dates(sheet: Sheet) -> set[str]:
    """All dates near the top, and those that could be read as another day."""
    found = [
        date
        for row in sheet.rows[:LETTERHEAD_ROWS]
        for order in (True, False)
        for date in dates.find_dates(row.folded, day_first=order)
        if order == sheet.day_first or not date.certain
    ]
    return {date.value for date in found}


def _letter_date(sheet: Sheet) -> Iterator[tuple[str, Field]]:
    """The date of the letterhead, as in "Berlin, 1.2.2024": alone in its row's last cell, or behind a town in any."""
    for row in sheet.rows[:LETTERHEAD_ROWS]:
        for cell in row.cells:
            found = dates.find_dates(fold(cell.text), day_first=sheet.day_first)
            labelled = any(label.start >= cell.start for label in row.labels)
            if len(found) != 1 or len(cell.text) - found[0].end >= 3 or found[0].start >= 30 or labelled:
                continue
            if row.text[: cell.start + found[0].start].rstrip().endswith(":"):  # the date of something else
                continue
            if cell is row.cells[-1] or _TOWN.match(cell.text):
                yield "issue_date", field(found[0].value, row, "pattern", 0.5)
                return


def _period(sheet: Sheet) -> Iterator[tuple[str, Field]]:
    """The first and the last day of the first labelled period."""
    for place, row in enumerate(sheet.rows):
        for label in row.labels:
            if label.kind is not Kind.PERIOD:
                continue
            for where, found in ((row, _right(sheet, place, label)), *_below(sheet, place, label)):
                if len(found) > 1 and _JOINING.fullmatch(where.folded[found[0].end : found[1].start]):
                    yield "period_start", field(found[0].value, where, "label", 0.88)
                    yield "period_end", field(found[1].value, where, "label", 0.88)
                    return


def _dated(
    sheet: Sheet, place: int, label: Label, found: Sequence[dates.FoundDate]
) -> Iterator[tuple[str, float, str, Row]]:
    """The date that a label announces, right of it or under it."""
    row = sheet.rows[place]
    if label.kind not in _DATE_LABELS:
        return
    name, trust = _DATE_LABELS[label.kind]
    right = next((date for date in found if date.start >= label.end), None)
    if right and label.kind is Kind.DUE and _DISCOUNT.match(row.folded, right.end):
        later = next((date for date in found if date.value > right.value), None)  # the day without a discount
        if later:
            yield name, trust - 0.1, later.value, row
    elif right and _reaches(row, label, right, loose=label.kind in _LOOSE):
        yield name, trust - (0.0 if right.certain else 0.1), right.value, row
    elif label.kind in _ABOVE:
        for under, dated in _below(sheet, place, label)[:1]:
            yield name, trust - (0.05 if dated[0].certain else 0.1), dated[0].value, under


def _right(sheet: Sheet, place: int, label: Label) -> list[dates.FoundDate]:
    row = sheet.rows[place]
    found = [each for each in dates.find_dates(row.folded, day_first=sheet.day_first) if each.start >= label.end]
    return found if found and _reaches(row, label, found[0], loose=False) else []


def _below(sheet: Sheet, place: int, label: Label) -> list[tuple[Row, list[dates.FoundDate]]]:
    """The dates under a label, row by row, where the cell holds nothing else: from the first one that is under it."""
    found = []
    for cell, under in cells_below(sheet.rows, place, label.start, label.end):
        inside = [
            each
            for each in dates.find_dates(under.folded, day_first=sheet.day_first)
            if cell.start <= each.start and each.end <= cell.end
        ]
        if inside and sum(each.end - each.start for each in inside) >= len(cell.text) - 4 * len(inside):
            first = next((number for number, each in enumerate(inside) if each.end > label.start), 0)
            found.append((under, inside if len(inside) < 2 or label.kind is Kind.PERIOD else inside[first:]))
    return found


def _reaches(row: Row, label: Label, date: dates.FoundDate, *, loose: bool) -> bool:
    """Whether a date right of a label is the label's: no other label and no words between, unless "of" joins them."""
    between = row.folded[label.end : date.start]
    if any(label.end <= each.start < date.start and each.kind is not Kind.DATE for each in row.labels):
        return False
    allowed = _PRINTED_DATE if loose else _PAYABLE_BY if label.kind is Kind.PAYABLE else _NOTHING_BETWEEN
    return allowed.fullmatch(between) is not None

"""Net, tax, gross and the amount to pay: candidates by label and place, then the choice that adds up.

One row of a VAT table adds up as well as the whole invoice does, so arithmetic alone never decides: the gross amount
of a sum must be labelled as such or be printed again elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from pipeline.reading.amounts import FoundAmount, find_amounts
from pipeline.reading.dates import find_dates
from pipeline.reading.labels import AMOUNTS, Kind, Label
from pipeline.reading.rows import Cell, Row
from pipeline.reading.tables import has_item_word

CENT = Decimal("0.011")
MAX_TAX_SHARE = Decimal("0.35")  # of the gross amount; no country taxes more
MAX_SUMS = 40  # different amounts tried as a summand, so that a price list costs no more than an invoice

_LETTERS = re.compile(r"[^\W\d_]")
_LEADING_WORDS = 4
SUMMED = frozenset({Kind.NET, Kind.TAX, Kind.GROSS})
TABLE_ROWS = 8
COLUMN_REACH = 6  # characters between where a heading ends and where the amounts under it do


@dataclass(frozen=True, slots=True)
class Candidate:
    """A labelled amount: what the label says it is, and how far the place is to be trusted (0 to 1)."""

    kind: Kind
    value: Decimal
    row: Row
    confidence: float
    method: str = "label"


@dataclass(frozen=True, slots=True)
class Reading:
    """The labelled amounts of a document, all amounts with cents, and rows of three amounts that add up."""

    labelled: tuple[Candidate, ...]
    printed: Counter[Decimal]
    places: dict[Decimal, Row]
    triples: tuple[tuple[Candidate, Candidate, Candidate], ...]


def read(rows: Sequence[Row], *, comma: bool) -> Reading:
    """Everything that `choose` needs to know of a document. `comma` is the document's decimal mark."""
    amounts = [_amounts(row, comma) for row in rows]
    labelled = [each for place in range(len(rows)) for each in _labelled(rows, amounts, place)]
    places: dict[Decimal, Row] = {}
    printed: Counter[Decimal] = Counter()
    for row, found in zip(rows, amounts, strict=True):
        for amount in found:
            places[amount.value] = row
            printed[amount.value] += 1
    triples = [each for row, found in zip(rows, amounts, strict=True) for each in _triples(row, found)]
    return Reading(tuple(labelled), printed, places, tuple(triples))


def choose(reading: Reading) -> dict[Kind, Candidate]:
    """The amounts that fit together, else the best labelled ones. What has no label and no arithmetic is left out."""
    by_kind = {kind: [each for each in reading.labelled if each.kind is kind] for kind in AMOUNTS}
    chosen: dict[Kind, Candidate] = {}
    if by_kind[Kind.PAYABLE]:
        chosen[Kind.PAYABLE] = _best(by_kind[Kind.PAYABLE])
    sums = list(_sums(reading, by_kind))
    if sums:
        net, tax, gross = max(sums, key=_weight)
        chosen |= {Kind.NET: net, Kind.TAX: tax, Kind.GROSS: gross}
    else:
        chosen |= _unproved(by_kind)
    return chosen | _settled(chosen, by_kind)


def _settled(chosen: dict[Kind, Candidate], by_kind: dict[Kind, list[Candidate]]) -> dict[Kind, Candidate]:
    """What was paid before and what is left, where they make the gross amount; each proves the others."""
    gross, due = chosen.get(Kind.GROSS), chosen.get(Kind.PAYABLE)
    if gross is None or due is None:
        return {}
    for paid in by_kind[Kind.PREPAID]:
        if paid.value and abs(gross.value - abs(paid.value) - due.value) < CENT:
            prepaid = replace(_lifted(paid), value=abs(paid.value))
            return {Kind.PREPAID: prepaid, Kind.PAYABLE: _lifted(due), Kind.GROSS: _lifted(gross)}
    return {}


def _unproved(by_kind: dict[Kind, list[Candidate]]) -> dict[Kind, Candidate]:
    """The best by label alone. Of net and tax only what is not above the gross amount; of taxes only a single one."""
    gross = _gross_alone(by_kind)
    chosen = {Kind.GROSS: gross} if gross else {}
    for kind in (Kind.NET, Kind.TAX):
        fitting = [each for each in by_kind[kind] if gross is None or abs(each.value) <= abs(gross.value)]
        if fitting and (kind is Kind.NET or len({each.value for each in fitting}) == 1):
            best = _best(fitting)
            equal = gross is not None and best.value == gross.value
            chosen[kind] = replace(best, confidence=best.confidence * (0.9 if equal else 0.7))
    return chosen


def _gross_alone(by_kind: dict[Kind, list[Candidate]]) -> Candidate | None:
    if by_kind[Kind.GROSS]:
        return _best(by_kind[Kind.GROSS])
    if by_kind[Kind.PAYABLE]:
        due = _best(by_kind[Kind.PAYABLE])
        return replace(due, kind=Kind.GROSS, confidence=due.confidence * 0.8)
    return None


def _best(candidates: Sequence[Candidate]) -> Candidate:
    """Largest of the most trusted; of equals the first."""
    trust = max(each.confidence for each in candidates)
    return max((each for each in candidates if each.confidence > trust - 0.15), key=lambda each: abs(each.value))


def _weight(sum_: tuple[Candidate, Candidate, Candidate]) -> tuple[bool, Decimal, float]:
    net, tax, gross = sum_
    return gross.kind is Kind.GROSS, abs(gross.value), net.confidence + tax.confidence + gross.confidence


def _sums(reading: Reading, by_kind: dict[Kind, list[Candidate]]) -> Iterator[tuple[Candidate, Candidate, Candidate]]:
    """Every net + tax = gross with a labelled gross and tax; net labelled, or at least printed."""
    tops = _distinct(by_kind[Kind.GROSS] + by_kind[Kind.PAYABLE])
    taxes = _distinct(by_kind[Kind.TAX]) + _added(by_kind[Kind.TAX])
    for gross in tops:
        for tax in taxes:
            if _plausible(tax.value, gross.value):
                net = _net(gross, tax, by_kind[Kind.NET], reading)
                if net is not None:
                    yield _lifted(net), _lifted(tax), _lifted(gross)
    known = {each.value for each in tops}
    for net, tax, gross in reading.triples:
        if gross.value in known if known else reading.printed[gross.value] > 1:
            yield net, tax, gross


def _net(gross: Candidate, tax: Candidate, labelled: Iterable[Candidate], reading: Reading) -> Candidate | None:
    wanted = gross.value - tax.value
    for each in labelled:
        if abs(each.value - wanted) < CENT:
            return each
    row = reading.places.get(wanted)
    return None if row is None else Candidate(Kind.NET, wanted, row, 0.6, "arithmetic")


def _plausible(tax: Decimal, gross: Decimal) -> bool:
    """Whether a tax fits a gross amount: the same sign (a credit note has minus twice) and not too large."""
    return tax * gross >= 0 and abs(tax) <= abs(gross) * MAX_TAX_SHARE


def _lifted(candidate: Candidate) -> Candidate:
    """The same, more trusted: it fits into a sum."""
    return replace(candidate, confidence=min(0.97, candidate.confidence + 0.25))


def _distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    best: dict[Decimal, Candidate] = {}
    for each in candidates:
        if each.value not in best or (each.kind is Kind.GROSS, each.confidence) > (
            best[each.value].kind is Kind.GROSS,
            best[each.value].confidence,
        ):
            best[each.value] = each
    return sorted(best.values(), key=lambda each: -each.value)[:MAX_SUMS]


def _added(taxes: Sequence[Candidate]) -> list[Candidate]:
    """The sum of several tax rows (two rates), as one candidate."""
    distinct = _distinct(taxes)
    if len(distinct) < 2 or len(distinct) > 6:
        return []
    total = sum((each.value for each in distinct), Decimal(0))
    return [Candidate(Kind.TAX, total, distinct[0].row, 0.5, "arithmetic")]


def _amounts(row: Row, comma: bool) -> list[FoundAmount]:
    days = find_dates(row.folded)
    return [
        each
        for each in find_amounts(row.text, comma=comma)
        if not any(each.start < day.end and day.start < each.end for day in days)
    ]


def _triples(row: Row, amounts: Sequence[FoundAmount]) -> Iterator[tuple[Candidate, Candidate, Candidate]]:
    for (first, second), (_, third) in pairwise(pairwise(amounts)):
        adds_up = abs(first.value + second.value - third.value) < CENT
        if adds_up and first.cents and third.cents and second.value and _plausible(second.value, third.value):
            yield (
                Candidate(Kind.NET, first.value, row, 0.8, "arithmetic"),
                Candidate(Kind.TAX, second.value, row, 0.8, "arithmetic"),
                Candidate(Kind.GROSS, third.value, row, 0.8, "arithmetic"),
            )


def _labelled(rows: Sequence[Row], amounts: Sequence[list[FoundAmount]], place: int) -> Iterator[Candidate]:
    row = rows[place]
    firsts = list(_leading(row, row.labels))
    for position, (cell, label) in enumerate(firsts):
        if label.kind not in AMOUNTS:
            continue
        until = firsts[position + 1][0].start if position + 1 < len(firsts) else len(row.text)
        amount = _right(row, amounts[place], cell, label, until)
        if amount is not None:
            yield Candidate(label.kind, amount.value, row, 0.72 if amount.cents or amount.currency else 0.55)
        elif not has_item_word(row):
            yield from _below(rows, amounts, place, cell, label)
    if not amounts[place] and len({label.kind for _, label in firsts} & SUMMED) > 1 and not has_item_word(row):
        yield from _in_columns(rows, amounts, place, [label for _, label in firsts if label.kind in SUMMED])


def _leading(row: Row, labels: Sequence[Label]) -> Iterator[tuple[Cell, Label]]:
    """The first label of each cell, if it stands among the cell's first words: the rest is prose."""
    for cell in row.cells:
        first = next((each for each in labels if cell.start <= each.start < cell.end), None)
        if first and row.text[cell.start : first.start].count(" ") < _LEADING_WORDS and cell.text.count(" ") < 14:
            yield cell, first


def _right(row: Row, amounts: Sequence[FoundAmount], cell: Cell, label: Label, until: int) -> FoundAmount | None:
    """The last amount after a label, before the next label or the next cell of words."""
    best = None
    for amount in amounts:
        if not label.end <= amount.start < until:
            continue
        if amount.start >= cell.end and _words_between(row, cell.end, amount.start):
            break
        if amount.cents or amount.currency or _stands_alone(row, amount):
            best = amount
    return best


def _stands_alone(row: Row, amount: FoundAmount) -> bool:
    """Whether a whole number is all that its cell holds after the label, and not a part of a telephone number."""
    before = row.text[max(0, amount.start - 3) : amount.start]
    after = row.text[amount.end : amount.end + 3]
    cell = next((each for each in row.cells if each.start <= amount.start < each.end), None)
    behind = row.text[amount.end : cell.end] if cell else ""
    return not any(sign.isdigit() or sign == "+" for sign in before + after) and not _LETTERS.search(behind)


def _words_between(row: Row, start: int, end: int) -> bool:
    """Whether words, more than a currency, stand between two columns."""
    return len(_LETTERS.findall(row.text[start:end])) > 4


def _below(
    rows: Sequence[Row], amounts: Sequence[list[FoundAmount]], place: int, cell: Cell, label: Label
) -> Iterator[Candidate]:
    """The amount that stands alone under a label, in the next row of the page."""
    if place + 1 >= len(rows) or rows[place + 1].page != rows[place].page or label.end < cell.end - 8:
        return
    under = rows[place + 1]
    if len(under.cells) > len(rows[place].cells) + 1:  # a row of a table begins here
        return
    for amount in amounts[place + 1]:
        holder = next((each for each in under.cells if each.start <= amount.start < each.end), None)
        alone = holder is not None and len(_LETTERS.findall(holder.text)) <= 3
        if alone and holder is not None and holder.overlaps(cell.start - 2, cell.end + 2):
            yield Candidate(label.kind, amount.value, under, 0.6 if amount.cents or amount.currency else 0.4)
            return


def _in_columns(
    rows: Sequence[Row], amounts: Sequence[list[FoundAmount]], place: int, labels: Sequence[Label]
) -> Iterator[Candidate]:
    """The amounts of a table whose columns are headed by sums: of each row, and of all rows where none is their sum."""
    columns: dict[Label, list[tuple[Decimal, Row]]] = {label: [] for label in labels}
    for number in range(place + 1, min(place + 1 + TABLE_ROWS, len(rows))):
        found = [each for each in amounts[number] if each.cents]
        if rows[number].page != rows[place].page or len(found) < 2:
            break
        for label, column in columns.items():
            nearest = min(found, key=lambda each: abs(each.end - label.end))
            if abs(nearest.end - label.end) <= COLUMN_REACH or nearest.start < label.end <= nearest.end:
                column.append((nearest.value, rows[number]))
    for label, column in columns.items():
        yield from (Candidate(label.kind, value, row, 0.6) for value, row in column)
        total = sum((value for value, _ in column), Decimal(0))
        if len(column) > 1 and all(2 * value != total for value, _ in column):
            yield Candidate(label.kind, total, column[-1][1], 0.5, "arithmetic")

"""Every amount of an invoice that a label or a column names, and rows of three amounts that add up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from pipeline.reading.amounts import FoundAmount, find_amounts
from pipeline.reading.dates import find_dates
from pipeline.reading.invoices.tables import has_item_word, names_goods
from pipeline.reading.labels import AMOUNTS, Kind, Label
from pipeline.reading.rows import Cell, Row

CENT = Decimal("0.011")
MAX_TAX_SHARE = Decimal("0.35")  # of the gross amount; no country taxes more
TABLE_ROWS = 8
COLUMN_REACH = 6  # characters between where a heading ends and where the amounts under it do

_LETTERS = re.compile(r"[^\W\d_]")
_LEADING_WORDS = 4
_SUMMED = frozenset({Kind.NET, Kind.TAX, Kind.GROSS})
_MAX_LETTERS = 14  # before the first amount of a row of taxes; a description is longer
_OF = re.compile(r"\b(?:auf|aus|on|sur|over|su|sobre|de|von)(?: [a-z]{3}| [€£$])? $")


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


def plausible(tax: Decimal, gross: Decimal) -> bool:
    """Whether a tax fits a gross amount: the same sign (a credit note has minus twice) and not too large."""
    return tax * gross >= 0 and abs(tax) <= abs(gross) * MAX_TAX_SHARE


def _amounts(row: Row, comma: bool) -> list[FoundAmount]:
    days = find_dates(row.folded)
    return [
        each
        for each in find_amounts(row.text, comma=comma)
        if not any(each.start < day.end and day.start < each.end for day in days)
    ]


def _triples(row: Row, amounts: Sequence[FoundAmount]) -> Iterator[tuple[Candidate, Candidate, Candidate]]:
    for (first, second), (_, third) in pairwise(pairwise(amounts)):
        adds_up = abs(first.value + second.value - third.value) < CENT and plausible(second.value, third.value)
        taxed = second.value or any(label.kind is Kind.GROSS for label in row.labels)
        if adds_up and first.cents and third.cents and taxed:
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
    heads = [label for label in row.labels if label.kind in _SUMMED]
    if len({label.kind for label in heads}) > 1 and not any(map(str.isdigit, row.text)) and not names_goods(row):
        yield from _in_columns(rows, amounts, place, heads)


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
        if not label.end <= amount.start < until or (label.kind is Kind.TAX and _is_base(row, cell, amount)):
            continue
        if amount.start >= cell.end and _words_between(row, cell.end, amount.start):
            break
        if amount.cents or amount.currency or _stands_alone(row, amount):
            best = amount
    return best


def _is_base(row: Row, cell: Cell, amount: FoundAmount) -> bool:
    """Whether an amount closes the label of a tax: it is what is taxed, as in "19 % VAT on 100.00"."""
    return cell.end - amount.end <= 4 and _OF.search(row.folded[: amount.start]) is not None


def _words_first(row: Row, amount: FoundAmount) -> bool:
    """Whether a row of a table begins with a description, so that it is a row of items."""
    return len(_LETTERS.findall(row.text[: amount.start])) > _MAX_LETTERS


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
    """The amounts of a table whose columns are headed by sums: those that add up in a row, else those under the heads.

    Where no row is the sum of the others, their sum is one more.
    """
    table = list(_table_rows(rows, amounts, place))
    triples = [triple[-1] for row, found in table if (triple := list(_triples(row, found)))]  # the last has the tax
    for column in zip(*triples, strict=True):
        yield from _column(column[0].kind, [(each.value, each.row) for each in column])
    for label in labels if not triples else ():
        under = ((_under_head(label, found), row) for row, found in table)
        yield from _column(label.kind, [(value, row) for value, row in under if value is not None])


def _column(kind: Kind, column: Sequence[tuple[Decimal, Row]]) -> Iterator[Candidate]:
    yield from (Candidate(kind, value, row, 0.6) for value, row in column)
    total = sum((value for value, _ in column), Decimal(0))
    if len(column) > 1 and all(2 * value != total for value, _ in column):
        yield Candidate(kind, total, column[-1][1], 0.5, "arithmetic")


def _table_rows(
    rows: Sequence[Row], amounts: Sequence[list[FoundAmount]], place: int
) -> Iterator[tuple[Row, list[FoundAmount]]]:
    """The rows of figures right below a row of headings, until one is something else."""
    for row, several in zip(rows[place + 1 : place + 1 + TABLE_ROWS], amounts[place + 1 :], strict=False):
        found = [each for each in several if each.cents]
        if row.page != rows[place].page or len(found) < 2 or _words_first(row, found[0]):
            return
        yield row, found


def _under_head(label: Label, found: Sequence[FoundAmount]) -> Decimal | None:
    nearest = min(found, key=lambda each: abs(each.end - label.end))
    fits = abs(nearest.end - label.end) <= COLUMN_REACH or nearest.start < label.end <= nearest.end
    return nearest.value if fits else None

"""Net, tax, gross and the amount to pay: of all labelled amounts those that add up.

One row of a VAT table adds up as well as the whole invoice does, so arithmetic alone never decides: the gross amount
of a sum must be labelled as such or be printed again elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import product

from pipeline.reading.invoices.labelled_amounts import CENT, Candidate, Reading, plausible
from pipeline.reading.labels import AMOUNTS, Kind
from pipeline.reading.rows import Row

MAX_SUMS = 40  # different amounts tried as a summand, so that a price list costs no more than an invoice
_PAID = re.compile(
    r"\b(?:paid|bezahlt|beglichen|payee?|acquitt\w{1,3}|reglee?|betaald|voldaan|pagad[oa]|pagat[oa]|(?:previous|prior)"
    r" balance|receipts?|quittung|kassenbon|recu|ticket|scontrino|kassabon|anzahlung|acompte|aanbetaling|anticipo"
    r"|acconto|deposit|erhalten|received|charged to|ending (?:in )?\d{4}|barzahlung|kartenzahlung|in contanti)\b"
)


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
    gross = chosen.get(Kind.GROSS)
    if gross is None:
        return {}
    for paid, due in product(by_kind[Kind.PREPAID], by_kind[Kind.PAYABLE]):
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
    """The best gross amount; what is to be paid instead, if it is larger and better labelled, or the only one."""
    gross = _best(by_kind[Kind.GROSS]) if by_kind[Kind.GROSS] else None
    due = _best(by_kind[Kind.PAYABLE]) if by_kind[Kind.PAYABLE] else None
    if due and (gross is None or (due.confidence > gross.confidence and abs(due.value) > abs(gross.value))):
        return replace(due, kind=Kind.GROSS, confidence=due.confidence * 0.8)
    return gross


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
            if plausible(tax.value, gross.value):
                net = _net(gross, tax, by_kind[Kind.NET], reading)
                if net is not None and tax.value:
                    yield _lifted(net), _lifted(tax), _lifted(gross)
                elif net is not None:  # net is gross where there is no tax, which proves nothing
                    yield net, tax, gross
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
    """The sum of several tax rows (two rates, or two taxes of one rate), as one candidate."""
    by_row = {(each.row.page, each.row.text): each for each in taxes}
    several = [_distinct(taxes), list(by_row.values())]
    totals = {sum((each.value for each in rows), Decimal(0)): rows[0].row for rows in several if 2 <= len(rows) <= 6}
    return [Candidate(Kind.TAX, total, row, 0.5, "arithmetic") for total, row in totals.items()]


def left_to_pay(rows: Sequence[Row], chosen: dict[Kind, Candidate]) -> Candidate | None:
    """The gross amount as what is left to pay: nothing else is printed, paid or given back."""
    gross = chosen.get(Kind.GROSS)
    if gross is None or gross.value < 0 or Kind.PAYABLE in chosen:
        return None
    if any(_PAID.search(row.folded) for row in rows):
        return None
    return replace(gross, kind=Kind.PAYABLE, confidence=gross.confidence * 0.9, method="derived")

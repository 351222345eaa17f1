"""What a till prints: merchant, address, date, currency and total, chosen among candidates by features of their rows.

A receipt has no letterhead and no columns that a label heads; it has a few rows on top, and a payment at the bottom
that proves the total: cash less change. Candidates are made generously, each kind in a module of its own;
pipeline.reading.ranking chooses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipeline.reading import amounts, ranking
from pipeline.reading.invoices.recognition_doubt import DOUBTED
from pipeline.reading.labels import Kind
from pipeline.reading.receipts.merchants import merchants
from pipeline.reading.receipts.till_addresses import addresses
from pipeline.reading.receipts.till_currency import find_currency
from pipeline.reading.receipts.till_dates import TIME, TillDate, find_till_dates
from pipeline.reading.receipts.till_totals import totals
from pipeline.reading.receipts.till_words import Span, Witness
from pipeline.reading.rows import Row

WIDEST = 64  # characters of a row; a till's paper takes 48, a sheet 100
TILL_WIDTH, TILL_ROWS = 50, 10  # paper alone tells: words of tills differ from one country to the next
FEWEST_ROWS = 5
SURE = 0.98  # a model of some hundred receipts is never surer
ADDRESS_TRUST = 0.9  # where an address ends is a matter of taste: as printed, right less often than it is likely
SUPPOSED_ORDER = 0.9  # the trust in a date of which day and month could be swapped, in a country unknown
_OTHER_ORDER = frozenset({"USD", "CAD", "PHP"})  # countries that do not, or not only, write the day first
FIRST_YEAR, LAST_YEAR = 1990, 2039  # of a sale; another year was misread

_CUE = re.compile(
    r"\b(?:cash(?:ier)?|change|tender(?:ed)?|rounding|rounded|receipt|gst summary|pax|item\(s\)|qty\(s\)|thank you"
    r"|goods sold|visa|mastercard|till|terminal|pos no|salesperson|terima kasih|bar|ruckgeld|gegeben|kassenbon|bon"
    r"|paid by|customer copy|credit card|total qty|amt paid|total items|especes?|rendu|ticket|efectivo|cambio"
    r"|contante|resto|scontrino|kassabon|wisselgeld|contant)\b"
)
_NOT_ISSUED = re.compile(r"\b(?:expir\w{1,3}|valid|due|effective|until|before|promo(?:tion\w{0,3})?|member|since)\b")
_DATE_WORD = re.compile(r"\b(?:da[tl][eao]|0ate|datum|fecha|data|tarikh)(?![a-z])")


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, the row it begins in, its probability among the candidates, and how it was found."""

    value: str
    row: Row
    confidence: float
    method: str = "ranker"


def is_receipt(rows: Sequence[Row]) -> bool:
    """Whether a till printed it: one page as narrow as a till's paper, or nearly so with two words of tills."""
    if len(rows) < FEWEST_ROWS or rows[-1].page > 1:
        return False
    widths = sorted(len(row.text.strip()) for row in rows)
    usual = widths[len(widths) * 9 // 10]
    if usual <= TILL_WIDTH and len(rows) >= TILL_ROWS:
        return True
    return usual <= WIDEST and len({match[0] for row in rows for match in _CUE.finditer(row.folded)}) >= 2


def merchant(rows: Sequence[Row]) -> Choice | None:
    """Who sold."""
    return _chosen("merchant", merchants(rows))


def address(rows: Sequence[Row]) -> Choice | None:
    """Where the merchant is: some rows of the head, on one line."""
    found = _chosen("address", addresses(rows))
    return replace(found, confidence=found.confidence * ADDRESS_TRUST) if found else None


def currency(rows: Sequence[Row]) -> Choice | None:
    """In what was paid, where no amount says so."""
    found = find_currency(rows)
    return Choice(found.code, found.row, found.confidence, found.method) if found else None


def total(rows: Sequence[Row], *, comma: bool) -> Choice | None:
    """What was paid, after rounding, as a plain decimal."""
    return _chosen("total", totals(rows, comma=comma))


def issued(rows: Sequence[Row], *, day_first: bool) -> Choice | None:
    """The day of the sale: a labelled date, else one with a time of day beside it, else the first."""
    found = [each for row in rows for each in _dated(row, day_first)]
    if not found:
        return None
    rank, date, row = max(found, key=lambda each: each[0])  # the first of equals
    if rank < -1:
        return None
    alone = len({each.value for _, each, _ in found}) == 1
    likely = (0.96 if alone else 0.9) if rank >= 1 else 0.9 if alone else 0.7
    told = date.certain or any(each.certain for _, each, _ in found) or _writes_day_first(rows)
    return Choice(date.value, row, likely * date.trust * (1.0 if told else SUPPOSED_ORDER))


def _writes_day_first(rows: Sequence[Row]) -> bool:
    """Whether the money paid, or the country, is one where the day is written before the month."""
    named = amounts.currency(row.text for row in rows)
    found = find_currency(rows)
    code = named[0] if named else found.code if found else "USD"
    return code not in _OTHER_ORDER


def _dated(row: Row, day_first: bool) -> Iterator[tuple[float, TillDate, Row]]:
    """The dates of a row, each with a rank: two for a label, one for a time, less for what was supposed."""
    labelled = any(label.kind in (Kind.DATE, Kind.ISSUED) for label in row.labels) or bool(
        _DATE_WORD.search(row.folded)
    )
    other = _NOT_ISSUED.search(row.folded) is not None
    for date in find_till_dates(row.folded, day_first=day_first, labelled=labelled):
        timed = TIME.search(row.folded[date.end :].lstrip(".,")) is not None
        odd = not FIRST_YEAR <= int(date.value[:4]) <= LAST_YEAR
        yield 2 * labelled + timed - 4 * (other or odd) - 2 * (1 - date.trust), date, row


def _chosen(name: str, candidates: Iterator[tuple[Span, dict[str, float]]]) -> Choice | None:
    found = ranking.best(candidates, ranking.weights(name))
    if found is None:
        return None
    span, share = found
    confidence = _likely(share, span.witness) * span.trust
    return Choice(span.value, span.row, confidence, "arithmetic" if span.proved else "ranker")


def _likely(share: float, witness: Witness) -> float:
    """How likely a choice is right: its probability, of which a witness for it halves the doubt.

    Of issuers not trained on, 1 of 410 names and totals at .9 and more was wrong, and 3 of the 29 that something speaks
    against.
    """
    if witness is Witness.AGAINST:
        return min(DOUBTED, share)
    return min(SURE, (1 + share) / 2 if witness is Witness.FOR else share)

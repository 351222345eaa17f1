"""An e-invoice against the pages that a person reads: what agrees, what clearly differs, what cannot be seen.

A value agrees when it stands anywhere on the pages, in any notation. It differs only when it stands nowhere and a
label of its own kind announces another value: one label, one value, no second opinion. Everything else is not visible;
a mismatch that is told must be one.
"""

from __future__ import annotations

import datetime as dt
import enum
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from pipeline.documents.text import Document, identifier
from pipeline.einvoices.fields import canonical
from pipeline.einvoices.model import Invoice
from pipeline.reading import amounts, dates, identifiers
from pipeline.reading.invoices import labelled_amounts, numbers, totals
from pipeline.reading.labels import Kind
from pipeline.reading.rows import Row, rows

_MOST_TEXT = 400_000  # characters of all pages that are looked at
_CENT = Decimal("0.01")
_NOTHING_BETWEEN = re.compile(r"[^a-z0-9]{0,80}")
_CERTAIN = 0.9  # of what a label announces


class Verdict(enum.StrEnum):
    """What the print says of a field."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_VISIBLE = "not_visible"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A field: `stated` in the XML; `printed` and `page` (from 1) only where the print differs."""

    name: str
    verdict: Verdict
    stated: str
    printed: str = ""
    page: int = 0


@dataclass(frozen=True, slots=True)
class _Print:
    """The pages as they are asked."""

    rows: tuple[Row, ...]
    squashed: str  # letters and digits of everything, in order
    numbers: frozenset[Decimal]
    dates: frozenset[str]
    day_first: bool
    comma: bool


def compare(invoice: Invoice, document: Document) -> list[Comparison]:
    """Every field that the XML states and that is usually printed. Never raises; no text, nothing visible."""
    printed = _print(document)
    return [
        *_texts(invoice, printed),
        *_dates(invoice, printed),
        *_amounts(invoice, printed),
    ]


def _print(document: Document) -> _Print:
    found = rows(document)
    texts = [row.text for row in found]
    comma, day_first = amounts.decimal_comma(texts), dates.day_first(texts)
    values = {
        abs(each.value)
        for text in texts
        for mark in (comma, not comma)
        for each in amounts.find_amounts(text, comma=mark)
    }
    days = {
        each.value for row in found for first in (True, False) for each in dates.find_dates(row.folded, day_first=first)
    }
    return _Print(found, identifier(document.text[:_MOST_TEXT]), frozenset(values), frozenset(days), day_first, comma)


def _texts(invoice: Invoice, printed: _Print) -> Iterator[Comparison]:
    account = next((each.iban for each in invoice.accounts if each.iban), None)
    several: tuple[tuple[str, str | None, Callable[[_Print], tuple[str, int] | None]], ...] = (
        ("invoice_number", invoice.number, _number),
        ("seller_name", invoice.seller.name or invoice.seller.trade_name, _nothing),
        ("buyer_name", invoice.buyer.name or invoice.buyer.trade_name, _nothing),
        ("seller_vat_id", invoice.seller.vat_id, _nothing),
        ("iban", account, _iban),
    )
    for name, stated, labelled in several:
        wanted = identifier(stated or "")
        if stated and wanted:
            yield _compared(name, stated, wanted in printed.squashed, labelled, printed)


def _dates(invoice: Invoice, printed: _Print) -> Iterator[Comparison]:
    several: tuple[tuple[str, dt.date | None, Kind], ...] = (
        ("issue_date", invoice.issue_date, Kind.ISSUED),
        ("due_date", invoice.due_date, Kind.DUE),
    )
    for name, stated, kind in several:
        if stated:
            there = stated.isoformat() in printed.dates

            def labelled(pages: _Print, kind: Kind = kind) -> tuple[str, int] | None:
                return _date(pages, kind)

            yield _compared(name, stated.isoformat(), there, labelled, printed)


def _amounts(invoice: Invoice, printed: _Print) -> Iterator[Comparison]:
    sums = invoice.totals
    several: tuple[tuple[str, Decimal | None, Kind], ...] = (
        ("total_net", sums.net, Kind.NET),
        ("total_tax", sums.tax, Kind.TAX),
        ("total_gross", sums.gross, Kind.GROSS),
        ("amount_due", sums.due, Kind.PAYABLE),
    )
    known = {abs(value) for _, value, _ in several if value is not None}
    chosen = totals.choose(labelled_amounts.read(printed.rows, comma=printed.comma))
    proved = all(kind in chosen for kind in (Kind.NET, Kind.TAX, Kind.GROSS))
    for name, value, kind in several:
        if value is not None:
            found = chosen.get(kind)
            other = None
            if proved and found and found.confidence >= _CERTAIN and abs(found.value) not in known:
                other = (amounts.plain(found.value), found.row.page)

            def labelled(_: _Print, other: tuple[str, int] | None = other) -> tuple[str, int] | None:
                return other

            yield _compared(name, canonical(value), _visible(abs(value), printed.numbers), labelled, printed)


def _visible(value: Decimal, printed: Iterable[Decimal]) -> bool:
    return any(abs(value - each) < _CENT for each in printed)


def _compared(
    name: str, stated: str, there: bool, labelled: Callable[[_Print], tuple[str, int] | None], printed: _Print
) -> Comparison:
    if there:
        return Comparison(name, Verdict.AGREES, stated)
    other = labelled(printed)
    if other is None:
        return Comparison(name, Verdict.NOT_VISIBLE, stated)
    return Comparison(name, Verdict.DIFFERS, stated, *other)


def _nothing(_: _Print) -> None:
    """Names and tax numbers are printed in too many ways, beside those of others, to say that one differs."""
    return


def _number(printed: _Print) -> tuple[str, int] | None:
    found = numbers.find_number(printed.rows)
    return (found.value, found.row.page) if found and found.confidence >= _CERTAIN else None


def _iban(printed: _Print) -> tuple[str, int] | None:
    """The one IBAN of the pages; when there are several, none is said to be the seller's."""
    found = {each.value: row.page for row in printed.rows for each in identifiers.find_ibans(row.text)}
    return next(iter(found.items())) if len(found) == 1 else None


def _date(printed: _Print, kind: Kind) -> tuple[str, int] | None:
    """The one date that labels of the kind announce, right of them in their row; None when one may be read two ways."""
    found: dict[str, int] = {}
    for row in printed.rows:
        for label, following in itertools.zip_longest(row.labels, row.labels[1:]):
            if label.kind is kind:
                piece = row.folded[label.end : following.start if following else None]
                right = dates.find_dates(piece, day_first=printed.day_first)
                if right and not (right[0].certain and _NOTHING_BETWEEN.fullmatch(piece[: right[0].start])):
                    return None
                found.update({each.value: row.page for each in right})
    return next(iter(found.items())) if len(found) == 1 else None

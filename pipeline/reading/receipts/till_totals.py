"""Candidates for what was paid: the amounts of a receipt, with what the words of all their rows say of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pipeline.reading.amounts import find_amounts
from pipeline.reading.receipts import misread
from pipeline.reading.receipts.till_words import Span, Witness
from pipeline.reading.rows import Row

MOST_ROWS = 60  # rows with amounts, from the last one back
REPAIRED = 0.8  # the trust in an amount of which a digit was read as a letter
LAST_AMOUNTS = 3  # of a row
_LEAST_LETTERS = 3  # of words; fewer are the name of a currency
_LONGEST_RUN = 6  # rows that slipped together
FIVE_CENTS, CENT = Decimal("0.05"), Decimal("0.01")
MOST_ROUNDED = 4 * CENT
_PROVED = "proved"  # makes a total surer, and does not choose it: a subtotal has parts too
_OF_THE_PAYMENT = {"said cash", "said change", "said count"}
_WORDS = {
    "total": re.compile(r"\b(?:totals?|tota1|t0tal|summe|gesamt\w{0,8}|totaal|totale|jumlah)\b"),
    "grand": re.compile(r"\b(?:grand|nett?|payable|due|amount to pay|zu zahlen|a payer|te betalen|final)\b"),
    "incl": re.compile(r"\b(?:incl\w{0,8}|inc|with gst|ttc|after)\b"),
    "excl": re.compile(r"\b(?:excl?\w{0,8}|before|without|w/o)\b"),
    "sub": re.compile(r"\b(?:sub-? ?totals?|subtotal|zwischensumme|sous-total)\b"),
    "rounded": re.compile(r"\b(?:rounded|round(?:ing)?)\b"),
    "adjust": re.compile(r"\b(?:rounding ?(?:adj\w{0,8}|amt)?|adj\w{0,8})\b"),
    "tax": re.compile(r"\b(?:gst|tax|vat|sst|mwst|tva|btw|iva)\b"),
    "cash": re.compile(
        r"\b(?:cash|tender\w{0,3}|paid|payment|pay|visa|master\w{0,4}|card|debit|gegeben|especes|bar)\b"
    ),
    "change": re.compile(r"\b(?:change|balance|rendu|ruckgeld|wisselgeld|cambio|resto)\b"),
    "count": re.compile(r"\b(?:qty|quantity|items?|item\(s\)|count|points?|pcs)\b"),
    "less": re.compile(r"\b(?:disc\w{0,6}|saving\w{0,2}|charge|service|deposit|voucher|rabatt|remise)\b"),
    "amount": re.compile(r"\b(?:amount|amt|sales?|bill|rm)\b"),
}
_VOCABULARY = (
    "total totals summe totaal totale jumlah payable incl inclusive exclusive excluding including subtotal rounded"
    " rounding adjustment tendered payment master debit gegeben especes change balance rendu ruckgeld wisselgeld cambio"
    " resto quantity items points discount saving savings charge service deposit voucher amount sales grand final"
    " before after"
)
_KNOWN = frozenset(_VOCABULARY.split())


@dataclass(frozen=True, slots=True)
class _Printed:
    """A row as it is read: the words before its first amount, and its amounts, each with the trust in it.

    `numbered`: it has figures, be they no amounts.
    """

    words: str
    amounts: tuple[tuple[Decimal, float], ...]
    numbered: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """An amount, its row, and what the words before it say. `trust` is less for an amount with repaired digits."""

    row: int
    said: frozenset[str]
    value: Decimal
    trust: float


def totals(rows: Sequence[Row], *, comma: bool) -> Iterator[tuple[Span, dict[str, float]]]:
    """The amounts of a receipt as what was paid, with what all their rows say of them."""
    places = _money(rows, comma)[-MOST_ROWS:]
    described = _described(places, len(rows))
    for value, features in described.items():
        last = next(place for place in reversed(places) if place.value == value)
        proved = bool(features[_PROVED])
        witness = Witness.AGAINST if _is_rivalled(value, described) else Witness.FOR if proved else Witness.NONE
        span = Span(f"{value:.2f}", rows[last.row], last.trust, proved, witness)
        yield span, {name: float(each) for name, each in features.items() if each and name != _PROVED}


def _described(places: Sequence[_Place], length: int) -> dict[Decimal, dict[str, float]]:
    """The features of each amount, in their order."""
    named = _named(places)
    listed: dict[Decimal, list[_Place]] = defaultdict(list)
    for place in places:
        if place.value > 0:
            listed[place.value].append(place)
    largest = max(listed, default=Decimal(1))
    described = {}
    for value, here in listed.items():
        features = _of_its_words(here) | _of_its_sums(value, named) | _of_its_places(value, here, largest, length)
        paid = bool(features["cash less change"]) or _is_paid(value, places)
        described[value] = features | {_PROVED: paid or _has_parts(value, named)}
    return described


def _is_rivalled(value: Decimal, described: Mapping[Decimal, Mapping[str, float]]) -> bool:
    """Whether another amount has as good a claim: a larger one called a total, or a mere total of before rounding.

    Which of the two is the total, before a discount or after it, not even people agree on.
    """
    return any(
        ("mere total" in features and 0 < abs(other - value) <= MOST_ROUNDED)
        or (other > value and "said total" in features and not features.keys() & _OF_THE_PAYMENT)
        for other, features in described.items()
    )


def _named(places: Sequence[_Place]) -> Mapping[str, set[Decimal]]:
    """The amounts beside each word, without their sign."""
    named: dict[str, set[Decimal]] = defaultdict(set)
    for place in places:
        for word in place.said:
            named[word].add(abs(place.value))
    return named


def _money(rows: Sequence[Row], comma: bool) -> list[_Place]:
    """The last amounts of each row with what the words that belong to them say.

    Words belong to the amounts of their row; where that leaves the payment open, to those of the row that they have
    slipped from, if that settles it.
    """
    printed = [_printed(row, comma) for row in rows]
    words = [row.words for row in printed]
    plain = _placed(printed, _own(words, [row.numbered for row in printed]))
    if _is_settled(plain):
        return plain
    slipped = _placed(printed, _slipped(words, [bool(row.amounts) for row in printed]))
    return slipped if _is_settled(slipped) else plain


def _printed(row: Row, comma: bool) -> _Printed:
    text = misread.money(row.text)
    figures = find_amounts(text, comma=comma)
    amounts = [each for each in figures if each.cents or each.currency]
    before = row.folded[: amounts[0].start] if amounts else row.folded
    trusted = (
        (each.value, 1.0 if text[each.start : each.end] == row.text[each.start : each.end] else REPAIRED)
        for each in amounts
    )
    return _Printed(misread.words(before, _KNOWN), tuple(trusted), bool(figures))


def _placed(printed: Sequence[_Printed], holders: Sequence[int]) -> list[_Place]:
    """The last amounts of each row, with what the words of its holder say."""
    found: list[_Place] = []
    for place, (row, holder) in enumerate(zip(printed, holders, strict=True)):
        said = _said(printed[holder].words, under=holder != place, several=len(row.amounts) > 1)
        found += [_Place(place, said, value, trust) for value, trust in row.amounts[-LAST_AMOUNTS:]]
    return found


def _is_settled(places: Sequence[_Place]) -> bool:
    """Whether a total, the cash given and the change returned fit together."""
    values = {
        word: {abs(place.value) for place in places if word in place.said} for word in ("total", "cash", "change")
    }
    return any(due + back in values["cash"] for due in values["total"] for back in values["change"] if back)


def _own(words: Sequence[str], figures: Sequence[bool]) -> list[int]:
    """For each row itself, or the row above if that has words alone and this one has none."""
    holders = list(range(len(words)))
    for place in holders[1:]:
        if sum(map(str.isalpha, words[place])) < _LEAST_LETTERS and not figures[place - 1]:
            holders[place] = place - 1
    return holders


def _slipped(words: Sequence[str], amounts: Sequence[bool]) -> list[int]:
    """For each row the one whose words belong to its amounts, where words have slipped by a row.

    On a bent or tilted page one column stands a row higher than the other: then a run of rows begins with words alone
    and ends with an amount alone, or the other way round.
    """
    worded = [sum(map(str.isalpha, each)) >= _LEAST_LETTERS for each in words]
    holders = list(range(len(words)))
    place = 0
    while place < len(words):
        end = _run(worded, amounts, place) if not worded[place] or _says_money(words[place]) else 0
        if end and worded[place]:
            holders[place + 1 : end + 1] = range(place, end)
        elif end:
            holders[place:end] = range(place + 1, end + 1)
        place = max(end, place) + 1
    return holders


def _run(worded: Sequence[bool], amounts: Sequence[bool], start: int) -> int:
    """Where a run of slipped rows that begins here ends: with words if it begins with an amount, and so on; or 0."""
    if start >= len(worded) or worded[start] == amounts[start]:
        return 0
    for place in range(start + 1, min(start + _LONGEST_RUN, len(worded))):
        if not (worded[place] and amounts[place]):
            ended = worded[place] != worded[start] and amounts[place] != amounts[start]
            return place if ended else 0
    return 0


def _says_money(words: str) -> bool:
    return any(_WORDS[name].search(words) for name in ("total", "grand", "cash", "change", "rounded", "tax"))


def _said(words: str, *, under: bool, several: bool) -> frozenset[str]:
    said = {name for name, pattern in _WORDS.items() if pattern.search(words)} | ({"under"} if under else set())
    return frozenset(said or {"unsaid"}) | (frozenset({"several"}) if several else frozenset())


def _of_its_words(here: Sequence[_Place]) -> dict[str, float]:
    features: dict[str, float] = {}
    for place in here:
        clean = place.said - {"several"}
        for word in clean:
            features[f"said {word}"] = 1.0
        features["said " + " ".join(sorted(clean & {"total", "sub", "excl", "incl", "tax", "rounded", "count"}))] = 1.0
        if "several" in place.said:
            features["in a table"] = 1.0
        if "total" in clean and not clean & {"sub", "excl", "tax", "count", "less", "adjust", "change"}:
            features["mere total"] = 1.0
    return features


def _of_its_sums(value: Decimal, named: Mapping[str, set[Decimal]]) -> dict[str, float]:
    change = named["change"] - {Decimal(0)}
    near = {value + step * CENT for step in range(-4, 5) if step}
    return {
        "cash less change": any(value + back in named["cash"] for back in change),
        "cash itself": value in named["cash"] and (not change or value not in change),
        "cash, change stated": value in named["cash"] and bool(change),
        "rounded from": value % FIVE_CENTS == 0 and bool(near & named["total"]),
        "rounded to": value % FIVE_CENTS != 0 and bool(near & (named["total"] | named["cash"] | named["rounded"])),
        "tax added": any(value - tax in named["excl"] | named["sub"] for tax in named["tax"] if tax < value / 4),
    }


def _has_parts(value: Decimal, named: Mapping[str, set[Decimal]]) -> bool:
    """Whether a sum before tax, the tax and the rounding make it."""
    return any(
        value - tax - rounding in named["excl"] | named["sub"]
        for tax in named["tax"]
        for adjust in named["adjust"]
        for rounding in (adjust, -adjust)
        if abs(adjust) < FIVE_CENTS
    )


def _is_paid(value: Decimal, places: Sequence[_Place]) -> bool:
    """Whether the next two rows of amounts pay it: cash, said so or followed by what is said to be change."""
    last = list({place.row: place for place in places}.values())
    return any(
        due.value == value and value + back.value == given.value and _pays(given, back)
        for due, given, back in zip(last, last[1:], last[2:], strict=False)
    )


def _pays(given: _Place, back: _Place) -> bool:
    said = "cash" in given.said or "change" in back.said
    return said and back.value >= 0 and "tax" not in back.said


def _of_its_places(value: Decimal, here: Sequence[_Place], largest: Decimal, length: int) -> dict[str, float]:
    return {
        "largest": value == largest,
        "often": min(len(here), 5) / 5,
        "once": len(here) == 1,
        "low on the page": here[-1].row / length,
        "round": value % FIVE_CENTS == 0,
    }

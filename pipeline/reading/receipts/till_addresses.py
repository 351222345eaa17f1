"""Candidates for the address of the merchant: runs of rows of a receipt's head, with what speaks for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.reading.receipts import misread
from pipeline.reading.receipts.till_words import Said, Span, known, said, unprefixed
from pipeline.reading.rows import Row, squeeze

HEAD_ROWS = 14
FIRST_ROWS = 10  # an address begins in one of these
ADDRESS_ROWS = 6
_CUT = re.compile(r"[ (,]{1,3}(?:tel|fax|phone|gst|hp)\b.{0,80}$")
_NOTHING = said("")


def addresses(rows: Sequence[Row]) -> Iterator[tuple[Span, dict[str, float]]]:
    """The runs of rows of the head, as the merchant's address."""
    head = rows[:HEAD_ROWS]
    printed = [_cut(row) for row in head]
    texts = [known(text) for text in printed]
    facts = [said(text) for text in texts]
    for start in range(min(len(head), FIRST_ROWS)):
        for stop in range(start + 1, min(start + ADDRESS_ROWS, len(head)) + 1):
            value = " ".join(squeeze(text) for text in printed[start:stop])
            if 10 <= len(value) <= 250:
                features = _features(texts, facts, start, stop)
                yield (
                    Span(misread.letters(value), head[start]),
                    {name: float(found) for name, found in features.items() if found},
                )


def _cut(row: Row) -> str:
    match = _CUT.search(row.folded)
    return unprefixed((row.text[: match.start()] if match and match.start() > 8 else row.text).strip())


def _features(texts: Sequence[str], facts: Sequence[Said], start: int, stop: int) -> dict[str, float]:
    before = texts[start - 1] if start else ""
    after = texts[stop] if stop < len(texts) else ""
    return {
        f"rows {stop - start}": 1.0,
        f"at {min(start, 6)}": 1.0,
        **_of_its_first(texts[start], facts[start]),
        **_of_its_last(texts[stop - 1], facts[stop - 1]),
        **_of_its_rows(facts[start:stop]),
        **_of_what_is_above(before, facts[start - 1] if start else _NOTHING),
        **_of_what_is_below(after, facts[stop] if stop < len(facts) else _NOTHING),
    }


def _of_its_first(text: str, fact: Said) -> dict[str, float]:
    return {
        "first street": fact.street,
        "first digit": text[:1].isdigit(),
        "first no": text.startswith(("no", "lot", "block", "unit")),
        "first form": fact.form,
        "first trade": fact.trade,
        "first registration": fact.registration,
        "first branch": fact.branch,
        "first bracket": text.startswith("("),
    }


def _of_its_last(text: str, fact: Said) -> dict[str, float]:
    return {
        "last place": fact.place,
        "last postcode": fact.postcode,
        "last branch": fact.branch,
        "last bracket": text.startswith("("),
        "ends with comma": text.endswith((",", "-")),
    }


def _of_its_rows(facts: Sequence[Said]) -> dict[str, float]:
    postcodes = sum(fact.postcode for fact in facts)
    return {
        "others": sum(fact.other or fact.phone for fact in facts),
        "forms": sum(fact.form for fact in facts[1:]),
        "registrations": sum(fact.registration for fact in facts[1:]),
        "plain rows": sum(not (fact.street or fact.place or fact.postcode) for fact in facts),
        "postcodes": postcodes,
        "no postcode": postcodes == 0,
        "streets": sum(fact.street for fact in facts),
    }


def _of_what_is_above(text: str, fact: Said) -> dict[str, float]:
    return {
        "before form": fact.form,
        "before registration": fact.registration,
        "before street": fact.street and not fact.form,
        "before comma": text.endswith(","),
    }


def _of_what_is_below(text: str, fact: Said) -> dict[str, float]:
    return {
        "after other": fact.other or fact.phone,
        "after branch": fact.branch,
        "after place": fact.place,
        "after postcode": fact.postcode and not fact.other,
        "after street": fact.street and not fact.other,
        "after registration": fact.registration,
        "after bracket": text.startswith("("),
    }

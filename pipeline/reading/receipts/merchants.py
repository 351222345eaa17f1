"""Candidates for the name of the merchant: rows of a receipt's head, and pairs of them, with what speaks for each."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from pipeline.reading.receipts.till_words import (
    FORM,
    PLACE,
    Said,
    Span,
    Witness,
    is_wordy,
    known,
    restored,
    said,
    unprefixed,
)
from pipeline.reading.rows import Row, squeeze

HEAD_ROWS = 10  # that say something
MOST_ROWS = 20
LONGEST = 90  # characters
_NOTHING = said("")
_OPEN = ("&", "and", ",")
RESTORED = 0.85  # the trust in a name of which a legal form was put right
_REGISTERED = re.compile(
    r" ?\(? ?(?:co\.? ?(?:reg|no)\S{0,3} ?(?:no)?\.? ?:? ?)?\d{4,12} ?-? ?[a-z]{1,2}? ?\)?(?: ?\([a-z0-9]{1,5}\))?$"
)


def merchants(rows: Sequence[Row]) -> Iterator[tuple[Span, dict[str, float]]]:
    """The rows of the head, and pairs of them, as names of the merchant; legal forms misread by a sign are restored."""
    head = _head(rows)
    texts = [known(row.text).strip() for row in head]
    facts = [said(text) for text in texts]
    wordy = list(itertools.accumulate(map(is_wordy, head), initial=0))
    for place, row in enumerate(head):
        of_row = {f"at {min(wordy[place], 5)}": True, "says little": not is_wordy(row)}
        for value, pair in _names(head, place):
            text = known(value)
            fact = said(text)
            features = of_row | _of_its_words(text, fact) | _of_its_place(facts, place, fact, pair=pair)
            features["registered"] = _bare(row) != unprefixed(squeeze(row.text))
            features["begins a later row"] = any(each.startswith(text) for each in texts[place + 1 :])
            features["starts like before"] = place > 0 and texts[place - 1].split()[0] in text
            if pair:
                features |= _of_its_second_row(text, texts[place + 1], *facts[place : place + 2])
            repaired = restored(value)
            span = Span(repaired, row, 1.0 if repaired == value else RESTORED, witness=_witness(features))
            yield span, {name: 1.0 for name, found in features.items() if found}


def _names(head: Sequence[Row], place: int) -> Iterator[tuple[str, bool]]:
    """A row as a name, without the number of a register; and the row with the next one, for which True is given."""
    bare = _bare(head[place])
    named = {bare.strip(" -([,"): False}
    if place + 1 < len(head):
        named[f"{bare} {squeeze(head[place + 1].text)}"] = True
    return ((value, pair) for value, pair in named.items() if 3 <= len(value) <= LONGEST)


def _witness(features: Mapping[str, bool]) -> Witness:
    """What speaks for a name: a legal form, or for want of it a trade, in the first row that says something.

    A company further down may own the shop whose name stands above it. Of issuers not trained on, 1 of 194 names with
    a form or a trade in that row was wrong at .9 or more, and 2 of the 9 others.
    """
    if not features.get("at 0"):
        return Witness.AGAINST
    if features["form"]:
        return Witness.FOR
    return Witness.NONE if features["trade"] else Witness.AGAINST


def _bare(row: Row) -> str:
    text = unprefixed(squeeze(row.text))
    match = _REGISTERED.search(known(text))
    return text[: match.start()] if match else text


def _head(rows: Sequence[Row]) -> list[Row]:
    """The first rows, so many that ten of them say something: what is scribbled above the name moves nothing."""
    head: list[Row] = []
    wordy = 0
    for row in rows[:MOST_ROWS]:
        if wordy == HEAD_ROWS:
            break
        wordy += is_wordy(row)
        head.append(row)
    return head


def _of_its_words(text: str, fact: Said) -> dict[str, bool]:
    return {
        "form": fact.form,
        "form at the end": any(len(text) - match.end() < 3 for match in FORM.finditer(text)),
        "trade": fact.trade,
        "street": fact.street,
        "place": fact.place,
        "postcode": fact.postcode,
        "other": fact.other,
        "phone": fact.phone,
        "many digits": sum(map(str.isdigit, text)) > 0.2 * len(text),
        "short": len(text) < 7,
        "ends open": text.endswith(_OPEN),
        "nothing but form or place": len(PLACE.sub("", FORM.sub("", text)).strip(" .,()&")) < 3,
    }


def _of_its_place(facts: Sequence[Said], place: int, fact: Said, *, pair: bool) -> dict[str, bool]:
    next_place = place + 1 + pair
    after = facts[next_place] if next_place < len(facts) else _NOTHING
    formless = not any(each.form for each in facts) and not fact.street and not fact.other
    return {
        "first, no form": formless and place == 0,
        "before street, no form": formless and after.street,
        "before registration": after.registration,
        "before street": after.street,
        "after form": any(each.form for each in facts[:place]),
        "after street": any(each.street and not each.form for each in facts[:place]),
        "after other": place > 0 and facts[place - 1].other,
        "form further down": any(each.form for each in facts[next_place:]),
    }


def _of_its_second_row(text: str, second: str, first_fact: Said, fact: Said) -> dict[str, bool]:
    return {
        "pair": True,
        "pair form second": fact.form and not first_fact.form,
        "pair both form": fact.form and first_fact.form,
        "pair second street": fact.street,
        "pair second registration": fact.registration,
        "pair second trade": fact.trade,
        "pair second other": fact.other,
        "pair second bracket": second.startswith("("),
        "pair second short": len(second) < 8,
        "pair first open": text[: len(text) - len(squeeze(second))].rstrip().endswith(_OPEN),
    }

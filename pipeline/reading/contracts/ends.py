"""The day on which a contract ends, where it is printed, or computed from the term and the day it counts from.

A logistic model over what stands around a printed date decides; its weights are made by bench/contract_rankers.py.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Sequence

from pipeline.reading.contracts.answers import Answer
from pipeline.reading.contracts.deciding import Features, chosen
from pipeline.reading.contracts.prose import Prose
from pipeline.reading.dates import FoundDate

MOST = 60  # dates behind words of an end that are looked at
DERIVED = 0.8  # of the product of what the end is computed from
_REACH = 220  # characters before a date or a duration that may speak of it
_WORDS = (
    r"\b(?:expir(?:e|es|ing|ation date)|terminat(?:e|es|ing|ion date)|ends?|ending|concluding|until|through|continues?"
    r" to|extended (?:to|until)|(?:remain|continue) in (?:full )?(?:force|effect)[a-z ]{0,30}until|endet (?:am|mit"
    r" ablauf des)|befristet bis|bis zum|prend fin le|jusqu'au|expire le|eindigt op|tot en met|finalizara el|hasta el"
    r"|scade il|fino al)\b"
)
_ENDS = re.compile(_WORDS)
_BEFORE = {
    "ends": _WORDS + r".{0,30}$",
    "expires": r"\bexpir\w+",
    "until": r"\b(?:until|through|to) ?(?:and including )?(?:midnight )?(?:on )?$",
    "term": r"\bterm\b|\bduration\b|\blaufzeit\b|\bdauer\b|\bduree\b|\blooptijd\b|\bduracion\b|\bdurata\b|\bin effect\b"
    r"|\bplazo\b|\bduur\b",
    "initial": r"\binitial\b",
    "contract": r"\b(?:this (?:\w+ )?(?:agreement|contract|lease|license)|vertrag|le (?:present )?contrat|overeenkomst"
    r"|el contrato|il contratto)\b",
    "contract period": r"\bcontract period\b|\bperiod of this\b|\bterm of (?:this|the)\b",
    "other period": r"\b(?:calendar|contract|fiscal|license) (?:year|half|quarter)|\bquarter\b|\bmonth",
    "period of": r"\bperiod (?:commencing|beginning|from|of)",
    "starts": r"\b(?:commenc\w+|begin\w*|starts?|effective|from)\b",
    "renews": r"\b(?:renew\w*|additional|extend\w*|extension|option)\b",
    "money": r"\b(?:pay\w*|royalt\w*|fees?|shares|price|invoice|interest|loan|notes?|credit|expense)\b",
    "another": r"\b(?:dated|certain|original|prior|amended|entered into)\b",
    "if": r"\b(?:if|unless|in the event|provided|earlier of|later of)\b",
    "exclusive": r"\bexclusiv\w+|\bwarrant\w+|\boption\b",
    "on or before": r"\bon or (?:before|prior)|\bno later than|\bby ?$",
}
_RULES = {name: re.compile(pattern) for name, pattern in _BEFORE.items()}
_AFTER = {
    "term": r".{0,30}?\bterm\b",
    "unless": r".{0,20}?\b(?:unless|subject to|\(unless)",
    "date": r".{0,10}?[\"“]?(?:expiration|termination|end)",
}
_AFTER_RULES = {name: re.compile(pattern) for name, pattern in _AFTER.items()}
_SENTENCE = re.compile(r"[.;] (?=[a-z(\d])")
_LATER = re.compile(
    r"\b(?:commercial sale|launch|first deliver\w*|completion|last addendum|closing|opening|acceptance|phases?"
    r"|date (?:up)?on which|(?:later|longer) (?:of|to occur)|first (?:date|public|day|ship\w*))\b"
)
# "three years from the Launch Date": counted from an event, unless that is the contract's own beginning.
_EVENT = re.compile(
    r".{0,3}?\b(?:from|after|following|commencing (?:on|upon|with|from)|beginning (?:on|upon|with|from)|of)"
    r"(?: and (?:after|including))?+ (?:the |its |such |that )*+(?!effective|date\b|commencement|start|execution"
    r"|signing|signature|this\b|hereof|thereof|beginning|agreement|contract|entry|day|first|last|and\b|initial|above|such"
    r"|operation|service|duration|\d|[a-z]+ \d)"
)


def expiration(
    prose: Prose, dates: Sequence[FoundDate], *, agreed: Answer | None, term: Answer | None, start: Answer | None
) -> Answer | None:
    """The day on which the contract ends: printed, or computed from the term and the day it counts from.

    A printed date at most two days before the computed one confirms it and wins; else the surer of the two does.
    """
    listed = candidates(prose, dates, agreed)
    found = chosen(listed, "expiration_date", least=0.5)
    printed = _answer(found[0], round(found[1], 2)) if found else None
    computed = derived_end(prose, term, start)
    if computed is None:
        return printed
    day = dt.date.fromisoformat(computed.value)
    for date, _ in listed:
        if 0 <= (day - dt.date.fromisoformat(date.value)).days <= 2:
            return _answer(date, 0.85)
    return printed if printed and printed.confidence > computed.confidence else computed


def candidates(prose: Prose, dates: Sequence[FoundDate], made: Answer | None) -> list[tuple[FoundDate, Features]]:
    """The dates behind words of an end, and what speaks for and against each."""
    listed: list[tuple[FoundDate, Features]] = []
    for date in dates:
        if len(listed) < MOST and _ENDS.search(prose.folded, max(0, date.start - 60), date.start):
            features = dict(_features(prose, date))
            features["before it was made"] = float(made is not None and date.value <= made.value)
            listed.append((date, features))
    return listed


def _answer(date: FoundDate, confidence: float) -> Answer:
    return Answer(date.value, date.start, date.end, "ranker", confidence)


def derived_end(prose: Prose, term: Answer | None, start: Answer | None) -> Answer | None:
    """The day on which a term that begins on a known day ends; None if it begins with an event, or is not sure.

    The value is the same day of the month as the start, as contracts count; its place is that of the term.
    """
    if term is None or start is None or start.confidence < 0.5:
        return None
    if _LATER.search(prose.folded, max(0, term.start - _REACH), term.end + 120) or _EVENT.match(
        prose.folded, term.end, term.end + 80
    ):
        return None
    ends = plus(dt.date.fromisoformat(start.value), term.value)
    if ends is None:
        return None
    trust = round(DERIVED * term.confidence * start.confidence, 2)
    return Answer(ends.isoformat(), term.start, term.end, "derived", trust, f"{start.value} + {term.value}: ")


def plus(start: dt.date, length: str) -> dt.date | None:
    """A day and a length like "3 years"; the last day of a shorter month instead of a day that it has not."""
    number, unit = length.split(" ")
    if unit.startswith(("day", "week")):
        return start + dt.timedelta(days=int(number) * (7 if unit.startswith("week") else 1))
    months = start.month - 1 + int(number) * (12 if unit.startswith("year") else 1)
    year, month = start.year + months // 12, months % 12 + 1
    if year > dt.MAXYEAR:
        return None
    return dt.date(year, month, min(start.day, calendar.monthrange(year, month)[1]))


def _features(prose: Prose, date: FoundDate) -> Iterator[tuple[str, float]]:
    before = _SENTENCE.split(prose.folded[max(0, date.start - _REACH) : date.start])[-1]
    yield "any", 1.0
    for name, rule in _RULES.items():
        if rule.search(before):
            yield name, 1.0
    for name, rule in _AFTER_RULES.items():
        if rule.match(prose.folded, date.end, date.end + 60):
            yield f"then {name}", 1.0
    yield "early", float(date.start < 0.3 * len(prose.text))

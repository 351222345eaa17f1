"""The day on which a contract was made and the day from which it counts, among all the dates of its opening and end.

A logistic model over what stands around each date decides; its weights are made by bench/contract_rankers.py.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.reading.contracts.answers import Answer
from pipeline.reading.contracts.deciding import Features, chosen
from pipeline.reading.contracts.prose import Prose
from pipeline.reading.dates import FoundDate

HEAD = 12_000  # characters that hold cover and opening
MOST = 16  # dates of the head that are looked at, and as many behind it
_REACH = 120  # characters before a date that may speak of it
_BEFORE = {
    "made": r"\b(?:made|entered into|executed|signed|concluded|geschlossen am|gesloten op|fait (?:a \w+,? )?le)\b",
    "dated": r"\b(?:dated|vom|en date du|fecha|in data)\b|\b(?:date|datum|data) ?:",
    "accepted": r"\b(?:accepted|agreed|acknowledged|confirmed)\b[^.]{0,40}$",
    "as of": r"\bas of(?: this| the)? ?$",
    "place": r"\b[a-z]{3,20}, (?:den|le|il|a) ?$",
    "this day": r"\b(?:on )?this(?: the)? ?$",
    "effective": r"\beffective\b|\bwith effect\b|\bin kraft\b|\bprend effet\b|\bmet ingang\b"
    r"|\ba partir del\b|\bdecorre",
    "effective date": r"\b(?:effective|commencement|start) date\b|\bingangsdatum\b|\bvertragsbeginn\b",
    "begins": r"\b(?:commenc\w+|begin\w*|starts?|takes? effect|(?:comes?|enters?) into (?:force|effect)|tritt|beginnt"
    r"|prend effet|entre en vigueur|gaat in|ab dem|entrara en vigor|decorre\w*)\b",
    "this contract": r"\bth(?:is|e) (?:[\w-]+ ){0,6}(?:agreement|contract|amendment|lease|letter)\b|\bdieser vertrag\b",
    "another": r"\b(?:that certain|pursuant to|original|prior|under the|amended|in the)\b",
    "filed": r"source:|\b(?:10-k|8-k|s-1|10-q|filed)\b",
    "until": r"\b(?:until|expir\w+|terminat\w+|through|end(?:s|ing)?|bis zum|endet)\b",
    "signature": r"\bin witness whereof|\bsignature|\bby ?:|/s/|\bname ?:|\btitle ?:",
    "between": r"\bbetween\b",
    "statute": r"\b(?:act|law|regulation|code)\b",
    "money": r"\b(?:audited|fiscal|year ended|financial|shares|balance|payments?)\b",
    "date of": r"\bthe date\b|\bdate of\b",
}
_RULES = {name: re.compile(pattern) for name, pattern in _BEFORE.items()}
_NEAR = frozenset({"made", "dated", "effective", "begins"})  # also told where they stand close by
_CLOSE = 35  # characters
_AFTER = {
    "effective date": r'[^a-z0-9]{0,3}\(?[^()]{0,50}["“”\'‘]{1,2} ?(?:effective|commencement|start) date',
    "agreement date": r'[^a-z0-9]{0,3}\(?[^()]{0,50}["“”\'‘]{1,2} ?(?:agreement|execution|signing) date',
    "between": r".{0,60}\b(?:between|among|is by)\b",
    "end": r"[^a-z]{0,3}$",
    "title": r".{0,30}\bagreement\b",
    "through": r".{0,4}(?:through|until|to\b|-|bis)",
    "salutation": r".{0,400}(?:gentlemen|to whom it may concern|\bdear )",
}
_AFTER_RULES = {name: re.compile(pattern) for name, pattern in _AFTER.items()}
_LATE = re.compile(r"effective|commenc|made|entered|dated|witness|executed|signed|datum|beginn|geschlossen")
_SENTENCE = re.compile(r"[.;] (?=[a-z(\d])")
# A date of another contract: "under that certain Loan Agreement (the "Loan"), dated as of …".
_OF_ANOTHER = re.compile(
    r"\b(?:to|under|in|of|certain|an?|into|that|with|reference|the|prior) (?:(?!this|which)[\w&,/-]{1,20} ){0,7}"
    r"(?:agreements?|contract|letter|plan of merger|memorandum of understanding|note|lease|document)\b[\"”]?,? "
    r"(?:\([^()]{0,60}\),? )?(?:no\.? ?\w{1,12},? )?(?:dated|made|entered into|effective|executed)(?: as)?"
    r"(?: of| on)? ?(?:the )?$"
)
_MADE = re.compile(
    r"\b(?:dated|made|entered into|executed|signed|concluded|agreement date|vom|geschlossen am"
    r"|en date du|fait (?:a \w+,? )?le|gesloten op|fecha|a fecha|in data)\b|\b(?:date|datum|data) ?:"
)
_STARTS = re.compile(r"\. |" + _BEFORE["begins"])


def agreement_date(prose: Prose, dates: Sequence[FoundDate]) -> Answer | None:
    """The date on which the contract says it was made."""
    return _chosen(prose, dates, "agreement_date")


def effective_date(prose: Prose, dates: Sequence[FoundDate]) -> Answer | None:
    """The date called the effective date, or one on which the contract begins."""
    return _chosen(prose, dates, "effective_date")


def since_made(agreed: Answer | None) -> Answer | None:
    """The day from which a contract counts that names no other day than the one it was made on. Never sure."""
    if agreed is None:
        return None
    trust = round(min(0.6, 0.8 * agreed.confidence), 2)
    return replace(agreed, method="derived", confidence=trust, derivation="no other day is given: ")


def counts_from(effective: Answer | None, agreed: Answer | None) -> Answer | None:
    """The effective date if it is likely, else the date of the agreement; the surer of the two if both are one day."""
    if effective is None or effective.confidence < 0.5:
        return agreed
    same = agreed is not None and agreed.value == effective.value and agreed.confidence > effective.confidence
    return agreed if same else effective


def candidates(prose: Prose, dates: Sequence[FoundDate]) -> Sequence[tuple[FoundDate, Features]]:
    """The dates that may be the contract's own, and what speaks for and against each."""
    head = list(itertools.takewhile(lambda date: date.start < HEAD, dates))[:MOST]
    late = [date for date in dates[len(head) :] if _LATE.search(prose.folded, date.start - 70, date.end + 60)][-MOST:]
    first: set[str] = set()
    listed: list[tuple[FoundDate, dict[str, float]]] = []
    for date in (*head, *late):
        features = dict(_features(prose, date))
        for name in ("own", "made"):
            if name in features and name not in first:
                first.add(name)
                features[f"first {name}"] = 1.0
        listed.append((date, features))
    if listed and "made" not in first:
        listed[0][1]["first, none made"] = 1.0
    return listed


def _chosen(prose: Prose, dates: Sequence[FoundDate], name: str) -> Answer | None:
    found = chosen(candidates(prose, dates), name)
    if found is None:
        return None
    date, share = found
    return Answer(date.value, date.start, date.end, "ranker", round(share, 2))


def _features(prose: Prose, date: FoundDate) -> Iterator[tuple[str, float]]:
    before = prose.folded[max(0, date.start - _REACH) : date.start]
    sentence = _SENTENCE.split(before)[-1]
    yield "any", 1.0
    for name, rule in _RULES.items():
        if rule.search(sentence):
            yield f"{name} before", 1.0
            if name in _NEAR and rule.search(sentence[-_CLOSE:]):
                yield f"{name} near", 1.0
    for name, rule in _AFTER_RULES.items():
        if rule.match(prose.folded, date.end, date.end + (450 if name == "salutation" else 120)):
            yield f"then {name}", 1.0
    other = _OF_ANOTHER.search(prose.folded, max(0, date.start - 200), date.start) is not None
    yield ("of another" if other else "own"), 1.0
    made = list(_MADE.finditer(before))
    if made and not other and not _STARTS.search(before[made[-1].end() :]):
        yield "made", 1.0
    yield "early", float(date.start < 2_500)
    yield "at the top", float(date.start < 800)
    yield "at the end", float(date.start > 0.85 * len(prose.text))
    yield "behind the head", float(date.start >= HEAD)

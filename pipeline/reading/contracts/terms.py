"""How long a contract runs: the duration that speaks most of the contract itself.

Which of a contract's durations is meant is decided by a logistic model over what stands around each; its weights are
made by bench/contract_rankers.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipeline.reading.contracts.answers import Answer
from pipeline.reading.contracts.deciding import Features, chosen
from pipeline.reading.contracts.prose import Prose
from pipeline.reading.dates import FoundDate
from pipeline.reading.near import finditer_near
from pipeline.reading.periods import Period

MOST = 400  # durations that are looked at closely; 250 pages have some 300
_REACH = 220  # characters before a duration that may speak of it
_TITLE = 1_500  # characters in which a contract says that it is one on secrecy
_BEFORE = {
    "the contract": r"\bthis (?:\w+ ){0,3}(?:agreement|contract|lease|license)\b|\bthe (?:agreement|contract)\b",
    "initial term": r"\binitial term\b",
    "term": r"\bterm\b|\bduration\b|\blaufzeit\b|\bdauer\b|\bduree\b|\blooptijd\b|\bplazo\b|\bduracion\b|\bdurata\b"
    r"|\bduur\b",
    "the term": r"\bterm (?:of|under) this (?:\w+ ){0,2}(?:agreement|contract|lease|license)\b",
    "in force": r"\bin (?:full )?(?:force|effect)|remain effective|\bvalid\b|\bbinding\b",
    "goes on": r"\bcontinu\w+|\bremain\b|\b(?:commenc|begin)\w*|\bperiod commencing\b",
    "ends": r"\bexpires?\b|\bterminates?\b|\bends?\b",
    "stops": r"\blapses?\b|\bceases?\b(?! to)|\bno further (?:force|effect)",
    "is": r"\b(?:term|period|duration)(?: of this \w+)?(?: \W?\w+\W{0,2})? (?:of|is|shall be|will be|:)"
    r"(?: for| of| a| an| term| period){0,5} ?$",
    "for": r"\b(?:effect|force|effective|valid|continue|extend|remain)(?: \w+){0,5} for(?: a| an| the| initial| term"
    r"| period| of| at least| entire){0,6} ?$",
    "laufzeit": r"\b(?:laufzeit|dauer|duree|looptijd|duracion|durata)\b.{0,40}$",
    "again": r"\b(?:renew\w*|success\w+|additional|extended|subsequent"
    r"|further(?! (?:force|effect))|extension|verlanger\w*)\b[^.]{0,80}$",
    "within": r"\b(?:cure|breach\w*|default|written|invoice|payment|paid|days of|within|kundig\w*|frist)\b[^.]{0,60}$",
    "notice": r"\b(?:notice|notif\w+|inform\w*)\b[^.]{0,60}$",
    "during": r"\bduring the (?:\w+ )?term\b|\band (?:for|thereafter|continuing)[^.]{0,30}$|\bceas\w+ to\b",
    "other period": r"\b(?:restricted period|warranty period|last shipment|tail period)\b",
    "than": r"\b(?:less than|prior|past|preceding|last|every|each|per|any|first|at least)(?: \w+)? ?$",
    "duties": r"\bobligat\w+|\bduties\b|\bundertakings?\b|\brestrictions?\b",
    "secrecy": r"\bconfidential\w*|\bnon-?disclosure|\bsecre\w+",
    "outlives": r"\bsurviv\w+|\bafter (?:the )?(?:termination|expiration)|\bfollowing (?:the )?(?:termination|expir)",
    "other subject": r"\b(?:warrant\w+|royalt\w+|insur\w+|retain\w*|records|employ\w*|experience|lock-?up|audit\w*"
    r"|option|exclusiv\w+|patent\w*|copyright|service\w* credit)\b",
    "compete": r"\bnon-?compet\w*|\bsolicit\w*|\bhire\b|\bstandstill\b|\bacquire\b",
    "heading": r"(?:^|[.;] )(?:\W|\d){0,8}(?:initial )?(?:term|duration|laufzeit|dauer)\b",
}
_AFTER = {
    "from": r".{0,4}?(?:from|following|after|commencing|beginning|starting|thereafter|unless|\([\"“a-z ]{0,20}term)\b",
    "from its date": r".{0,40}?\b(?:effective date|date hereof|date of (?:this|the)|its date|commencement|execution"
    r"|date first|the date)\b",
    "before": r".{0,30}?\b(?:prior|before|notice|advance)\b",
    "from the end": r".{0,30}?\b(?:termination date|date of termination|end date|last shipment)\b",
    "after the end": r".{0,20}?(?:after|following) (?:the )?(?:termination|expiration|disclosure|receipt|delivery)\b",
    "keeps secret": r".{0,90}?\b(?:keep|hold|maintain|treat|protect)\w*\b.{0,60}?\b(?:confiden\w+|secret)",
    "forbids": r".{0,70}?\b(?:(?:will|shall|may|agrees?) not\b|neither|nor\b|refrain)",
    "age": r"(?: old|'s? experience|of age| per| each)",
    "unless": r".{0,30}?\b(?:unless|subject to|and (?:shall|will|may) (?:be )?(?:automatically )?(?:renew|extend))",
    "the term": r".{0,6}?\(.{0,20}\bterm\b",
}
_BEFORE_RULES = {name: re.compile(pattern) for name, pattern in _BEFORE.items()}
_AFTER_RULES = {name: re.compile(pattern) for name, pattern in _AFTER.items()}
# A duration that is not near one of these is of no contract.
_GATE = re.compile(
    r"\bterm\b|\bperiod\b|effect|\bforce\b|continu|expir|terminat|\bduration\b|\bvalid|\bceas|\blaps|\bobligation|\bsecret|agreement|contract|surviv|binding"
    r"|laufzeit|dauer|duree|looptijd|duracion|durata|duur|plazo|vertrag|vereinbarung"
)
_SECRET = re.compile(
    r"\b(?:non-?disclosure|confidentiality|confidential information|evaluation material|geheimhaltung\w*)\b"
)
_STARTS = re.compile(r"\b(?:commenc\w+|begin\w*|starts?|effective|from|into force|beginnt|ab)\b[a-z ,]{0,30}$")
_ORDINALS = (
    *("zero", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "twentieth"),
)
_ANNIVERSARY = re.compile(
    rf"\b(?:({'|'.join(_ORDINALS[1:])})(?: \((\d{{1,2}}) ?(?:st|nd|rd|th|h)?\))?|(\d{{1,2}}) ?(?:st|nd|rd|th)) "
    r"(?:annual |year )?anniversary of (?:the )?(?:effective date|date (?:hereof|of this)|its date|commencement"
    r"|date first)"
)
_ANNIVERSARIES = re.compile("anniversary of ")  # what each of them contains
_SENTENCE = re.compile(r"[.;] (?=[a-z(\d])")


def term(prose: Prose, periods: Sequence[Period]) -> Answer | None:
    """How long the contract runs, as a number and a unit: "3 years". None if no duration clearly says so."""
    found = chosen(candidates(prose, periods), "term")
    if found is None:
        return None
    period, share = found
    return Answer(period.value, period.start, period.end, "ranker", round(share, 2))


def candidates(prose: Prose, periods: Sequence[Period]) -> Sequence[tuple[Period, Features]]:
    """The durations that may be the contract's own, and what speaks for and against each."""
    secret = _SECRET.search(prose.folded, 0, _TITLE) is not None
    listed: list[tuple[Period, Features]] = []
    for period in sorted((*periods, *_anniversaries(prose)), key=lambda each: each.start):
        if len(listed) < MOST and _GATE.search(prose.folded, max(0, period.start - _REACH), period.end + 60):
            listed.append((period, dict(_features(prose, period, secret=secret))))
    return listed


def start(prose: Prose, term: Answer | None, dates: Sequence[FoundDate]) -> Answer | None:
    """The day from which the sentence itself counts the term: "shall begin on 1 May 2020 and continue for 2 years"."""
    if term is None:
        return None
    sentence = term.start - len(_before(prose.folded, term.start))
    for date in dates:
        if sentence <= date.start < term.start and _STARTS.search(prose.folded, sentence, date.start):
            return Answer(date.value, date.start, date.end, "label", 0.8)
    return None


def _features(prose: Prose, period: Period, *, secret: bool) -> Iterator[tuple[str, float]]:
    before = _before(prose.folded, period.start)
    after = prose.folded[period.end : period.end + 80]
    yield "any", 1.0
    yield "secret", float(secret)
    for name, rule in _BEFORE_RULES.items():
        if rule.search(before):
            yield name, 1.0
            if secret and name in _TOLD_APART:
                yield f"{name}, secret", 1.0
    for name, rule in _AFTER_RULES.items():
        if rule.match(after):
            yield f"then {name}", 1.0
    yield "days", float(period.value.endswith(("day", "days")))
    yield "weeks", float("week" in period.value)
    yield "months", float("month" in period.value)
    yield "early", float(period.start < 0.3 * len(prose.text))
    yield "anniversary", float(prose.folded[period.start : period.end].endswith("anniversary"))


_TOLD_APART = frozenset({"outlives", "duties", "secrecy", "the contract", "compete", "ends", "stops"})


def _before(folded: str, place: int) -> str:
    """The words before a place, from the start of its sentence."""
    text = folded[max(0, place - _REACH) : place]
    stops = list(_SENTENCE.finditer(text))
    return text[stops[-1].end() :] if stops else text


def _anniversaries(prose: Prose) -> Iterator[Period]:
    near = finditer_near(_ANNIVERSARY, _ANNIVERSARIES.finditer(prose.folded), prose.folded, before=60, after=80)
    for match in near:
        years = int(match[2] or match[3] or 0) or (20 if match[1] == "twentieth" else _ORDINALS.index(match[1]))
        end = match.start() + match[0].index("anniversary") + len("anniversary")
        yield Period(f"{years} year{'s' if years > 1 else ''}", match.start(), end)

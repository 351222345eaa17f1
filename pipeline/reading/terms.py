"""How long a contract runs: the duration that speaks most of the contract itself, and the day on which that ends."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator, Sequence

from pipeline.reading.clauses import Answer
from pipeline.reading.periods import Period
from pipeline.reading.prose import Prose

NEEDED = 4  # points; below, a duration is of something else
_REACH = 220  # characters before a duration that may speak of it


def _rule(points: int, pattern: str) -> tuple[int, re.Pattern[str]]:
    return points, re.compile(pattern)


# What stands before a duration, and the points it gives. Each pattern looks at one sentence only.
_BEFORE = (
    _rule(
        2, r"\bthis (?:\w+ ){0,3}(?:agreement|contract|lease|license)\b|\bthe (?:agreement|contract)\b|\binitial term\b"
    ),
    _rule(2, r"\bterm\b|\bduration\b|\blaufzeit\b|\bdauer\b|\bduree\b|\blooptijd\b|\bplazo\b"),
    _rule(2, r"\bduracion\b|\bdurata\b|\bduur\b"),
    _rule(
        1,
        r"\bin (?:full )?(?:force|effect)|remain effective|\bcontinu\w+|\b(?:commenc|begin)\w*|\bvalid\b|\bexpires?\b",
    ),
    _rule(
        2,
        r"\b(?:term|period|duration)(?: of this \w+)?(?: \W?\w+\W{0,2})? (?:of|is|shall be|will be|:)"
        r"(?: for| of| a| an| term| period){0,5} ?$",
    ),
    _rule(
        2,
        r"\b(?:effect|force|effective|valid|continue|extend|remain)(?: \w+){0,5} for(?: a| an| the| initial| term"
        r"| period| of| at least| entire){0,6} ?$",
    ),
    _rule(3, r"\b(?:laufzeit|dauer|duree|looptijd|duracion|durata)\b.{0,40}$"),
    _rule(-5, r"\b(?:renew\w*|success\w+|additional|extended|subsequent|further|extension|verlanger\w*)\b[^.]{0,80}$"),
    _rule(
        -4,
        r"\b(?:notice|cure|breach\w*|default|written|invoice|payment|paid|days of|within|notif\w+|frist"
        r"|kundig\w*)\b[^.]{0,60}$",
    ),
    _rule(-4, r"\bduring the (?:\w+ )?term\b|\band (?:for|thereafter|continuing)[^.]{0,30}$|\bceas\w+"),
    _rule(-4, r"\b(?:restricted period|warranty period|last shipment)\b"),
    _rule(-3, r"\b(?:less than|prior|past|preceding|last|every|each|per|any)(?: \w+)? ?$"),
)
_OUTLIVES = re.compile(  # no sign against a duration in a contract on secrecy
    r"\b(?:surviv\w+|after (?:the )?(?:termination|expiration)|confidential\w*|warrant\w+|royalt\w+|insur\w+"
    r"|retain\w*|records|non-?compet\w*|solicit\w*|employ\w*|experience|lock-?up)\b"
)
_AFTER = (
    _rule(
        1, r".{0,4}?(?:from|following|after|commencing|beginning|starting|thereafter|unless|\([\"“a-z ]{0,20}term)\b"
    ),
    _rule(1, r".{0,40}?\b(?:effective date|date hereof|date of (?:this|the)|commencement|execution)\b"),
    _rule(-4, r".{0,30}?\b(?:prior|before|notice|advance)\b"),
    _rule(-4, r".{0,30}?\b(?:termination date|date of termination|end date|last shipment)\b"),
    _rule(-3, r".{0,20}?(?:after|following) (?:the )?(?:termination|expiration|disclosure|receipt|delivery)\b"),
    _rule(-3, r"(?: old|'s? experience|of age| per| each)"),
)
_LATER = re.compile(
    r"\b(?:commercial sale|launch|first deliver\w*|completion|last addendum|closing|opening|acceptance|phases?"
    r"|date (?:up)?on which|later (?:of|to occur))\b"
)
_SECRET = re.compile(r"\b(?:non-?disclosure|confidentiality)\b")
_TITLE = 1_500  # characters in which a contract says that it is one on secrecy
_ORDINALS = ("zero", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ANNIVERSARY = re.compile(
    rf"\b({'|'.join(_ORDINALS[1:])}) (?:\(\d{{1,2}} ?(?:st|nd|rd|th|h)?\) )?(?:annual )?anniversary of the "
    r"(?:effective date|date (?:hereof|of this)|commencement)"
)
_ENDS = re.compile(r"\b(?:term\w*|continu\w+|expir\w+|effect|force|until|end)\b")
_SENTENCE = re.compile(r"[.;] (?=[a-z(\d])")


def term(prose: Prose, periods: Sequence[Period]) -> Answer | None:
    """How long the contract runs, as a number and a unit: "3 years". None if no duration clearly says so."""
    secret = _SECRET.search(prose.folded, 0, _TITLE) is not None
    best, most = None, 0
    for period in periods:
        points = _points(prose.folded, period, secret=secret)
        if points > most:
            best, most = period, points
    said = next(_anniversaries(prose), None)
    if said and most < NEEDED + 2:
        return said
    if best is None or most < NEEDED - secret:
        return None
    return Answer(best.value, best.start, best.end, "label", 0.8 if most >= 6 else 0.65 if most == 5 else 0.5)


def expiration(prose: Prose, term: Answer | None, start: Answer | None) -> Answer | None:
    """The day on which a term that begins on a known day ends; None if it begins with an event, or is not sure.

    The value is the same day of the month as the start, as contracts count; its place is that of the term.
    """
    if term is None or start is None or start.confidence < 0.5:
        return None
    before = prose.folded[max(0, term.start - _REACH) : term.end + 120]
    if _LATER.search(before):
        return None
    ends = _plus(dt.date.fromisoformat(start.value), term.value)
    if ends is None:
        return None
    trust = round(min(0.5, term.confidence - 0.2), 2)
    return Answer(ends.isoformat(), term.start, term.end, "derived", trust, f"{start.value} + {term.value}: ")


def _points(folded: str, period: Period, *, secret: bool) -> int:
    before = folded[max(0, period.start - _REACH) : period.start]
    stops = list(_SENTENCE.finditer(before))
    before = before[stops[-1].end() :] if stops else before
    after = folded[period.end : period.end + 80]
    points = sum(weight for weight, pattern in _BEFORE if pattern.search(before))
    if not secret:
        points -= (3 if _OUTLIVES.search(before) else 0) + (4 if "surviv" in before else 0)
    points += sum(weight for weight, pattern in _AFTER if pattern.match(after))
    points -= 2 if period.value.endswith(("day", "days")) else 0
    return points + (1 if secret and "year" in period.value else 0)


def _anniversaries(prose: Prose) -> Iterator[Answer]:
    for match in _ANNIVERSARY.finditer(prose.folded):
        if _ENDS.search(prose.folded, max(0, match.start() - 150), match.start()):
            years = _ORDINALS.index(match[1])
            value = f"{years} year{'s' if years > 1 else ''}"
            yield Answer(value, match.start(), match.end(), "derived", 0.6)


def _plus(start: dt.date, length: str) -> dt.date | None:
    """A day and a length like "3 years"; the last day of a shorter month instead of a day that it has not."""
    number, unit = length.split(" ")
    if unit.startswith(("day", "week")):
        return start + dt.timedelta(days=int(number) * (7 if unit.startswith("week") else 1))
    months = start.month - 1 + int(number) * (12 if unit.startswith("year") else 1)
    year, month = start.year + months // 12, months % 12 + 1
    if year > dt.MAXYEAR:
        return None
    return dt.date(year, month, min(start.day, calendar.monthrange(year, month)[1]))

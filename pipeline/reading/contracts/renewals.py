"""How a contract goes on and how it is stopped: the length of a renewal, and the notice that ends it.

Which of a contract's durations is the renewal's, and which is the notice that stops it, is decided by logistic models
over what stands around each; their weights are made by bench/contract_rankers.py.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from pipeline.reading.contracts.answers import Answer
from pipeline.reading.contracts.deciding import Features, chosen
from pipeline.reading.contracts.prose import Prose
from pipeline.reading.near import finditer_near
from pipeline.reading.periods import Period

MOST = 400  # durations that are looked at closely; 250 pages have some 300
_RENEW = re.compile(
    r"\b(?:(?:re|non-?re)new\w*|extend(?:s|ed|ing)?|extension|verlanger\w*|prolong\w*|reconduction|renouvel\w*|verleng\w*"
    r"|prorrog\w*|renov\w*|rinnov\w*|prorog\w*)\b"
)
# What lies 300 characters before or 200 behind a duration that has to do with a renewal.
_GATE = re.compile(
    _RENEW.pattern + r"|\bcontinu\w+|month[ -]to|\bsuccess\w+|\badditional|\bthereafter|\bexpir\w+|\bterminat\w+"
    r"|\bkundig\w*|\bresili\w*|\bopzeg\w*|\bdisdetta|\bdenunci\w*"
)
_BEFORE = {
    "renewed": r"(?<!non-)(?<!non)\b(?:renew\w*|extend(?:s|ed)?\b|extension|continu\w+|verlanger\w*|prolong\w*"
    r"|reconduction|renouvel\w*|verleng\w*|prorrog\w*|renov\w*|rinnov\w*|prorog\w*)",
    "again": r"\b(?:additional|success\w+|further|subsequent|consecutive|renewals?|extensions?|extended|another|like"
    r"|rolling|more|weitere\w*|jeweils|supplementaires?|successive[sn]?|telkens)\b.{0,44}$",
    "for": r"\b(?:renew\w*|extend\w*)(?: \w{1,14}){0,4} for (?:an? )?(?:period |term )?(?:of )?(?:up to )?$",
    "within": r"\b(?:within|until|beyond|more than|least|upon|first|only|such|that|said|days)\b[a-z ]{0,20}$",
    "until ended": r"\buntil (?:it is |earlier |otherwise )?(?:terminat|cancel)\w+",
    "at the end": r"\b(?:end|expir\w+|last day) of (?:the |its |this |any |each )?(?:\w+ ){0,3}(?:term|period)",
    "initial": r"\binitial (?:term|period)",
    "goes on": r"\bcontinu\w+|\bremain\w* in|\bstay in",
    "first it runs": r"\bfor (?:a|an|the)(?: \w+){0,3} (?:term|period) of\W*$|\binitial term (?:of|shall be)\b.{0,30}$",
}
_AROUND = {
    "other subject": r"\b(?:warrant\w+|deadlines?|payments?|due date|cure|closing|lock-?up|limitations|loan"
    r"|polic(?:y|ies)|mediation|insurance|certificate|option to (?:purchase|lease)|confidential\w*|negotiat\w+)\b",
    "automatic": r"\bautomatic\w*|\bsuccessive|\bunless\b|\bevergreen|\bdeemed|\bstillschweigend|\btacite",
    "renew": _RENEW.pattern,
    "refused": r"\b(?:not (?:to )?(?:be )?(?:so )?(?:renew|extend)\w*|non-?renew\w*|terminat\w+|cancel\w*|unless"
    r"|elect\w*|inten\w+|decision|desire\w*|decline\w*|exercis\w+|expir\w+|otherwise|(?:ge)?kundig\w*|denonc\w*"
    r"|opzeg\w*|opgezegd|denuncia|disdetta)\b",
    "notice": r"\b(?:notice|notif\w+|inform\w*|advis\w+|in writing|written|(?:ge)?kundig\w*|preavis|denonc\w*|opzeg\w*"
    r"|opgezegd|denuncia|disdetta)\b",
    "wish": r"\b(?<!not )(?:wish|desire|elect|option|right|agree)\w*(?: \w{1,12}){0,3} to (?:so )?(?:renew|extend)"
    r"|agree in writing|only be renewed|\bmutual(?:ly)? (?:\w+ )?agree\w*",
    "cause": r"\b(?:cure[sd]?|curing|breach\w*|default\w*|insolven\w*|bankrupt\w*|fail(?:s|ure|ed)?|violat\w+"
    r"|non-?payment|remed\w+|change (?:of|in) control|force majeure|insurance|polic(?:y|ies))\b",
    "free": r"without (?:cause|reason|penalty)|for convenience|(?:any|no) reason|at any time|with or without"
    r"|in its sole|kundigungsfrist|frist von|preavis|opzegtermijn|preavviso",
    "ended": r"\b(?:terminat\w*|cancel\w*|end this|kundig\w*|resili\w*|opzeg\w*)\b",
    "monthly": r"\bmonth[- ]to[- ]month|\bmonthly basis|\byear[- ]to[- ]year",
    "non-renewal": r"\bnot (?:to )?(?:be )?(?:renew|extend)|\bnon-?renew\w*",
}
_AFTER = {
    "again": r"[- ](?:each )?(?:renewals?|extensions?|additional|success\w+|(?:\w{1,12} )?(?:terms?|periods?"
    r"|increments?)|basis|each)\b| ?\((?:each,? )?(?:an?|the) [\"“]?(?:\w{1,12} )?(?:renew|exten|additional)",
    "beforehand": r"(?:'s?)?,? ?(?:(?:in|of|or|more|written|the|a|calendar|business|such|such other|days) ){0,4}"
    r"(?:prior|before|advance|preceding|notice|vor|avant|voor|zum|de antelacion|prima)\b",
    "to the end": r".{0,60}?\b(?:prior to|before|of|in advance of) (?:the )?(?:\w+ ){0,5}?(?:expir\w+|end\b|terminat\w+"
    r"|renewal|anniversary|beginning|start|commencement|conclusion|completion|term\b|initial|then)",
    "unless": r".{0,60}?\b(?:unless|until)\b",
}
_BEFORE_RULES = {name: re.compile(pattern) for name, pattern in _BEFORE.items()}
_AROUND_RULES = {name: re.compile(pattern) for name, pattern in _AROUND.items()}
_AFTER_RULES = {name: re.compile(pattern) for name, pattern in _AFTER.items()}
_CAUSE_BEFORE = _AROUND_RULES["cause"]
# Lengths without a number: "month to month", "an additional year", "successive annual terms".
_BASIS = re.compile(
    r"\b(?:(month[- ]to[- ]month|monthly (?:basis|periods?|terms?)"
    r"|(?:an?|each) (?:additional|further|successive) month)"
    r"|year[- ]to[- ]year|(?:annual|yearly) (?:basis|periods?|terms?|renewals?)|renew(?:ed|s)? (?:annually|yearly)"
    r"|annually renew\w*|(?:from year|an? (?:additional|further|successive)|another) year)\b"
)
_UNIT = re.compile("month|year|annual")  # what each of them contains
_SENTENCE = re.compile(r"[.;] (?=[a-z(\d])")
_NOTICES = (
    *("any", "until ended", "near wish", "near monthly", "near non-renewal", "near renew", "near automatic"),
    *("near other subject", "near cause", "near free", "then beforehand", "then to the end", "then again"),
)
_JOINT = (
    ("renewed", "again"),
    ("renewed", "then again"),
    ("goes on", "unnumbered"),
    ("for", "year"),
    ("then beforehand", "then to the end"),
    ("then beforehand", "near non-renewal"),
    ("then beforehand", "near until ended"),
    ("then beforehand", "near refused"),
    ("then to the end", "near refused"),
)


def renewal_term(candidates: Sequence[tuple[Period, Features]]) -> Answer | None:
    """How long the contract is renewed for each time: "1 year", also where "month to month" says so."""
    return _answer(candidates, "renewal_term")


def renewal_notice(prose: Prose, candidates: Sequence[tuple[Period, Features]]) -> Answer | None:
    """How long before the end notice must be given so that the contract is not renewed: "90 days"."""
    return _answer(notices(prose, candidates), "renewal_notice")


def notices(prose: Prose, candidates: Sequence[tuple[Period, Features]]) -> Sequence[tuple[Period, Features]]:
    """The durations that may be the notice which stops a renewal, and what speaks for and against each."""
    listed: list[tuple[Period, Features]] = []
    first = True
    for period, known in candidates:
        if known.get("unnumbered"):
            continue
        features = {name: known[name] for name in _NOTICES if known.get(name)} | _stops(prose.folded, period, known)
        if "stops" in features and first:
            features["first stop"], first = 1.0, False
        listed.append((period, features))
    return listed


def candidates(prose: Prose, periods: Sequence[Period]) -> Sequence[tuple[Period, Features]]:
    """The durations near words of renewal or of an end, and what speaks for and against each as a renewal's length."""
    listed: list[tuple[Period, Features]] = []
    for period in sorted((*periods, *_unnumbered(prose.folded)), key=lambda each: each.start):
        if len(listed) < MOST and _GATE.search(prose.folded, max(0, period.start - 300), period.end + 200):
            features = dict(_features(prose.folded, period))
            for one, other in _JOINT:
                if features.get(one) and features.get(other):
                    features[f"{one} + {other}"] = 1.0
            listed.append((period, features))
    return listed


def termination_notice(prose: Prose, periods: Sequence[Period]) -> Answer | None:
    """How long before its end a party must say that it ends the contract without a cause: "30 days"."""
    for period in periods:
        if not _AFTER_RULES["beforehand"].match(prose.folded, period.end, period.end + 60):
            continue
        around = _before(prose.folded, period, 300) + _after(prose.folded, period, 120)
        if all(_AROUND_RULES[name].search(around) for name in ("ended", "notice", "free")) and not any(
            _AROUND_RULES[name].search(around) for name in ("cause", "renew")
        ):
            return Answer(period.value, period.start, period.end, "label", 0.7)
    return None


def _answer(listed: Sequence[tuple[Period, Features]], name: str) -> Answer | None:
    found = chosen(listed, name)
    if found is None:
        return None
    period, share = found
    return Answer(period.value, period.start, period.end, "ranker", round(share, 2))


def _stops(folded: str, period: Period, known: Features) -> dict[str, float]:
    """Which usual sentence on notice a duration stands in: on stopping a renewal, or on ending what else goes on."""
    found: dict[str, float] = {}
    if not known.get("then beforehand"):
        return found
    caused = bool(known.get("near cause"))
    if known.get("near monthly"):
        found["monthly notice"] = 1.0
    if known.get("until ended") and known.get("near notice") and not caused:
        found["until notice"] = 1.0
    if known.get("at the end") and known.get("near ended") and not caused:
        found["ended at its end"] = 1.0
    ended = bool(known.get("then to the end"))
    renews = known.get("near renew") or (ended and known.get("not far renew"))
    automatic = known.get("near automatic") or known.get("not far automatic")
    wished = known.get("near wish") and not known.get("near automatic")
    said = ended or (known.get("near notice") and automatic)
    other = known.get("near other subject") or _CAUSE_BEFORE.search(folded, max(0, period.start - 120), period.start)
    if renews and known.get("near refused") and said and not other and not wished:
        found["stops"] = 1.0
        found["stops at the end" if ended and automatic else "stops else"] = 1.0
    return found


def _unnumbered(folded: str) -> Iterator[Period]:
    near = finditer_near(_BASIS, _UNIT.finditer(folded), folded, before=40, after=20)
    for match in itertools.islice(near, MOST):
        yield Period("1 month" if match[1] else "1 year", match.start(), match.end())


def _features(folded: str, period: Period) -> Iterator[tuple[str, float]]:
    before, after = _before(folded, period, 300), _after(folded, period, 200)
    around, wide = before + " # " + after, folded[max(0, period.start - 450) : period.end + 250]
    yield "any", 1.0
    for name, rule in _BEFORE_RULES.items():
        if rule.search(before):
            yield name, 1.0
    for name, rule in _AROUND_RULES.items():
        if rule.search(around):
            yield f"near {name}", 1.0
        elif rule.search(wide):
            yield f"not far {name}", 1.0
    for name, rule in _AFTER_RULES.items():
        if rule.match(after):
            yield f"then {name}", 1.0
    yield period.value.rpartition(" ")[2].rstrip("s"), 1.0
    yield "unnumbered", float(_BASIS.match(folded, period.start) is not None)


def _before(folded: str, period: Period, reach: int) -> str:
    """The words before a period, from the start of its sentence."""
    text = folded[max(0, period.start - reach) : period.start]
    ends = list(_SENTENCE.finditer(text))
    return text[ends[-1].end() :] if ends else text


def _after(folded: str, period: Period, reach: int) -> str:
    text = folded[period.end : period.end + reach]
    end = _SENTENCE.search(text)
    return text[: end.start()] if end else text

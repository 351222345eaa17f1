"""How a contract goes on and how it is stopped: the length of a renewal, and the notice that ends it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.reading.answers import Answer
from pipeline.reading.periods import Period
from pipeline.reading.prose import Prose

_RENEW = re.compile(
    r"\b(?:(?:re|non-?re)new\w*|extend(?:s|ed|ing)?|extension|verlanger\w*|reconduction|renouvel\w*|verleng\w*"
    r"|prorrog\w*|renov\w*|rinnov\w*|prorog\w*)\b"
)
_RENEWED = re.compile(
    r"(?<!non-)(?<!non)\b(?:renew\w*|extend(?:s|ed)?\b|extension|continu\w+|verlanger\w*|reconduction|renouvel\w*"
    r"|verleng\w*|prorrog\w*|renov\w*|rinnov\w*|prorog\w*)"
)
_AGAIN_BEFORE = re.compile(
    r"\b(?:additional|success\w+|further|subsequent|consecutive|renewal|extension|extended|another|like|rolling|more"
    r"|weitere\w*|jeweils|supplementaires?|successive[sn]?|telkens)\b"
)
_AGAIN_AFTER = re.compile(
    r"[- ](?:each )?(?:renewals?|extensions?|additional|success\w+|(?:\w{1,12} )?(?:terms?|periods?|increments?)"
    r"|basis|each)\b| ?\((?:each,? )?(?:an?|the) [\"“]?(?:\w{1,12} )?(?:renew|exten|additional)"
)
_FOR = re.compile(r"\b(?:renew\w*|extend\w*)(?: \w{1,14}){0,4} for (?:an? )?(?:period |term )?(?:of )?(?:up to )?$")
_WITHIN = re.compile(r"\b(?:within|until|beyond|more than|least|upon|first|only|such|that|said|days)\b[a-z ]{0,20}$")
_AUTOMATIC = re.compile(r"\bautomatic\w*|\bsuccessive|\bunless\b|\bevergreen|\bdeemed|\bstillschweigend|\btacite")
_OTHER_SUBJECT = re.compile(
    r"\b(?:warrant\w+|deadlines?|payments?|due date|cure|closing|lock-?up|limitations|loan|polic(?:y|ies)|mediation"
    r"|insurance|certificate|option to (?:purchase|lease)|confidential\w*|negotiat\w+)\b"
)
_REFUSE = re.compile(
    r"\b(?:not (?:to )?(?:be )?(?:so )?(?:renew|extend)\w*|non-?renew\w*|terminat\w+|cancel\w*|unless|elect\w*|inten\w+"
    r"|decision|desire\w*|decline\w*|exercis\w+|expir\w+|otherwise|kundig\w*|denonc\w*|opzeg\w*|disdetta)\b"
)
_NOTICE = re.compile(
    r"\b(?:notice|notif\w+|inform\w*|advis\w+|in writing|written|kundig\w*|preavis|opzeg\w*|disdetta)\b"
)
_BEFORE_END = re.compile(
    r"(?:'s?)?,? ?(?:(?:in|of|or|more|written|the|a|calendar|business|such|such other|days) ){0,4}"
    r"(?:prior|before|advance|preceding|notice|vor|avant|voor|zum)\b"
)
_WISH = re.compile(
    r"\b(?<!not )(?:wish|desire|elect|option|right|agree)\w*(?: \w{1,12}){0,3} to (?:so )?(?:renew|extend)"
    r"|agree in writing|only be renewed"
)
_BASIS = re.compile(
    r"\b(?:(month[- ]to[- ]month|monthly (?:basis|periods?|terms?))|year[- ]to[- ]year|(?:annual|yearly) (?:basis"
    r"|periods?|terms?|renewals?)|renew(?:ed|s)? (?:annually|yearly)|annually renew\w*)"
)
_END = re.compile(
    r"\b(?:prior to|before|of|in advance of) (?:the )?(?:\w+ ){0,5}?(?:expir\w+|end\b|terminat\w+|renewal|anniversary"
    r"|beginning|start|commencement|conclusion|completion|term\b|initial|then)"
)
_TERMINATE = re.compile(r"\b(?:terminat\w+|cancel\w*|end this|kundig\w*|resili\w*|opzeg\w*)\b")
_CAUSE = re.compile(
    r"\b(?:cure[sd]?|curing|breach\w*|default\w*|insolven\w*|bankrupt\w*|fail(?:s|ure|ed)?|violat\w+|non-?payment|remed\w+"
    r"|change (?:of|in) control|force majeure|insurance|polic(?:y|ies))\b"
)
_FREE = re.compile(
    r"without (?:cause|reason|penalty)|for convenience|(?:any|no) reason|at any time|with or without|in its sole"
    r"|kundigungsfrist|frist von|preavis|opzegtermijn|preavviso"
)
_SENTENCE = re.compile(r"[.;] (?=[a-z(\d])")


def renewal_term(prose: Prose, periods: Sequence[Period]) -> Answer | None:
    """How long the contract is renewed for each time: "1 year", also where "month to month" says so."""
    best = _basis(prose)
    for period in periods:
        before = _before(prose.folded, period, 260)
        again = _AGAIN_BEFORE.search(before[-50:]) is not None
        if not again and "continu" not in before:
            again = _AGAIN_AFTER.match(prose.folded, period.end) is not None
        if not (_RENEWED.search(before) and again) and not _FOR.search(before):
            continue
        about = before + _after(prose.folded, period, 80)
        if _WITHIN.search(before) or _OTHER_SUBJECT.search(about) or _BEFORE_END.match(prose.folded, period.end):
            continue
        best = _better(best, period, 0.8 if _AUTOMATIC.search(about) else 0.65)
    return best


def renewal_notice(prose: Prose, periods: Sequence[Period]) -> Answer | None:
    """How long before the end notice must be given so that the contract is not renewed, or is: "90 days"."""
    best: Answer | None = None
    for period in periods:
        if not _BEFORE_END.match(prose.folded, period.end, period.end + 60):
            continue
        before, after = _before(prose.folded, period, 350), _after(prose.folded, period, 200)
        around = before + after
        ended = _END.search(after) is not None
        wide = prose.folded[max(0, period.start - 450) : period.end + 250]
        if not _RENEW.search(around if not ended else wide) or not _REFUSE.search(around):
            continue
        if not (ended or _NOTICE.search(around)) or _CAUSE.search(before[-120:]) or _OTHER_SUBJECT.search(around):
            continue
        automatic = _AUTOMATIC.search(wide)
        if not (ended or automatic) or (_WISH.search(around) and not _AUTOMATIC.search(around)):
            continue
        best = _better(best, period, 0.8 if ended and automatic else 0.65 if ended else 0.5)
    return best


def termination_notice(prose: Prose, periods: Sequence[Period]) -> Answer | None:
    """How long before its end a party must say that it ends the contract without a cause: "30 days"."""
    best: Answer | None = None
    for period in periods:
        if not _BEFORE_END.match(prose.folded, period.end, period.end + 60):
            continue
        before, after = _before(prose.folded, period, 300), _after(prose.folded, period, 120)
        around = before + after
        ends = list(_TERMINATE.finditer(around))
        if not ends or not _NOTICE.search(around) or _CAUSE.search(around) or _RENEW.search(around):
            continue
        if _FREE.search(around):
            best = _better(best, period, 0.7)
    return best


def _basis(prose: Prose) -> Answer | None:
    for match in _BASIS.finditer(prose.folded):
        before = prose.folded[max(0, match.start() - 200) : match.start()]
        if _RENEWED.search(before.rpartition(". ")[2] + match[0]) and not _OTHER_SUBJECT.search(before[-120:]):
            return Answer("1 month" if match[1] else "1 year", match.start(), match.end(), "derived", 0.6)
    return None


def _better(best: Answer | None, period: Period, trust: float) -> Answer:
    if best is not None and best.confidence >= trust:
        return best
    return Answer(period.value, period.start, period.end, "label", trust)


def _before(folded: str, period: Period, reach: int) -> str:
    """The words before a period, from the start of its sentence."""
    text = folded[max(0, period.start - reach) : period.start]
    ends = list(_SENTENCE.finditer(text))
    return text[ends[-1].end() :] if ends else text


def _after(folded: str, period: Period, reach: int) -> str:
    text = folded[period.end : period.end + reach]
    end = _SENTENCE.search(text)
    return text[: end.start()] if end else text

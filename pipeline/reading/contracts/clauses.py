"""What single clauses of a contract say: the number it goes by, and the notice that ends it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.reading.contracts.answers import Answer
from pipeline.reading.contracts.prose import Prose
from pipeline.reading.dates import find_dates
from pipeline.reading.periods import Period

OPENING = 2_000  # characters in which a contract gives its own number, not that of another
_NUMBERED = re.compile(
    r"\b(?:(?:contract|agreement|lease|license|licence|contrat|contrato|contratto) ?"
    r"(?:number|no\.?|nr\.?|n[°º.]|#|id|ref(?:erence)?\.?)"
    r"|(?:vertrags?|contract|overeenkomst)[ -]?(?:nummer|nr\.?)|(?<!by )reference(?: number| no\.?)?|aktenzeichen"
    r"|numero (?:de |du |di |del )?(?:contrat|contrato|contratto))[ :]{1,3}(?=\S{0,30}\d)"
)
_REFERENCE = re.compile(r"(?!\d+(?:\.\d+)+\b)([A-Za-z0-9][A-Za-z0-9/_.-]{1,38}[A-Za-z0-9])(?![\w/-])")
_BEFOREHAND = re.compile(
    r".{0,30}?(?:\bprior\b|\bbefore\b|\badvance\b|\bnotice\b|\bwritten\b|\bvor\b|\bzum\b|\bavant\b|\bvoor\b|\bantes\b"
    r"|\bprima\b|\bpreavis\b)"
)
_CURE = re.compile(r"\bcure|\bbreach|\bdefault|\binsur|\bpolic(?:y|ies)\b|\bremed")
_FREE = re.compile(
    r"without cause|for convenience|for any reason|no reason|at any time|kundigungsfrist|frist von|preavis"
    r"|opzegtermijn|preavviso|preaviso"
)
_EITHER_ENDS = re.compile(
    r"\b(?:either|each|any|both) part(?:y|ies) (?:may|can|is entitled to) (?:also )?(?:end|terminate|cancel) "
    r"(?:it|this \w+)\b(?:(?! if | in the event|[.;:]).){0,90} (?:by|on|upon|with) (?:(?! if )[^.;:]){0,40}$"
)
_CONDITION = re.compile(r"[^.;:]{0,60}\b(?:if|in the event|should|following|unless)\b")
_NOTICE = re.compile(
    r"\bnotice\b|\bnotif\w+|\bkundigungsfrist\b|\bkundig\w+|\bfrist von\b|\bpreavis\b|\bopzegtermijn\b|\bopzegging\b"
    r"|\bpreaviso\b|\bpreavviso\b|\bdisdetta\b"
)
_RENEW = re.compile(
    r"\brenew|\bextend|\bverlanger|\breconduction|\brenouvel|\bverleng|\bprorrog|\brenov|\brinnov|\bprorog"
)


def contract_number(prose: Prose) -> Answer | None:
    """The number or reference that the opening gives the contract itself."""
    for label in _NUMBERED.finditer(prose.folded, 0, OPENING):
        value = _REFERENCE.match(prose.text, label.end())
        if value and not find_dates(prose.folded[value.start(1) : value.end(1)]):
            return Answer(value[1], value.start(1), value.end(1), "label", 0.75)
    return None


def notice_period(prose: Prose, periods: Sequence[Period]) -> Answer | None:
    """How long before the end notice must be given: in a clause on renewal, else in one on ending without cause."""
    best: Answer | None = None
    for period in periods:
        near = prose.folded[max(0, period.start - 100) : period.end + 120]
        if not _NOTICE.search(near) or not _is_notice(prose.folded, period):
            continue
        wide = prose.folded[max(0, period.start - 350) : period.end + 150]
        trust = 0.6 if _RENEW.search(wide) else 0.5 if _FREE.search(wide) or _either_ends(prose.folded, period) else 0.0
        trust = 0.0 if _CURE.search(near) else trust  # the time to mend a breach is another notice
        if trust and (best is None or trust > best.confidence):
            best = Answer(period.value, period.start, period.end, "label", trust)
    return best


def _either_ends(folded: str, period: Period) -> bool:
    """Whether the words before a period let either party end the contract, and those behind it set no condition."""
    before = folded[max(0, period.start - 200) : period.start]
    return _EITHER_ENDS.search(before) is not None and not _CONDITION.match(folded, period.end)


def _is_notice(folded: str, period: Period) -> bool:
    """Whether a period is the one of the notice, not the one of the renewal beside it."""
    before = folded[max(0, period.start - 40) : period.start]
    return (
        _BEFOREHAND.match(folded, period.end) is not None
        or re.search(r"\b(?:frist von|preavis|preavviso|preaviso|termijn)\b", before) is not None
    )

"""What single clauses of a contract say: its dates, governing law, duration and notice. Each answer with its span."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.reading.dates import FoundDate, find_dates
from pipeline.reading.periods import Period
from pipeline.reading.prose import Prose

MAX_MENTIONS = 300  # of a governing law; more is a file made to cost time
OPENING = 2_000  # characters in which a contract gives its own number, not that of another
HEAD = 12_000  # characters that hold cover and opening
_PLACE_WORD = r"[A-ZÀ-Þ][\w'’-]+"
_PLACE = rf"({_PLACE_WORD}(?:(?: of| and| of the| &| and the|,)? {_PLACE_WORD}){{0,4}})"
_OF = (
    r"(?:the )?"
    r"(?:(?:state|commonwealth|province|republic|federal republic|kingdom|country|territory|laws?) of (?:the )?)?"
)
_LAWS = (
    re.compile(
        r"\b(?i:laws? (?=state of)|laws?,? (?:and (?:\w+ )?\w+ |of general application )?(?:of|in force in|in"
        rf"|applicable in) (?:and applicable in )?{_OF}){_PLACE}"
    ),
    re.compile(rf"\b(?i:by|with|to|under) (?:the )?(?:internal |substantive )?{_PLACE} (?i:laws?)\b"),
    re.compile(r"\b(?i:recht) (?:der |des )?((?:Bundesrepublik |Republik )?[A-ZÄÖÜ]\w+)"),
    re.compile(r"\b(?i:(deutsche[sm]?|österreichische[sm]?|schweizer(?:ische[sm]?)?) recht)\b"),
    re.compile(r"\b(?i:(?:droit|loi) (français|suisse|belge|luxembourgeois)e?)\b"),
    re.compile(r"\b(?i:(nederlands|belgisch) recht)\b"),
    re.compile(
        r"\b(?i:(?:legge|leggi|ley|leyes|legislación|diritto) (italian[ao]|española?|mexicana|dello stato italiano))\b"
    ),
)
_GOVERNED = re.compile(
    r"\b(?:controlled by|laws? of [^.;]{3,50} (?:applies|shall apply)|"
    r"govern(?:ed|ing law|s)?|construed|interpreted|es gilt|unterliegt|anwendbares recht|regi[est]?|soumis"
    r"|droit applicable|van toepassing|toepasselijk recht|regira|ley aplicable|regolato|disciplinato"
    r"|legge applicabile)\b"
)
_NOT_PLACE = re.compile(
    r"^(?:Agreement|Section|Article|Party|Parties|Contract|Law|Laws|Federal|Applicable|Governing|Such|Any|The|This"
    r"|Company|State|Data|Code|Court|Mandatory|Such|United Nations|Convention|Terms|Compliance|Competition|Bankruptcy"
    r"|Securities|Tax|Export|Labou?r|Privacy|Patent|Intellectual)\b",
    re.IGNORECASE,
)
_FOUNDED = re.compile(r"\b(?:organi[sz]ed|incorporated|existing|formed|established|registered|standing)\b[^.;]{0,40}$")
_TAIL = re.compile(
    r"(?:,? (?:WITHOUT|EXCLUDING|APPLICABLE|AND|AS|THE|EXCEPT|Excluding|Applicable|Except|Without|The|This|And|Any"
    r"|Each|All|As|In|If|Both|For|It|Regardless|Exclusive\w*|Venue|Section|Article)\b.*|[.,'’-]+)$"
)

_NATION = re.compile(r",? (?:USA|United States(?: of America)?|US)$")
_DEMONYMS = {
    "England": "english",
    "Germany": "german deutsches deutschem deutschen",
    "Austria": "austrian österreichisches österreichischem",
    "Switzerland": "swiss schweizer schweizerisches schweizerischem suisse",
    "France": "french français",
    "Belgium": "belgian belgisch belge",
    "Luxembourg": "luxembourgeois",
    "Netherlands": "dutch nederlands",
    "Italy": "italian italiana italiano",
    "Spain": "spanish española español",
    "Ireland": "irish",
    "Israel": "israeli",
    "Japan": "japanese",
    "China": "chinese",
}
_COUNTRY = {word: country for country, words in _DEMONYMS.items() for word in words.split()}

_NUMBERED = re.compile(
    r"\b(?:(?:contract|agreement|lease|license|licence|contrat|contrato|contratto) ?"
    r"(?:number|no\.?|nr\.?|n[°º.]|#|id|ref(?:erence)?\.?)"
    r"|(?:vertrags?|contract|overeenkomst)[ -]?(?:nummer|nr\.?)|(?<!by )reference(?: number| no\.?)?|aktenzeichen"
    r"|numero (?:de |du |di |del )?(?:contrat|contrato|contratto))[ :]{1,3}(?=\S{0,30}\d)"
)
_REFERENCE = re.compile(r"(?!\d+(?:\.\d+)+\b)([A-Za-z0-9][A-Za-z0-9/_.-]{1,38}[A-Za-z0-9])(?![\w/-])")
_MADE = re.compile(
    r"\b(?:dated|made|entered into|executed|signed|concluded|date:|dated:|agreement date:?|vom|geschlossen am|datum:"
    r"|en date du|fait (?:a \w+,? )?le|gesloten op"
    r"|fecha:?|a fecha|data:|in data)\b"
)
# A date of another contract: "under that certain Loan Agreement (the "Loan"), dated as of …".
_OF_ANOTHER = re.compile(
    r"\b(?:to|under|in|of|certain|an?|into|that|with|reference|the|prior) (?:(?!this|which)[\w&,/-]{1,20} ){0,7}"
    r"(?:agreements?|contract|letter|plan of merger|memorandum of understanding|note|lease|document)\b[\"”]?,? "
    r"(?:\([^()]{0,60}\),? )?(?:no\.? ?\w{1,12},? )?(?:dated|made|entered into|effective|executed)(?: as)?"
    r"(?: of| on)? ?(?:the )?$"
)
_STARTS = r"\b(?:takes? effect|begins?|commenc\w+|tritt|beginnt|prend effet|gaat in|entrara en vigor|decorre)\b"
_EFFECTIVE_AFTER = re.compile(r'[^a-z0-9]{0,3}\(?[^()]{0,50}["“”\'‘]{1,2} ?(?:effective|commencement|start) date')
_EFFECTIVE_BEFORE = re.compile(
    r"\b(?:effective (?:as of|on|date:?|from|date[\"”]? (?:of this agreement |for this contract )?"
    r"(?:is|shall be|will be|shall mean|means)|this|the)?"
    r"|with effect (?:from|as of|on)|takes? effect (?:as of|on)"
    r"|commenc(?:e|es|ing) (?:on|as of|effective)?|commencement date:?"
    r"|(?:comes?|enters?) into (?:force|effect) (?:as of|on)"
    r"|entered into (?:and effective )?as of"
    r"|made (?:and entered into )?as of|dated as of"
    r"|in kraft (?:am|ab)|tritt (?:am|mit wirkung zum)|beginnt am|ab dem|prend effet (?:le|au|a compter du)"
    r"|entre en vigueur le|gaat in op|ingangsdatum:?|met ingang van"
    r"|entrara en vigor el|a partir del|decorre dal|decorrenza dal)\b"
)
_EXPIRES = re.compile(
    r"\b(?:expir(?:e|es|ing|ation date)|terminat(?:e|es|ing)|ends?|ending|until|through|continues? to|(?:remain"
    r"|continue) in (?:full )?(?:force|effect)[a-z ]{0,30}until"
    r"|endet (?:am|mit ablauf des)|befristet bis|bis zum|prend fin le|jusqu'au|expire le|eindigt op|tot en met"
    r"|finalizara el|hasta el|scade il|fino al)\b"
)
_TERM = re.compile(
    r"\bterm\b|\bduration\b|\blaufzeit\b|\bdauer\b|\bduree\b|\blooptijd\b|\bduracion\b|\bdurata\b|\bin effect\b"
    r"|\bplazo\b|\bduur\b"
)
_OTHER_PERIOD = re.compile(
    r"\b(?:calendar|contract|fiscal|license) (?:year|half|quarter)|\bquarter\b|\bperiod (?:commencing|beginning|from"
    r"|of)|\bmonth"
)
_CONTRACT = re.compile(
    r"\b(?:this agreement|this contract|vertrag|le (?:present )?contrat|overeenkomst|el contrato|il contratto)\b"
)
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What a clause says, in canonical form, and where it stands in the running text.

    `derivation` says how a computed value came about, "2021-05-01 + 2 years: "; empty for what is printed.
    """

    value: str
    start: int
    end: int
    method: str
    confidence: float
    derivation: str = ""


def contract_number(prose: Prose) -> Answer | None:
    """The number or reference that the opening gives the contract itself."""
    for label in _NUMBERED.finditer(prose.folded, 0, OPENING):
        value = _REFERENCE.match(prose.text, label.end())
        if value and not find_dates(prose.folded[value.start(1) : value.end(1)]):
            return Answer(value[1], value.start(1), value.end(1), "label", 0.75)
    return None


def agreement_date(prose: Prose, dates: Sequence[FoundDate]) -> Answer | None:
    """The date on which the contract says it was made: the first date behind "dated", "made", "entered into"."""
    dates = [date for date in dates if date.end <= HEAD]
    for date in dates:
        before = prose.folded[max(0, date.start - 120) : date.start]
        made = list(_MADE.finditer(before))
        if _OF_ANOTHER.search(prose.folded, max(0, date.start - 200), date.start):
            continue
        if made and not re.search(rf"\. |{_STARTS}", before[made[-1].end() :]):
            return _dated(date, "label", 0.8)
    first = dates[0] if dates else None
    if (
        first is None
        or first.start >= 2_000
        or re.search(_STARTS, prose.folded[max(0, first.start - 40) : first.start])
    ):
        return None
    return _dated(first, "pattern", 0.4)


def effective_date(prose: Prose, dates: Sequence[FoundDate]) -> Answer | None:
    """The date called the effective date, else one behind "effective as of" or "entered into as of"."""
    weak = None
    for date in itertools.takewhile(lambda each: each.end <= HEAD * 5, dates):
        if _OF_ANOTHER.search(prose.folded, max(0, date.start - 200), date.start):
            continue
        if _EFFECTIVE_AFTER.match(prose.folded, date.end, date.end + 120):
            return _dated(date, "label", 0.9)
        before = prose.folded[max(0, date.start - 60) : date.start]
        announced = list(_EFFECTIVE_BEFORE.finditer(before))
        if weak is not None or not announced or len(before) - announced[-1].end() > 14:
            continue
        named = "effective" in announced[-1][0]
        if named or date.start < HEAD:
            weak = _dated(date, "label", 0.75 if named else 0.4)
    return weak


def expiration_date(prose: Prose, dates: Sequence[FoundDate]) -> Answer | None:
    """The printed date on which the contract ends; never computed."""
    for date in dates:
        around = prose.folded[max(0, date.start - 400) : date.start]
        ends = list(_EXPIRES.finditer(around[-60:]))
        about = around[-160:]
        if not ends or len(around[-60:]) - ends[-1].end() > 30 or _OTHER_PERIOD.search(about):
            continue
        if _TERM.search(about) or _CONTRACT.search(about):
            return _dated(date, "label", 0.65)
    return None


def governing_law(prose: Prose) -> Answer | None:
    """The state or country whose law governs, as printed, without "USA" behind a state; "English law" is England's."""
    for match in itertools.islice(_GOVERNED.finditer(prose.folded), MAX_MENTIONS):
        for found in _laws(prose, max(0, match.start() - 90), match.end() + 400):
            place = _NATION.sub("", _TAIL.sub("", found[1]))
            if place and not _NOT_PLACE.match(place):
                value = _COUNTRY.get(place.lower(), place)
                return Answer(value, found.start(1), found.start(1) + len(place), "label", 0.85)
    return None


def _laws(prose: Prose, start: int, end: int) -> Iterator[re.Match[str]]:
    """The first law that each pattern finds, unless it is one under which a party was founded."""
    for pattern in _LAWS:
        for found in pattern.finditer(prose.text, start, end):
            if not _seated(prose.folded, found.start()):
                yield found
                break


def _seated(folded: str, place: int) -> bool:
    """Whether a law before which a party was founded is meant, not the contract's."""
    return _FOUNDED.search(folded, max(0, place - 60), place) is not None


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


def _dated(date: FoundDate, method: str, confidence: float) -> Answer:
    return Answer(date.value, date.start, date.end, method, confidence)

"""Which law governs a contract: the state or country that a clause names, told from the law of a party's seat."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from pipeline.reading.contracts.answers import Answer
from pipeline.reading.contracts.prose import Prose

MAX_MENTIONS = 300  # of a governing law; more is a file made to cost time
MAX_PLACES = 6  # after one mention
_PLACE_WORD = r"[A-ZÀ-Þ][\w'’-]+"
_PLACE = rf"({_PLACE_WORD}(?:(?: of| and| of the| &| and the|,)? {_PLACE_WORD}){{0,4}})"
_KIND = r"(?:state|commonwealth|province|republic|federal republic|kingdom|country|territory|laws?)"
_OF = rf"(?:the )?(?:{_KIND} ?of (?:the )?)?"
_PATTERNS = (
    re.compile(
        rf"\b(?i:laws? {_KIND} of |laws?(?: ?\([^()]{{0,60}}\)|,[^,.;]{{3,60}})?,? "
        r"(?:and (?:\w+ )?\w+ |of general application )?(?:of ?|in force in |in "
        rf"|applicable in )(?:and applicable in )?{_OF}){_PLACE}"
    ),
    re.compile(rf"\b(?i:by|with|to|under) (?:the )?(?:internal |substantive )?{_PLACE} (?i:laws?)\b"),
    re.compile(rf"\b(?i:in the state of) {_PLACE} (?i:and shall be governed by .{{0,60}}\blaws thereof)"),
    re.compile(r"\b(?i:recht) (?:der |des )?((?:Bundesrepublik |Republik )?[A-ZÄÖÜ]\w+)"),
    re.compile(r"\b(?i:(deutsche[sm]?|österreichische[sm]?|schweizer(?:ische[sm]?)?) recht)\b"),
    re.compile(r"\b(?i:(?:droit|loi) (français|suisse|belge|luxembourgeois)e?)\b"),
    re.compile(r"\b(?i:(nederlands|belgisch) recht)\b"),
    re.compile(
        r"\b(?i:(?:legge|leggi|ley|leyes|legislación|diritto) (italian[ao]|española?|mexicana|dello stato italiano))\b"
    ),
)
# Words that are as often about something else: they count before or behind a known place alone.
_KNOWN_ONLY = (
    re.compile(
        rf"{_PLACE} (?i:laws? (?:\([^()]{{0,80}}\) )?(?:shall |will )?(?:exclusively )?(?:governs?|appl(?:y|ies))\b)"
    ),
    re.compile(rf"\b(?i:governing law ?[:.–-] ?(?:the )?(?:laws? of (?:the )?)?(?:{_KIND} of (?:the )?)?){_PLACE}"),
)
_GOVERNED = re.compile(
    r"\b(?:controlled by|laws? of [^.;]{3,50} (?:applies|shall apply)"
    r"|laws?(?: ?\([^()]{0,80}\))? (?:applies|shall apply|will apply)|"
    r"govern(?:ed|ing law|s)?|construed|interpreted|es gilt|unterliegt|anwendbares recht|regi[est]?|soumis"
    r"|droit applicable|van toepassing|toepasselijk recht|regira|ley aplicable|regolato|disciplinato"
    r"|legge applicabile)\b"
)
_SUBJECT = re.compile(  # looked for where nothing is said to govern
    r"\b(?:this|the) (?:\w+ ){0,2}?(?:agreement|contract|lease|letter\w*|note|guaranty)\b[^.;]{0,80}?"
    r"\b(?:subject to|made (?:in|under)|entered into under|under|enforced \w+|determined \w+|in accordance with"
    r"|according to|pursuant to) (?:and \w+ )?(?:the )?(?:\w+ )?laws? of\b"
)
_ITSELF = re.compile(
    r"\b(?:this|the|these) (?:\w+ ){0,3}?(?:agreements?|contract|letter\w*|lease|license|guaranty|note|amendment|terms"
    r"|undertaking|document|deed)\b|\bgoverning law|\bchoice of law|\bapplicable law|vertrag|vereinbarung"
    r"|es gilt|contrat|overeenkomst"
)
_NOT_PLACE = re.compile(
    r"^(?:Agreement|Section|Article|Party|Parties|Contract|Law|Laws|Federal|Applicable|Governing|Such|Any|The|This"
    r"|Company|State|Data|Code|Court|Mandatory|United Nations|Convention|Terms|Compliance|Competition|Bankruptcy"
    r"|Securities|Tax|Export|Labou?r|Privacy|Patent|Intellectual|Jurisdiction|Nature|Descent)\b",
    re.IGNORECASE,
)
_FOUNDED = re.compile(r"\b(?:organi[sz]ed|incorporated|existing|formed|established|registered|standing)\b[^.;]{0,40}$")
_TAIL = re.compile(
    r"(?:,? (?:WITHOUT|EXCLUDING|APPLICABLE|AND|AS|THE|EXCEPT|Excluding|Applicable|Except|Without|The|This|And|Any"
    r"|Each|All|As|In|If|Both|For|It|Regardless|Exclusive\w*|Venue|Section|Article)\b.*|[.,'’-]+)$"
)
_NATION = re.compile(r",? (?:USA|United States(?: of America)?|US)$")
_FEDERAL = re.compile(
    r"^(?:State and (?:City|County) of |City and State of |County of \w+,? State of )"
    r"|^(?:the )?United States(?: of America)?,? and (?:of )?(?:the )?(?:State of (?:the )?)?(?=\S)",
    re.IGNORECASE,
)
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
_PLACES = (
    "Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Georgia Hawaii Idaho Illinois"
    " Indiana Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota Mississippi Missouri"
    " Montana Nebraska Nevada New_Hampshire New_Jersey New_Mexico New_York North_Carolina North_Dakota Ohio Oklahoma"
    " Oregon Pennsylvania Rhode_Island South_Carolina South_Dakota Tennessee Texas Utah Vermont Virginia Washington"
    " West_Virginia Wisconsin Wyoming District_of_Columbia Puerto_Rico Ontario Quebec Alberta British_Columbia"
    " Manitoba Nova_Scotia Saskatchewan New_South_Wales Victoria Queensland England England_and_Wales Scotland"
    " Northern_Ireland Ireland Germany Austria Switzerland France Belgium Luxembourg Netherlands Italy Spain Portugal"
    " Denmark Sweden Norway Finland Poland Israel Japan China India Singapore Hong_Kong Malaysia Australia New_Zealand"
    " Canada Brazil Mexico Bermuda Cayman_Islands Taiwan Korea Cyprus Greece Turkey South_Africa"
    " United_Kingdom Hong_Kong_SAR PRC Republic_of_Korea Republic_of_China"
    " Bundesrepublik_Deutschland Deutschland Österreich Schweiz"
)
_KNOWN = {"people's republic of china": "People's Republic of China"} | {
    place.replace("_", " ").casefold(): place.replace("_", " ") for place in _PLACES.split()
}


def governing_law(prose: Prose) -> Answer | None:
    """The state or country whose law governs, without "USA" behind a state; "English law" is England's.

    A clause that says what it is that is governed, or is headed so, wins over one that does not; then the first wins.
    """
    return _best(prose, _GOVERNED) or _best(prose, _SUBJECT)


def _best(prose: Prose, mentions: re.Pattern[str]) -> Answer | None:
    best: Answer | None = None
    for mention in itertools.islice(mentions.finditer(prose.folded), MAX_MENTIONS):
        for answer in _answers(prose, mention):
            if best is None or answer.confidence > best.confidence:
                best = answer
    return best


def is_place(name: str) -> bool:
    """Whether a name is that of a state or country whose law contracts choose."""
    return name.casefold() in _KNOWN


def _answers(prose: Prose, mention: re.Match[str]) -> Iterator[Answer]:
    itself = _ITSELF.search(prose.folded, max(0, mention.start() - 220), mention.end() + 60) is not None
    for found in _laws(prose, max(0, mention.start() - 90), mention.end() + 400):
        place = _bare(found[1])
        known = _KNOWN.get(place.casefold())
        value = _COUNTRY.get(place.lower()) or known or place
        start = found.start(1) + found[1].rfind(place)
        trust = 0.5 + (0.25 if known or place.lower() in _COUNTRY else 0.1) + (0.2 if itself else 0.0)
        yield Answer(value, start, start + len(place), "label", round(trust, 2))


def _laws(prose: Prose, start: int, end: int) -> Iterator[re.Match[str]]:
    """The first law that each pattern finds, unless it is one under which a party was founded."""
    for pattern in (*_PATTERNS, *_KNOWN_ONLY):
        for found in itertools.islice(pattern.finditer(prose.text, start, end), MAX_PLACES):
            place = _bare(found[1])
            usable = is_place(place) if pattern in _KNOWN_ONLY else place and not _NOT_PLACE.match(place)
            if usable and not _seated(prose.folded, found.start()):
                yield found
                break


def _bare(place: str) -> str:
    """A place without its nation, and without words behind it that are none of a known place."""
    bare = _NATION.sub("", _TAIL.sub("", _FEDERAL.sub("", place)))
    words = bare.split()
    known = (" ".join(words[:length]).rstrip(",") for length in range(len(words), 0, -1))
    return next((each for each in known if is_place(each)), bare)


def _seated(folded: str, place: int) -> bool:
    """Whether a law before which a party was founded is meant, not the contract's."""
    return _FOUNDED.search(folded, max(0, place - 60), place) is not None

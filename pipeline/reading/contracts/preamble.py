"""The opening of a contract: between whom it is made, in English first, in five other languages too."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pipeline.reading.contracts.party_names import FORM, is_name, name_end
from pipeline.reading.contracts.prose import Prose
from pipeline.reading.contracts.signatures import NAME

SEARCHED = 60_000  # characters in which the opening is looked for: covers and tables of contents come before it
OPENING = 2_500  # characters of the opening itself
COVER = 6_000  # characters in which names without terms may stand
INTRODUCED = 3_000  # characters in which parties are looked for that no "between" announces
MAX_OPENINGS = 60  # places that are tried; a text made of "between" costs no more
MAX_PARTIES = 60
MAX_JOINTS = 5  # places in a description at which the next party may begin

_BETWEEN = re.compile(
    r"\b(?:entered into by(?! and)|by,? (?:and )?(?:between|among)|b e t w e e n"
    r"|between|among|by and amongst|zwischen|entre|tussen"
    r"|(?:(?<=, )|is )made by|parties:?(?= \(?1[.)] )|\btra\b|\bfra\b)(?!\w)[ :,]{0,3}"
)
_FRAME = re.compile(
    r"\b(?:made|entered|dated|executed|concluded|effective|is|geschlossen|conclu|gesloten|celebrad\w|stipulat\w)\b"
)
_NOBODY = re.compile(
    r"(?:them\b|us\b|you\b|(?:the |both |such |all )?(?:parties|persons|site|two)\b|any\b|such\b|each\b|its?\b|our\b)"
)
_LISTED = re.compile(
    r"(?:the (?:following )?(?:two )?parties"
    r"(?: (?:named|listed|identified|described|set out|whose \w+ are (?:given|set out)) (?:below|hereunder))?"
    r"|den (?:folgenden|nachstehenden|unten genannten) parteien)\b"
    r".{0,160}?[.:,] (?=\(?(?:1|a|i)\) )"
)
_CLOSE = re.compile(
    r"agreement|contract|vertrag|contrat|accord|overeenkomst|contrato|contratto|lease|license"
    r"|vereinbarung|convention|acuerdo|\bnda\b"
)
_END = re.compile(
    r"\b(?:whereas|recitals?|r e c i t a l s|witness ?eth|w i t n e s s"
    r"|background|now,? therefore|in consideration|preambule"
    r"|praambel|wird folgend|vorbemerkung"
    r"|il a ete|il est convenu|ci-apres (?:collectivement|ensemble)|overwegende|komen overeen|exponen|premesso"
    r"|si conviene"
    r"|table of contents|each (?:of \S+ )?(?:is )?an? [\"“'(]*part(?:y|ies)|is (?:made|dated|entered)"
    r"|(?:are|may be|shall be|shall hereinafter be) (?:\w+ )?(?:individually|referred|hereinafter|collectively)"
    r"|dated as of|agree as follows|it is agreed"
    r"|introduction|(?:article|section) (?:1|i)\b)"
)
_TERM = r"\s?([^()\"“”„«»]{1,60}?)[,.]?\s?"
_ANCHOR = re.compile(
    rf"\b(?:nachfolgend|nachstehend|im folgenden)(?: auch| kurz)? [\"“„«]{_TERM}[\"“”»](?: genannt)?"
    rf"|\b(?:here(?:in|after|inafter) )?(?:referred to(?: in this \w{{1,20}})? as|called|genannt|denomme[en]?) "
    rf"(?:the )?[\"“„«]{_TERM}[\"“”»](?: (?:or|and) [\"“„«][^\"“”„«»]{{1,60}}[\"“”»])?"
    rf"|\([^()\"“”„«»]{{0,90}}[\"“„«‘']{{1,2}}{_TERM}[\"“”»'’]{{1,2}}[^()]{{0,120}}\)"
    r"|\((?:the |as |hereinafter |nachfolgend |im folgenden "
    r"|ci-après )?([A-Z][a-z][\w&-]{2,20}(?: [A-Z][a-z]+)?)\)(?! ?(?:Co|Ltd|Limited|Inc|GmbH|LLC)\b)"
)
_LETTERED = re.compile(r"\bparty (?:[ab12]|one|two|first|second) ?: ?", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:[\s,;:.&*•)-]+|(?:and|und|et|en|y|e|ed|between|among|by|the following(?: two)? parties)\b[ :,]*"
    r"|\(?(?:[a-z]|\d|i{1,3}|iv)\) ?|\d{1,2}\. "
    r"|(?:on|of) (?:the )?(?:one|first|other|second) (?:hand|part)[, ]*|party [a-d1-4]\b ?:? ?"
    r"|(?:der|die|dem|das|herrn?|frau|la soci[eé]t[eé]|de heer"
    r"|la sociedad|la societa|the firma|exhibit [\d.]{1,8}|execution (?:version|copy)|letterhead of) )+",
    re.IGNORECASE,
)
_DESCRIPTION = re.compile(
    r"[ ,]{0,3}(?:and )?(?:an?|with|having|whose|located|the|organi[sz]ed|incorporated|duly|represented|mit"
    r"|dont|con|met"
    r"|con sede) ",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r"[;,.\d)] (?:and|und|et|en|y|e):? (?=[(\w])|[;,] \((?:[a-z]|\d|[ivx]{1,4})\) (?=\w)|; (?=[A-Z])", re.IGNORECASE
)
_AND = re.compile(r" (?:and|AND|und|et|en|y|e) (?=[A-Z\d])")
_NEXT = re.compile(rf", (?={NAME.pattern})")
_SENTENCE = re.compile(
    r"\s?[.:;]?\s(?:\d{1,2}\.|\(a\)|[A-Z]\w+ (?:shall|will|is|are|has|have|may|agrees?)\b)|\s?[.:]\s(?!and\b|AND\b)"
)
_BEFORE_FORM = re.compile(r"(?:(?:[A-ZÀ-Þ0-9][\w'’.&/-]{0,30}|&|and|of|de|the),? ?){1,8}$")
_LOOSE_END = re.compile(r"(?: (?:of|is|and|the|in|at|by|a|an|for|to))+$")
_INDIVIDUAL = re.compile(r"\b(?:an? (?:individual|natural person)|individually|residing|Mr|Mrs|Ms|Herr|Frau|Dr)\b")
_TITLED = re.compile(r"(?:Mr|Mrs|Ms|Dr)\.? [A-Z][\w'’-]+(?: [A-Z][\w.'’-]*){0,3}")
_AFTER_TITLE = re.compile(r".*\b(?:agreement|contract|\d{4})\b|.*\b(?:with|furnish|to) ", re.IGNORECASE)
_HEADED = re.compile(
    r"(?:[A-Z]{3,20} ){1,4}[A-Z]{3,20} (?=[A-Z][a-z]{2,} )(?!Co|Lim|Inc|Ltd|Gmb)"
)  # "MUTUAL NDA Fern Mills Inc."
_NO_TERM = frozenset(("party", "parties", "agreement", "effective", "date", "term", "this", "contract", "the", "day"))


@dataclass(frozen=True, slots=True)
class Party:
    """A party's name as printed, the term that the contract calls it by, and the span of the name in the text.

    `alias` may be empty. `kind` is company or person where the text says so, else empty.
    """

    name: str
    alias: str
    start: int
    end: int
    confidence: float
    kind: str = ""


def find_openings(prose: Prose) -> Iterator[tuple[int, int]]:
    """The spans that may be the opening, in order: each from "between" to where the parties are all named."""
    for match in itertools.islice(_BETWEEN.finditer(prose.folded, 0, SEARCHED), MAX_OPENINGS):
        listed = _LISTED.match(prose.folded, match.end())
        nobody = not listed and _NOBODY.match(prose.folded, match.end())
        if nobody or not _framed(prose.folded, match.start()):
            continue
        begin = listed.end() if listed else match.end()
        stop = _END.search(prose.folded, begin + 20, begin + OPENING)
        yield begin, min(stop.start() if stop else begin + OPENING // 2, len(prose.text))


def opened(text: str, span: tuple[int, int]) -> list[Party]:
    """The parties that one opening names."""
    return named(text, _pieces(text, *span))


def likeliest(openings: Sequence[Sequence[Party]]) -> Sequence[Party]:
    """The opening that names the parties: the first that names two and calls them by terms in brackets.

    A cover page has names only; it counts where no opening has terms.
    """
    best: Sequence[Party] = ()
    for parties in openings:
        if len(parties) >= 2 and any(party.alias for party in parties):
            return parties
        if len(parties) > len(best) and (parties[0].start < COVER or any(party.alias for party in parties)):
            best = parties
    return best if len(best) >= 2 else ()


def lettered(prose: Prose) -> list[Party]:
    """The names behind "Party A:" and "Party B:"."""
    return named(prose.text, _lettered(prose))


def introduced(text: str) -> list[Party]:
    """Companies that the first lines name, each with its term in brackets soon behind."""
    return named(text, _introduced(text))


def named(text: str, pieces: Iterable[tuple[int, int, str, float]]) -> list[Party]:
    """The parties in pieces of the text (start, end, term, confidence), each once."""
    found: dict[str, Party] = {}
    for start, end, term, confidence in pieces:
        for begin, until in _halves(text, start, end):
            party = _party(text, begin, until, term if until == end else "", confidence)
            if party is not None:
                found.setdefault(party.name.casefold(), party)
    return list(found.values())[:MAX_PARTIES]


def _halves(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A description that joins two companies is cut at "and", if each side begins with a name and its legal form."""
    for joint in _AND.finditer(text, start, min(end, start + 600)):
        left, right = text[start : joint.start()][:300], text[joint.end() : joint.end() + 100]
        if (_begins_formed(_stripped(left)) and _begins_formed(right)) or _TITLED.fullmatch(_stripped(left)):
            yield start, joint.start()
            start = joint.end()
    yield start, end


def _begins_formed(piece: str) -> bool:
    form = FORM.search(piece[: name_end(piece)])
    return form is not None and form.start() > 2


def _stripped(piece: str) -> str:
    lead = _LEAD.match(piece)
    return piece[lead.end() :] if lead else piece


def _introduced(text: str) -> Iterator[tuple[int, int, str, float]]:
    """Companies that the first lines name, each with its term in brackets soon behind, where no "between" stands."""
    place = 0
    for opening, closing, term in _anchors(text[:INTRODUCED]):
        for form in FORM.finditer(text, max(place, opening - 300), opening):
            before = text[max(place, form.start() - 100) : form.start()]
            name = _BEFORE_FORM.search(_AFTER_TITLE.sub("", before))
            if name and name[0].strip(" ,").lower() not in ("", "the"):
                yield form.start() - len(name[0]), opening, term, 0.7
                break
        place = closing


def _framed(folded: str, place: int) -> bool:
    """Whether words of making a contract stand before "between": close by, or with a date and brackets in between."""
    near = folded[max(0, place - 80) : place]
    return _CLOSE.search(near) is not None or (
        _CLOSE.search(folded, max(0, place - 400), place) is not None
        and _FRAME.search(folded, max(0, place - 160), place) is not None
    )


def _lettered(prose: Prose) -> Iterator[tuple[int, int, str, float]]:
    for match in _LETTERED.finditer(prose.folded, 0, SEARCHED // 4):
        yield match.end(), min(len(prose.text), match.end() + 200), "", 0.75


def _anchors(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _ANCHOR.finditer(text):
        term = next((group for group in match.groups() if group), "").strip()
        words = set(re.findall(r"[a-z]+", term.lower()))
        if not words or words - _NO_TERM:
            yield match.start(), match.end(), term


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int, str, float]]:
    """The descriptions of parties: each ends in its defined term, or, without terms, at "and" or ";"."""
    anchors = list(_anchors(text[start : end + 60]))
    place, named = start, 0
    for opening, closing, term in anchors:
        if named >= 2 and _SENTENCE.match(text, place):
            return  # all are named: what is defined behind is no party
        if start + opening - place > 3:
            yield place, start + opening, term, 0.8
            named += 1
        place = start + closing
    if len(anchors) < 2:
        for piece in re.finditer(r"(?:(?! and | und | et | en | y |;).)+", text[place:end], re.IGNORECASE):
            yield place + piece.start(), place + piece.end(), "", 0.5


def _party(text: str, start: int, end: int, term: str, confidence: float) -> Party | None:
    """The party that a piece of text names, behind what it may still say of the party before."""
    if not _DESCRIPTION.match(text, start, end):
        return _called(text, start, end, term, confidence)
    joints = (itertools.islice(each.finditer(text, start, end), MAX_JOINTS) for each in (_JOINT, _NEXT, _AND))
    found = [_called(text, joint.end(), end, term, confidence) for several in joints for joint in several]
    parties = [party for party in (*found, _called(text, start, end, term, confidence)) if party is not None]
    return next((party for party in parties if party.kind == "company"), parties[0] if parties else None)


def _called(text: str, start: int, end: int, term: str, confidence: float) -> Party | None:
    begin = start
    lead = _LEAD.match(text[start:end])
    start += lead.end() if lead else 0
    headed = _HEADED.match(text, start, end)
    start = headed.end() if headed else start
    piece = text[start:end][:200]
    called = piece.startswith("the ")  # a term defined elsewhere, "the Company", unless a name follows
    piece = piece.removeprefix("the ")
    start += 4 if called else 0
    name = _LOOSE_END.sub("", piece[: name_end(piece)].strip(" ,;:.-")).strip(" ,")
    if piece[len(name) : len(name) + 1] == "." and FORM.search(name[-12:]):
        name += "."
    formed = FORM.search(name) is not None
    capitalised = all(word[:1].isupper() for word in name.split())
    if not is_name(name, formed=formed) or not (formed or term or capitalised) or (called and " " not in name):
        return None
    term = "" if term.islower() else term.removeprefix("the ")  # "you" is no name for a party
    kind = "company" if formed else "person" if _INDIVIDUAL.search(text, begin, end) else ""
    return Party(name, term, start, start + len(name), confidence if formed else round(confidence - 0.25, 2), kind)

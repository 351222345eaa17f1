"""The opening of a contract: between whom it is made, in English first, in five other languages too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.reading.prose import Prose

SEARCHED = 60_000  # characters in which the opening is looked for: covers and tables of contents come before it
OPENING = 2_500  # characters of the opening itself

_BETWEEN = re.compile(
    r"\b(?:entered into by(?! and)|by,? (?:and )?(?:between|among)|between|among|by and amongst|zwischen|entre|tussen"
    r"|\btra\b|\bfra\b)\b[ :,]{0,3}"
)
_FRAME = re.compile(
    r"\b(?:made|entered|dated|executed|concluded|is|geschlossen|conclu|gesloten|celebrad\w|stipulat\w)\b"
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
_CLOSE = re.compile(r"agreement|contract|vertrag|contrat|accord|overeenkomst|contrato|contratto|lease|license")
_END = re.compile(
    r"\b(?:whereas|recitals?|r e c i t a l s|witness ?eth|background|now,? therefore|in consideration|preambule"
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
    rf"|\b(?:here(?:in|after|inafter) )?(?:referred to as|called|genannt|denomme[en]?) (?:the )?[\"“„«]{_TERM}[\"“”»]"
    rf"|\([^()\"“”„«»]{{0,90}}[\"“„«‘']{{1,2}}{_TERM}[\"“”»'’]{{1,2}}[^()]{{0,120}}\)"
    r"|\((?:the |as |hereinafter |nachfolgend |im folgenden "
    r"|ci-après )?([A-Z][a-z][\w&-]{2,20}(?: [A-Z][a-z]+)?)\)(?! ?(?:Co|Ltd|Limited|Inc|GmbH|LLC)\b)"
)
_LETTERED = re.compile(r"\bparty (?:[ab12]|one|two|first|second) ?: ?", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:[\s,;:.&*•-]+|(?:and|und|et|en|y|e|ed|between|among|by|the following(?: two)? parties)\b[ :,]*|\(?(?:[a-z]"
    r"|\d|i{1,3}|iv)[).] ?"
    r"|on (?:the )?(?:one|other) (?:hand|part)[, ]*|party [a-d1-4]\b ?:? ?|(?:der|die|dem|das|la societe|de heer"
    r"|la sociedad|la societa|the firma) )+",
    re.IGNORECASE,
)
_FORM = re.compile(
    r",? ?\b(?:Inc|Incorporated|LLC|L\.L\.C|Ltd|Limited|LLP|L\.P|LP|Corp|Corporation|PLC|plc|Company|Co"
    r"|GmbH(?: & Co\.? KG)?|AG|KG|SE|B\.V|BV|N\.V|Aktiengesellschaft|Partnership"
    r"|S\.A\.S|S\.A|SAS|SARL|S\.L|S\.r\.l|S\.p\.A|S\.A\.R\.L|Pty\.? Ltd|N\.A|S/A|G\.I\.E"
    r"|e\. ?K|e\. ?V|OHG|GbR|UG(?: \(haftungsbeschränkt\))?)(?!\w)\.?(?:, (?:Inc|LLC|Ltd"
    r"|L\.P)\b\.?)?",
    re.IGNORECASE,
)
_DESCRIBED = re.compile(
    r",? (?:an? |a company|with (?:its|a|an|principal|offices?|registered)|having|located|whose|organized|organised"
    r"|incorporated (?:in|under|and|as)|acting|on behalf|duly"
    r"|existing|established|formed|registered|residing|through|by and through|of \d|of the city|at \d|represented"
    r"|vertreten|mit sitz|geschaftsansassig"
    r"|dont le|au capital|representee?|ayant|gevestigd|statutair|vertegenwoordigd|con (?:sede|domicilio)"
    r"|doing business|d/b/a|f/k/a|formerly"
    r"|individually|as (?:of|the)|for itself|the (?:undersigned|sole)|is (?:made|entered)|dated|effective|successor"
    r"|together with|and (?:its|his|her|their)|"
    r"hereinafter|herein|hereafter|nachfolgend|im folgenden|ci-apres|hierna|en adelante|di seguito|collectively)\b"
    r"|\((?!haftungsbeschr|\w{2,12}\) ?(?:co|ltd|limited|inc|gmbh|llc)\b)|[;:\[_]|\bwhereas\b|  "
)
_DESCRIPTION = re.compile(
    r"[ ,]{0,3}(?:an?|with|having|whose|located|the|organi[sz]ed|incorporated|duly|represented|mit|dont|con|met"
    r"|con sede) ",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[;,.\d)] (?:and|und|et|en|y|e):? (?=[(\w])", re.IGNORECASE)
_AND = re.compile(r" (?:and|und|et|en|y|e) (?=[A-Z\d])")
_ROLE_STOP = frozenset(
    [
        "party",
        "parties",
        "agreement",
        "effective",
        "date",
        "term",
        "this",
        "contract",
        "the",
        "execution",
        "commencement",
        "day",
        "year",
    ]
)
_NO_NAME = re.compile(
    r"^(?:you|an?|our|we|this|each|once|such|all|any|if|in|it|its|the part(?:y|ies)|no|for|as|assigns|both|that"
    r"|trade register)\b",
    re.IGNORECASE,
)
_LOOSE_END = re.compile(r"(?: (?:of|is|and|the|in|at|by|a|an|for|to))+$")
_BLANK = re.compile(r"[\[\]_{}<>]|\.{3}|\b(?:name|insert|company name|date)\b$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Party:
    """A party's name as printed, the term that the contract calls it by (may be empty), and its span in the text."""

    name: str
    term: str
    start: int
    end: int
    confidence: float


def find_opening(prose: Prose) -> tuple[int, int] | None:
    """The span of the opening: from "between" to where the parties are all named; None if there is no such phrase.

    The first place with a defined term in brackets behind it wins over a cover page, which has names only.
    """
    first = None
    for match in _BETWEEN.finditer(prose.folded, 0, SEARCHED):
        listed = _LISTED.match(prose.folded, match.end())
        nobody = not listed and _NOBODY.match(prose.folded, match.end())
        if nobody or not _framed(prose.folded, match.start()):
            continue
        begin = listed.end() if listed else match.end()
        stop = _END.search(prose.folded, begin + 20, begin + OPENING)
        span = begin, min(stop.start() if stop else begin + OPENING // 2, len(prose.text))
        if any(True for _ in _anchors(prose.text[span[0] : span[1] + 60])):
            return span
        first = first or span
    return first


def find_parties(prose: Prose) -> list[Party]:
    """The parties named in the opening, in order, each once. "Party A:" and "Party B:" win over running text."""
    pieces = list(_lettered(prose))
    if len(pieces) < 2:
        span = find_opening(prose)
        pieces = list(_pieces(prose.text, *span)) if span else []
    found: dict[str, Party] = {}
    for start, end, term, confidence in pieces:
        party = _party(prose.text, start, end, term, confidence)
        if party is not None:
            found.setdefault(party.name.casefold(), party)
    return list(found.values())[:12]


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
        if not words or words - _ROLE_STOP:
            yield match.start(), match.end(), term


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int, str, float]]:
    """The descriptions of parties: each ends in its defined term, or, without terms, at "and" or ";"."""
    anchors = list(_anchors(text[start : end + 60]))
    place = start
    for opening, closing, term in anchors:
        if start + opening - place > 3:
            yield place, start + opening, term, 0.8
        place = start + closing
    if len(anchors) < 2:
        for piece in re.finditer(r"(?:(?! and | und | et | en | y |;).)+", text[place:end], re.IGNORECASE):
            yield place + piece.start(), place + piece.end(), "", 0.5


def _party(text: str, start: int, end: int, term: str, confidence: float) -> Party | None:
    start = _after_description(text, start, end)
    lead = _LEAD.match(text[start:end])
    start += lead.end() if lead else 0
    piece = text[start:end][:200]
    name = _LOOSE_END.sub("", piece[: _name_end(piece)].strip(" ,;:.-")).strip(" ,")
    if piece[len(name) : len(name) + 1] == "." and _FORM.search(name[-12:]):
        name += "."
    formed = _FORM.search(name) is not None
    capitalised = all(word[:1].isupper() for word in name.split())
    if not _is_name(name, formed=formed) or not (formed or term or capitalised):
        return None
    return Party(name, term, start, start + len(name), confidence if formed else round(confidence - 0.25, 2))


def _after_description(text: str, start: int, end: int) -> int:
    """Skip what still describes the party before: in 'A ("X"), a company of Y, and B ("Z")' that is up to "and"."""
    if not _DESCRIPTION.match(text, start, end):
        return start
    joined = _JOINT.search(text, start, end) or _AND.search(text, start, end)
    return joined.end() if joined else start


def _is_name(name: str, *, formed: bool) -> bool:
    letters = sum(sign.isalpha() for sign in name)
    return (
        3 <= len(name) <= 100
        and letters >= 3
        and name.count(" ") <= 11
        and (name[0].isupper() or name[0].isdigit() or formed)
        and not _BLANK.search(name)
        and not _NO_NAME.search(name)
        and len(_FORM.sub("", name).strip(" .,")) >= 2
        and not set(name.lower().split()) <= _ROLE_STOP
    )


def _name_end(piece: str) -> int:
    """Where a name ends: at its legal form if that comes before any description, else at comma or description."""
    folded = piece.lower()
    described = _DESCRIBED.search(folded)
    limit = described.start() if described else len(piece)
    forms = [match for match in _FORM.finditer(piece[:limit]) if match.start() > 2]
    comma = piece.find(",", 0, limit)
    if forms and (comma < 0 or forms[0].start() <= comma + 1):
        last = forms[0]
        for form in forms[1:]:
            if form.start() <= last.end() + 1:
                last = form
        return min(limit, last.end())
    return comma if comma > 0 else limit

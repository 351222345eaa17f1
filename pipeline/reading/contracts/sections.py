"""The numbered clauses of a contract: number, level, heading, where each stands, and what the plain ones are about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from pipeline.documents.text import Document
from pipeline.handling import Clause

MAX_CLAUSES = 5_000
MAX_LINE = 400  # characters of a line that are looked at
TAGGED = 2_500  # characters of a clause that decide its tags
_ROMAN = r"[IVXLivxl]{1,7}"
_OPENED = re.compile(
    rf"[ \t]{{0,60}}(?:(?P<named>ARTICLE|Article|SECTION|Section|CLAUSE|Clause|Artikel|ARTIKEL|§{{1,2}}) ?"
    rf"(?P<which>\d{{1,3}}(?:\.\d{{1,3}}){{0,4}}|{_ROMAN}\b)[.:)–—-]{{0,2}}"
    r"|(?P<dotted>\d{1,2}(?:\.\d{1,3}){1,4})[.):]?(?=\s)"
    r"|(?P<plain>\d{1,2})[.):](?=\s)"
    rf"|\((?P<letter>[a-z]{{1,2}}|[A-Z]|\d{{1,2}}|{_ROMAN})\)(?=\s))"
    r"[ \t]{0,40}(?P<rest>[^\n]{0,300})"
)
_CONTENTS = re.compile(r"(?:\.[ .]{2,200}|\s{3,60}|\t)\d{1,3}\s*$|\s\d{1,3}$")
_HEADING = re.compile(r"[\"“(]?[A-ZÀ-Þ][^.:;\n]{1,78}?(?=[.:](?:\s|$)|\s*$)")
_SMALL = frozenset(
    ("of", "and", "the", "to", "for", "in", "or", "on", "by", "with", "a", "an", "und", "der", "de", "la")
)


def clauses(document: Document) -> tuple[Clause, ...]:
    """The numbered clauses in order, at most 5,000; lines of a table of contents are none."""
    found = list(_opened(document))[:MAX_CLAUSES]
    texts = {page.number: page.text for page in document.pages}
    numbers = [page.number for page in document.pages]
    closed = []
    for place, clause in enumerate(found):
        following = found[place + 1] if place + 1 < len(found) else None
        end_page, end = (following.page, following.start) if following else (numbers[-1], len(texts[numbers[-1]]))
        if end == 0 and end_page > clause.page:  # the next one opens a page
            end_page -= 1
            end = len(texts.get(end_page, ""))
        whole = replace(clause, end_page=end_page, end=end)
        closed.append(replace(whole, tags=tags(clause.heading, _text(whole, texts))))
    return tuple(closed)


def tags(heading: str, text: str) -> tuple[str, ...]:
    """What a clause is about, of the kinds that single words give away."""
    folded = text[:TAGGED].casefold()
    head = heading.casefold()
    return tuple(
        name
        for name, needed, title, words in _KINDS
        if any(part in folded for part in needed) and (title.search(head) or words.search(folded))
    )


def _text(clause: Clause, texts: dict[int, str]) -> str:
    if clause.end_page == clause.page:
        return texts[clause.page][clause.start : min(clause.end, clause.start + TAGGED)]
    return texts[clause.page][clause.start : clause.start + TAGGED]


def _opened(document: Document) -> Iterator[Clause]:
    levels: list[str] = []  # the kinds of number that are open, from the outermost
    last, letter = 0, ""
    for page in document.pages:
        place = 0
        for line in page.text.split("\n"):
            match = _OPENED.match(line[:MAX_LINE])
            if match and not _CONTENTS.search(match["rest"]) and _is_next(match, last):
                last = int(match["plain"]) if match["plain"] else last
                level = _level(match, levels, letter)
                letter = match["letter"] or ""
                number = match["which"] or match["dotted"] or match["plain"] or match["letter"]
                yield Clause(number, level, _heading(match["rest"]), page.number, place, page.number, place)
            place += len(line) + 1


def _is_next(match: re.Match[str], last: int) -> bool:
    """Whether a plain number goes on counting; one that jumps is a street, a quantity or a date."""
    rest = match["rest"].lstrip('"“(')
    if match["plain"]:
        return (int(match["plain"]) == 1 or last < int(match["plain"]) <= last + 3) and rest[:1].isupper()
    return bool(match["named"]) or rest[:1].isalpha() or bool(match["letter"])


def _level(match: re.Match[str], levels: list[str], before: str) -> int:
    """The level of a number, by its kind: an article holds sections, 3 holds 3.1, each holds (a), and that (i)."""
    if match["named"] and "." not in match["which"]:
        kind = match["named"].casefold()
    elif match["which"] or match["dotted"] or match["plain"]:
        kind = f"dotted {(match['which'] or match['dotted'] or match['plain']).count('.')}"
    else:
        kind = _bracket(match["letter"], before)
    if kind in levels:
        del levels[levels.index(kind) + 1 :]
    else:
        while levels and not kind.startswith("(") and levels[-1].startswith("("):
            levels.pop()
        levels.append(kind)
    return len(levels)


def _bracket(letter: str, before: str) -> str:
    """The kind of a number in brackets; (i) is Roman unless it follows (h), other single letters if they go on."""
    if letter.isdigit():
        return "(1"
    follows = {"i": before != "h", "v": before == "iv", "x": before == "ix"}
    if follows.get(letter, len(letter) > 1 and re.fullmatch(_ROMAN, letter) is not None):
        return "(i"
    return "(a" if letter.islower() else "(A"


def _heading(rest: str) -> str:
    match = _HEADING.match(rest)
    if not match:
        return ""
    words = match[0].strip(' "“”()').split()
    plain = [word for word in words if word.casefold() not in _SMALL and word[:1].isalpha()]
    capital = sum(word[0].isupper() for word in plain)
    return " ".join(words) if plain and len(words) <= 12 and capital >= len(plain) * 0.6 else ""


def _kind(
    name: str, needed: str, title: str, words: str
) -> tuple[str, tuple[str, ...], re.Pattern[str], re.Pattern[str]]:
    """A kind: no clause is of it that has none of the needed pieces of words, which are fast to look for."""
    return name, tuple(needed.split()), re.compile(title), re.compile(words)


_KINDS = (
    _kind(
        "governing_law",
        "law recht droit",
        r"\b(?:governing|applicable) law|\bchoice of law|^law\b|anwendbares recht|droit applicable",
        r"\b(?:govern\w*|constru\w+|interpret\w+)\b[^.]{0,140}\blaws? (?:of|in)\b|\blaws? of[^.]{0,80}\bshall"
        r" (?:govern|apply)"
        r"|recht der (?:bundesrepublik|schweiz)",
    ),
    _kind(
        "insurance",
        "insur versicherung",
        r"\binsurance\b|versicherung",
        r"\b(?:maintain|carry|obtain|procure|keep|provide|furnish)\b[^.]{0,140}\binsurance\b|\binsurance (?:coverage"
        r"|policy|policies|certificates?)\b|\bcertificates? of insurance\b|\badditional insured",
    ),
    _kind(
        "assignment",
        "assign transfer abtretung cession",
        r"\bassign(?:ment|ability)\b|abtretung|cession",
        r"\b(?:not|neither|no)\b[^.]{0,140}\b(?:assign|transfer)\w*\b[^.]{0,200}\bconsent\b"
        r"|\bwithout\b[^.]{0,80}\bconsent\b[^.]{0,160}\bassign\w*\b|\bmay not (?:be )?assign",
    ),
    _kind(
        "expiration",
        "term durat agreement laufzeit durée duree",
        r"^(?:initial )?term\b|\bterm of (?:the )?agreement|\bduration\b|laufzeit|dur[ée]e",
        r"\b(?:term of this \w+|this agreement|initial term)\b[^.]{0,140}\b(?:continue|remain in|expire|commence"
        r"|terminate on|shall be for|be effective|in effect|begin)\w*\b[^.]{0,140}"
        r"\b(?:years?|months?|until|20\d\d|19\d\d)\b",
    ),
    _kind(
        "audit",
        "audit inspect examin records",
        r"\baudits?\b|\bbooks and records\b|\binspection of records",
        r"\b(?:audit|inspect|examin)\w*\b[^.]{0,160}\b(?:books|records|accounts)\b"
        r"|\b(?:books|records|accounts)\b[^.]{0,200}\b(?:audit|inspect|examin)\w*\b"
        r"|\b(?:right|entitled) to[^.]{0,30}\baudit",
    ),
    _kind(
        "renewal",
        "renew exten",
        r"\brenewals?\b|\bextension of (?:the )?term",
        r"\b(?:automatic\w*|successive|additional)\b[^.]{0,100}\b(?:renew|extend)\w*\b|\b(?:renew|extend)\w*\b[^.]{0,100}"
        r"\b(?:successive|additional|automatic\w*)\b[^.]{0,60}\b(?:terms?|periods?|years?|months?)\b",
    ),
    _kind(
        "notice",
        "renew exten notice",
        r"^notice (?:of|period)\b",
        r"\b(?:renew|extend)\w*\b[^.]{0,250}\b(?:days|months?|year)\b[^.]{0,30}\b(?:prior|before|advance|notice)\b"
        r"|\b(?:days|months?)\b[^.]{0,20}\bprior to the (?:end|expir\w+)[^.]{0,120}\b(?:renew|extend)",
    ),
)

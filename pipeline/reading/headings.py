"""The title of a document: the first line of its first pages that looks like a heading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipeline.documents.text import Document
from pipeline.reading.rows import MAX_ROW, squeeze

_NOT_TITLE = re.compile(
    r"^(?:exhibit|annex|ex)\b[ -]?[\d.]|^page\b|^seite\b|^\W*\d+\W*$|@|https?:|www\.|execution (?:version|copy)"
    r"|confidential\b(?! (?:disclosure|information) agreement)"
    r"|th(?:is|e) (?:agreement|contract)\b|quicklinks|redacted|^source:|^\[|^draft\b|tel[.:]",
    re.IGNORECASE,
)
_PAGE_OF = re.compile(r"\W*\b(?:page|seite|pagina) \d+ (?:of|von|de|van|di|sur) \d+$", re.IGNORECASE)
_RE = re.compile(r"(?:re|betr\.?|betreff) ?: *", re.IGNORECASE)
_END = re.compile(r"[.,;:]$")
_SUBJECT = re.compile(r"(?:subject|betreff|betrifft|objet|onderwerp|asunto|oggetto) ?: *(\S.*)$", re.IGNORECASE)
# "EXHIBIT 10.2 SUPPLY AGREEMENT This Agreement …": words in capitals up to the kind of contract, then the opening.
_RUN_ON = re.compile(
    r"(?<![A-Z] )(?<![A-Z])(?:(?:EXHIBIT|EXECUTION|COPY|VERSION|CONFORMED|FORM|OF)\b[ \d.]{1,8}){0,4}"
    r"((?:(?!EXHIBIT|COPY|DISCLOSED|SEC\b|COMMISSION)[A-Z][A-Z&'’/-]{0,24},? ){0,8}?"
    r"(?:AGREEMENT|CONTRACT|LEASE|LICEN[SC]E|MEMORANDUM OF UNDERSTANDING|VERTRAG))"
    r"(?=,? (?:[Tt]h?is|THIS|[Bb]etween|BETWEEN|[Bb]y|BY|[Dd]ated|DATED|[Mm]ade|MADE|[Aa]mong|AMONG|\("
    r"|[A-Z][a-z]+ [a-z]))"
)
RUN_ON = 4_000  # characters of a page in which such a title stands
TITLE_LINES = 60
LONGEST_SUBJECT = 200


@dataclass(frozen=True, slots=True)
class Title:
    """A heading, the page it is on, and how sure it is one."""

    value: str
    page: int
    confidence: float


def find_title(document: Document, *, wanted: Callable[[str], bool] | None = None) -> Title | None:
    """The first heading that is `wanted`, among the first lines; any heading if `wanted` is None.

    A line that also numbers its page repeats the title on every page; what stands before the number is the last choice.
    """
    running: Title | None = None
    for number, printed in _lines(document):
        line = _RE.sub("", _PAGE_OF.sub("", printed))
        if _heading(line) and (wanted is None or wanted(line)):
            title = Title(line, number, 0.75 if line.isupper() or line.istitle() or wanted else 0.55)
            if printed.endswith(line):
                return title
            running = running or title
    return running


def find_run_on_title(document: Document) -> Title | None:
    """The contract's title in capitals where it shares its line with what stands before and behind it."""
    for page in document.pages[:3]:
        match = _RUN_ON.search(" ".join(page.text[:RUN_ON].split()))
        if match:
            return Title(match[1], page.number, 0.6)
    return None


def find_subject(document: Document) -> Title | None:
    """The subject that a memo or letter names itself, among its first lines."""
    for number, line in _lines(document):
        match = _SUBJECT.match(line)
        if match and 3 <= len(match[1]) <= LONGEST_SUBJECT:  # it says what it is, so it need not look like it
            return Title(match[1], number, 0.8)
    return None


def _lines(document: Document) -> Iterator[tuple[int, str]]:
    left = TITLE_LINES
    for page in document.pages[:3]:
        for raw in page.text.split("\n", 200)[:200]:
            line = squeeze(raw[:MAX_ROW])
            if line and left:
                left -= 1
                yield page.number, line


def _heading(line: str) -> bool:
    letters = sum(sign.isalpha() for sign in line)
    return (
        3 <= len(line) <= 120
        and letters >= len(line) * 0.5
        and line.count(" ") <= 14
        and not line[0].islower()
        and not _NOT_TITLE.search(line)
        and not (_END.search(line) and line.count(" ") > 4)
    )

"""Who signed: the names above the signatures, for papers that name "the undersigned" and nobody else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.reading.prose import Prose

OPENING = 1_500  # characters in which "the undersigned" must stand
SEARCHED = 16_000  # characters before the end of the document
_UNDERSIGNED = re.compile(r"\b(?:the|each) undersigned\b")
_SIGNS = re.compile(r"(?:\bby ?:|/s/)")
_WORD = r"(?:[A-ZÀ-Þ0-9][\w'’.&/à-]{0,30}|&|of|and|the)"
_FORM = (
    r"(?:Inc|LLC|L\.L\.C|Ltd|Limited|LLP|L\.P|LP|Corp|Corporation|PLC|plc|Company|GmbH|AG|B\.V|N\.V|S\.A|S\.p\.A"
    r"|S\.à r\.l|Trust|Fund|Partnership)"
)
_NAME = re.compile(rf"((?:{_WORD},? ){{1,10}}{_FORM}\b\.?)\s?$", re.IGNORECASE)
# What ends the block of the signature before: the next name begins behind it.
_BEFORE = re.compile(
    r".*(?:\b(?:president|officer|director|counsel|signatory|secretary|treasurer|member|manager|partner|trustee|chairman"
    r"|attorney-in-fact|person|dated?|(?:19|20)\d\d|page|written|of:)\b[:.]?|/s/|\d{1,2}/\d{4}|: )\s?",
    re.IGNORECASE,
)


def signatures(prose: Prose) -> Iterator[tuple[int, int]]:
    """The spans of the companies' names that stand before "By:" or "/s/" at the end of a text.

    Only if its opening speaks of the undersigned; a company that only acts for another is left out.
    """
    if not _UNDERSIGNED.search(prose.folded, 0, OPENING):
        return
    place = max(OPENING, len(prose.folded) - SEARCHED)
    for match in _SIGNS.finditer(prose.folded, place):
        before = prose.text[max(place, match.start() - 160) : match.start()]
        ended = _BEFORE.match(before)
        begin = ended.end() if ended else 0
        name = _NAME.search(before, begin)
        if name:
            start = match.start() - len(before) + name.start(1)
            yield start, start + len(name[1])

"""Who signed: the names that stand above the signatures."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from pipeline.reading.contracts.prose import Prose

OPENING = 1_500  # characters in which "the undersigned" must stand; signatures come behind them
MAX_SIGNATURES = 300
_BEFORE_MARK = 170  # characters before a signature in which the name stands
_UNDERSIGNED = re.compile(
    r"\b(?:the|each|all) (?:of the )?undersigned\b|\beach (?:party|person) (?:hereto|listed|named)\b"
    r"|\bsignature pages? (?:hereto|below)\b|\bset forth on the signature"
)
_SIGNS = re.compile(r"(?:\b(?:by|per) ?:|/s/|\bduly authori[sz]ed (?:signatory|representative))")
_STRONG = (
    r"(?:Inc|INC|Incorporated|INCORPORATED|LLC|L\.L\.C|Ltd|LTD|Limited|LIMITED|LLP|L\.P|LP|Corp|CORP|Corporation"
    r"|CORPORATION|PLC|plc|GmbH|GMBH|AG|KG|SE|B\.V|N\.V|S\.A|SA|S\.p\.A|S\.à r\.l|S\.A\.R\.L|KGaA|N\.A|F\.S\.B|FSB|MHC)"
)
_WEAK = r"(?:Company|COMPANY|Trust|TRUST|Fund|FUND|Partnership|PARTNERSHIP|Bank|BANK|Association|ASSOCIATION)"
_WORD = r"(?:[A-ZÀ-Þ0-9][\w'’.&/à-]{0,30}|&|of|and|the|for)"
NAME = re.compile(
    rf"[A-ZÀ-Þ0-9](?:(?<=\b.)[\w'’.&/à-]{{0,30}},? )(?:{_WORD},? ){{0,9}}?"
    rf"(?:(?:{_WEAK},? )?{_STRONG}\b\.?(?:,? {_STRONG}\b\.?)*|{_WEAK}\b(?! (?:[A-Z&]|of [A-Z])))"
)
_NUMBERED = re.compile(r"\d{1,3}[-–]? (?!\d)")  # the page's number
# What ends the block of the signature before: the next name begins behind it.
_BLOCK_ENDS = re.compile(
    r"(?:\b(?:president|officer|director|counsel|signatory|secretary|treasurer|member|manager|partner|trustee|chairman"
    r"|attorney-in-fact|dated?|(?:19|20)\d\d|page|written|above|of:|accepted|agreed|acknowledged|yours|truly"
    r"|sincerely|its ?:|by ?:|esq\.?|ceo|cfo)\b[:.,]? ?(?:\(date\))?|/s/|\d{1,2}/\d{1,2}/\d{2,4}|: |_{3,}|-{4,})\s?",
    re.IGNORECASE,
)


def signs_only(prose: Prose) -> bool:
    """Whether the opening names no parties but those that sign: "the undersigned"."""
    return _UNDERSIGNED.search(prose.folded, 0, OPENING) is not None


def signatures(prose: Prose) -> Iterator[tuple[int, int]]:
    """The spans of the companies' names that stand before "By:" or "/s/", in order, the opening left out.

    A company that only acts for another ("By: Fern GP, its general partner") is left out.
    """
    for mark in itertools.islice(_SIGNS.finditer(prose.folded, min(OPENING, len(prose.text) // 3)), MAX_SIGNATURES):
        begin = max(0, mark.start() - _BEFORE_MARK)
        before = prose.text[begin : mark.start()]
        ends = [end.end() for end in _BLOCK_ENDS.finditer(before)]
        place = ends[-1] if ends else 0
        if place and before[:place].rstrip().lower().endswith(("by:", "by :")):
            continue  # acts for the one above
        for name in NAME.finditer(before, place):
            numbered = _NUMBERED.match(name[0])
            yield begin + name.start() + (numbered.end() if numbered else 0), begin + name.end()

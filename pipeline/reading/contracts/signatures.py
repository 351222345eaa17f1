"""Who signed: the names that stand above the signatures."""

from __future__ import annotations

import bisect
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
    r"|CORPORATION|PLC|plc|GmbH|GMBH|AG|KG|SE|B\.V|N\.V|S\.A\.S|S\.A|SA|S\.p\.A|S\.à r\.l|S\.A\.R\.L"
    r"|KGaA|N\.A|F\.S\.B|FSB|MHC|AB)"
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
_FOR_ANOTHER = re.compile(r"\b(?:by|per|name|its|signature|signed) ?:? ?$")
_UNFORMED = re.compile(r"(?:[A-ZÀ-Þ][\w'’.&-]{1,30},? |& |of |and |the ){1,6}[A-ZÀ-Þ][\w'’.&-]{2,30} ?$")
_PERSON = re.compile(r"/s/ ?(?:(?:Dr|Mr|Mrs|Ms)\.? )?([A-ZÀ-Þ][\w'’-]{1,20}(?: [A-ZÀ-Þ][\w.'’-]{0,20}){1,3})(?= |$)")
_PRINTED_AFTER = 120  # characters behind a signature in which its name is printed again
_OFFICE = re.compile(
    r"[ ,]*(?:(?:its|title|the|name) ?:? ?)?(?:(?:senior|executive|vice|managing|general|sole|authori[sz]ed|group) )*"
    r"(?:title|president|chair\w*|chief|c[eft]o\b|secretary|treasurer|director|manager|partner|officer|counsel|member"
    r"|signatory|trustee|attorney|agent|principal|owner|founder|vp\b|svp\b|evp\b)"
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
        names = [(begin + name.start(), begin + name.end()) for name in NAME.finditer(before, place)]
        for start, end in names:
            numbered = _NUMBERED.match(prose.text, start, end)
            yield own_line(prose, numbered.end() if numbered else start, end), end
        if not names and not mark[0].startswith("/"):
            yield from _line_above(prose, begin + place, mark.start())


def own_line(prose: Prose, start: int, end: int) -> int:
    """Where a name begins whose line stands below another: what the line above says is not of it.

    Two lines in capitals may be one name, and a line that ends in "and" goes on.
    """
    first, last = bisect.bisect_right(prose.breaks, start), bisect.bisect_left(prose.breaks, end)
    for place in reversed(prose.breaks[first:last]):
        above, below = prose.text[start:place], prose.text[place:end]
        one = above.isupper() and below.isupper() and not NAME.search(above)
        one = one or above.rstrip().lower().endswith((" and", " of", " &"))
        if not one and NAME.fullmatch(prose.text, place, end):
            return place
    return start


def _line_above(prose: Prose, start: int, mark: int) -> Iterator[tuple[int, int]]:
    """The line above a signature as a name without a legal form: "FERN CAPITAL PARTNERS By: …"."""
    place = bisect.bisect_left(prose.breaks, mark)
    start = max(start, prose.breaks[place - 1] if place else mark)
    if _UNFORMED.fullmatch(prose.text, start, mark):
        yield start, mark


def persons(prose: Prose) -> Iterator[tuple[int, int]]:
    """The spans of the people who sign for themselves: no company above, no office beside the printed name."""
    floor = min(OPENING, len(prose.text) // 3)
    for match in itertools.islice(_PERSON.finditer(prose.text, floor), MAX_SIGNATURES):
        begin = max(0, match.start() - _BEFORE_MARK)
        if _FOR_ANOTHER.search(prose.folded, begin, match.start()):
            continue
        before = prose.text[begin : match.start()]
        ends = [end.end() for end in _BLOCK_ENDS.finditer(before)]
        line = next(iter(prose.breaks[bisect.bisect_right(prose.breaks, match.start(1)) :]), len(prose.text))
        name = _once(prose.text[match.start(1) : min(match.end(1), line)].strip())
        end = match.start(1) + len(name)
        printed = prose.folded.find(name.lower(), end, end + _PRINTED_AFTER)
        office = _OFFICE.match(prose.folded, printed + len(name) if printed >= 0 else end)
        officer = re.search(rf"\bby ?: ?(?:/s/ ?)?{re.escape(name.lower())}", prose.folded)
        own = prose.folded.startswith("individually", (printed if printed >= 0 else match.start(1)) + len(name) + 2)
        if not NAME.search(before, ends[-1] if ends else 0) and not office and (own or not officer):
            yield match.start(1), end


def _once(name: str) -> str:
    """A name that is signed and printed behind it, once: "Ann Fern Ann Fern"."""
    words = name.split()
    first = next((place for place in range(2, len(words)) if words[place].lower() == words[0].lower()), len(words))
    return " ".join(words[:first])

"""Companies that a text introduces without the words of an opening: in the head of a letter, or by what they are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from pipeline.reading.contracts.prose import Prose
from pipeline.reading.contracts.signatures import NAME, own_line

HEAD = 4_000  # characters in which a letter has its salutation
ADDRESS = 500  # characters before the salutation that hold letterhead and address
INTRODUCED = 4_000  # characters in which companies are described
MAX_INTRODUCED = 20
_SALUTATION = re.compile(
    r"\b(?:ladies and gentlemen|gentlemen|to whom it may concern|dear (?:sirs?|mr|ms|mrs|[a-z])|sehr geehrte)\b"
)
_DESCRIBED = re.compile(
    r"((?:[A-ZÀ-Þ][\w'’.&/-]{0,30},? |& |of |and |for ){1,8}?)(?:\([^()]{1,60}\),? ?)?(?<=[,)] )"
    r"(?:an? |the )(?:[\w-]{2,20} ){0,4}?(?:corporation|company|partnership|association|bank|trust|business trust"
    r"|non-?profit\w*|entity|society|university|cooperative)\b"
)


def addressed(prose: Prose) -> Iterator[tuple[int, int]]:
    """The companies that stand above the salutation of a letter: who writes, and to whom."""
    salutation = _SALUTATION.search(prose.folded, 0, HEAD)
    if salutation:
        for name in NAME.finditer(prose.text, max(0, salutation.start() - ADDRESS), salutation.start()):
            yield own_line(prose, *name.span()), name.end()


def described(text: str) -> Iterator[tuple[int, int]]:
    """The names in front of what each is: "Fern Savings Bank, a federal savings bank"."""
    for match in itertools.islice(_DESCRIBED.finditer(text, 0, INTRODUCED), MAX_INTRODUCED):
        yield match.span(1)

"""Slow patterns made cheap: they are tried only near what each of their matches contains."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator


def finditer_near(
    pattern: re.Pattern[str], anchors: Iterable[re.Match[str]], text: str, *, before: int, after: int
) -> Iterator[re.Match[str]]:
    """What `pattern.finditer(text)` gives, if each match contains one of `anchors`, which are in order.

    `before` and `after` are characters: no match may start further before an anchor's start, nor end (or look) further
    behind an anchor's end.
    """
    begin = end = 0
    for place in anchors:
        if place.start() - before > end:
            yield from pattern.finditer(text, begin, end)
            begin = place.start() - before
        end = place.end() + after
    yield from pattern.finditer(text, begin, end)

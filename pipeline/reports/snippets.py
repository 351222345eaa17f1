"""The words of a page around what was found on it, as printed, the hit marked «so»."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from itertools import chain, pairwise
from typing import Any

from pipeline.documents.text import identifier
from pipeline.reports.printed import amounts, folded

SNIPPET_CHARACTERS = 160
# As much of a page as its columns search and amounts are made of.
SEARCHED_CHARACTERS = 100_000
WHOLE, END, START, INSIDE, ABSENT = range(5)
_TOKEN = re.compile(r"\S+")
# Letters with the marks on them that have no sign of their own.
_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u00ad\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u200b-\u200f])*")
_SPACE = re.compile(r"\s+")

Span = tuple[int, int]


def around_number(page_text: str, numbers: Sequence[str], values: Collection[Decimal] = ()) -> str:
    """The text around an amount that is one of the values, else around the token nearest to one of the numbers."""
    printed = amounts(page_text[:SEARCHED_CHARACTERS]) if values else ()
    spans = ((each.start, each.end) for each in printed if each.value in values)
    span = next(spans, None) or _nearest(page_text, numbers)
    return _marked(page_text, [span]) if span else _fold(page_text[:SNIPPET_CHARACTERS])


def around_words(page_text: str, words: Collection[str]) -> str:
    """The text where most of the folded words stand together, each marked."""
    hits = [] if not words else _hits(page_text[:SEARCHED_CHARACTERS], words)
    if not hits:
        return _fold(page_text[:SNIPPET_CHARACTERS])
    return _marked(page_text, max(_together(hits), key=lambda near: (len({word for *_, word in near}), -_width(near))))


def distance(found: str, number: str) -> int:
    """How far an identifier is from being the number: WHOLE, END, START, INSIDE or ABSENT."""
    if found == number:
        return WHOLE
    if found.endswith(number):
        return END
    if found.startswith(number):
        return START
    return INSIDE if number in found else ABSENT


def _nearest(page_text: str, numbers: Sequence[str]) -> Span | None:
    best, nearest = None, ABSENT
    for token in _TOKEN.finditer(page_text) if numbers else ():
        found = identifier(token[0])
        away = min(distance(found, number) for number in numbers)
        if away < nearest:
            best, nearest = token.span(), away
        if nearest == WHOLE:
            break
    return best


def _hits(page_text: str, words: Collection[str]) -> list[tuple[int, int, str]]:
    found = ((*match.span(), folded(match[0])) for match in _WORD.finditer(page_text))
    return [hit for hit in found if hit[2] in words]


def _together(hits: Sequence[tuple[int, int, str]]) -> Iterator[Sequence[tuple[int, int, str]]]:
    """From each hit on, those that one snippet has room for."""
    end = 0
    for place, (start, *_) in enumerate(hits):
        while end < len(hits) and (end <= place or hits[end][1] - start <= SNIPPET_CHARACTERS):
            end += 1
        yield hits[place:end]


def _width(near: Sequence[tuple[int, int, str]]) -> int:
    return near[-1][1] - near[0][0]


def _marked(page_text: str, hits: Sequence[tuple[Any, ...]]) -> str:
    """The hits, in order, with what stands before, between and after them. Those that one sign joins are one."""
    spans: list[Span] = []
    for start, end, *_ in hits:
        gap = page_text[spans[-1][1] : start] if spans else None
        if gap is not None and len(gap) <= 1 and not gap.isspace():
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    side = max(0, (SNIPPET_CHARACTERS - (spans[-1][1] - spans[0][0])) // 2)
    ends = [max(0, spans[0][0] - side), *chain.from_iterable(spans), spans[-1][1] + side]
    pieces = [page_text[start:end] for start, end in pairwise(ends)]
    return _fold("".join(f"«{piece}»" if place % 2 else piece for place, piece in enumerate(pieces)))


def _fold(words: str) -> str:
    return _SPACE.sub(" ", words).strip()

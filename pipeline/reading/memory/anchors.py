"""An anchor says where an issuer prints a field: behind a label, under one, or at a place of the sheet.

It is learned from one document and a value that is known to be right, and finds the value of the same field on another
document of that issuer. What it learned must find the same value again on the document it was learned from, and never
anything else on another one whose value is known.
"""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pipeline.reading.memory.spans import (
    EDGES,
    Print,
    Sort,
    Span,
    canonical,
    has_form,
    is_currency,
    located,
    normal,
    same,
    shape,
    sort_of,
)
from pipeline.reading.rows import Cell, Row, fold, squeeze

MOST_PLACES = 4  # at which one value is looked at
MOST_HITS = 20  # of an anchor; what fits more often says nothing
LABEL_WORDS = 5
ROWS_BELOW = 3
COLUMNS_OFF = 3
_FILLING = re.compile(r"[ .:;#°º*|=_-]*")


class Side(enum.Enum):
    """Where the label stands, seen from the value; none for a bare place."""

    LEFT = "left"
    ABOVE = "above"
    NONE = "none"


_TRUST = {Side.LEFT: 0.95, Side.ABOVE: 0.93, Side.NONE: 0.55}


@dataclass(frozen=True, slots=True)
class Hit:
    """A value that an anchor found for a field: where it stands, and how far it is to be trusted."""

    name: str
    value: str
    row: Row
    span: Span
    trust: float
    places: int


@dataclass(frozen=True)
class Anchor:
    """Where a field stands.

    `label` is folded, its numbers written #. `skip` counts the values of that sort between label and value, or the rows
    under the label. Of several rows that fit, `turn` is the one meant, from the top, of `turns`. `start` and `end` are
    columns, `down` and `up` count the rows from the top and the bottom of the page. `after` is the word that follows
    in the cell. `looks` is the shape of the value. At how many `places` the value stood: which one is meant is not
    known if there were several.
    """

    name: str
    side: Side
    label: str
    skip: int
    looks: str
    words: int
    after: str
    cents: bool
    start: int
    end: int
    down: int
    up: int
    on_first_page: bool
    turn: int = 0
    turns: int = 1
    places: int = 1

    @cached_property
    def sort(self) -> Sort:
        """How the field is printed."""
        return sort_of(self.name)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The label in a folded row."""
        words = " {1,20}".join(re.escape(word).replace(r"\#", r"\d{1,20}") for word in self.label.split())
        return re.compile(rf"(?<![a-z0-9]){words}(?![a-z0-9])")

    @cached_property
    def longest(self) -> str:
        """A part of the label that every row with it has."""
        return max(re.split(r"[# ]", self.label), key=len)


def learn(name: str, value: str, sheet: Print, *, page: int = 0, snippet: str = "") -> tuple[Anchor, ...]:
    """The anchors that a value teaches, none where it is not printed. `page` and `snippet` say which place is meant."""
    places = _meant(list(located(name, value, sheet)), sheet, page, snippet)
    anchors = (anchor for place, span in places for anchor in _anchors(name, sheet, place, span))
    learned = [replace(anchor, places=len(places)) for anchor in anchors]
    if len(places) > 1:  # a bare place is worth something where there is only one
        learned = [anchor for anchor in learned if anchor.side is not Side.NONE]
    turned = (_turned(anchor, value, sheet) for anchor in dict.fromkeys(learned))
    return tuple(anchor for anchor in turned if anchor is not None)


def recall(anchor: Anchor, sheet: Print) -> Hit | None:
    """What the anchor finds on another sheet, None if nothing or more than can be told apart."""
    hits = list(itertools.islice(_hits(anchor, sheet), MOST_HITS + 1))
    if len(hits) > MOST_HITS:
        return None
    if len(hits) == 1:
        return hits[0]
    if not hits:
        return None
    if len(hits) == anchor.turns:
        chosen = hits[anchor.turn]
    elif anchor.turn == anchor.turns - 1 and anchor.turns > 1:
        chosen = hits[-1]
    elif anchor.turn == 0 and anchor.turns > 1:
        chosen = hits[0]
    else:
        exact = {hit.value for hit in hits}
        return hits[0] if len(exact) == 1 else None
    return replace(chosen, trust=chosen.trust * 0.92)


def _meant(found: Sequence[tuple[int, Span]], sheet: Print, page: int, snippet: str) -> list[tuple[int, Span]]:
    """The places in the row that the snippet shows, else on that page, else all, the first and the last of them."""
    shown = [each for each in found if snippet and squeeze(sheet.rows[each[0]].text) == snippet]
    there = [each for each in found if sheet.rows[each[0]].page == page]
    kept = shown or there or list(found)
    return kept if len(kept) <= MOST_PLACES else [*kept[: MOST_PLACES // 2], *kept[-MOST_PLACES // 2 :]]


def _anchors(name: str, sheet: Print, place: int, span: Span) -> Iterator[Anchor]:
    row = sheet.rows[place]
    bare = _bare(name, sheet, place, span)
    label, label_end = _left_label(row, span.start)
    if label:
        between = [each for each in sheet.figures(bare.sort, place) if label_end <= each.start < span.start]
        skip = 0 if bare.sort is Sort.WORDS else len(between)
        yield replace(bare, side=Side.LEFT, label=label, skip=skip)
    for below in range(1, ROWS_BELOW + 1):
        cell = _over(sheet.rows, place, below, span)
        if cell is not None:
            if label := normal(cell.text):
                yield replace(bare, side=Side.ABOVE, label=label, skip=below)
            break
    if bare.sort is not Sort.AMOUNT:  # the longer the list, the further down the totals
        yield bare


def _bare(name: str, sheet: Print, place: int, span: Span) -> Anchor:
    row = sheet.rows[place]
    cell = next((cell for cell in row.cells if cell.overlaps(span.start, span.end)), row.cells[0])
    on_page = [number for number, each in enumerate(sheet.rows) if each.page == row.page]
    printed = row.text[span.start : span.end]
    after = fold(row.text[span.end : cell.end]).strip(EDGES).split(" ")[0]
    return Anchor(
        name=name,
        side=Side.NONE,
        label="",
        skip=0,
        looks=shape(printed),
        words=len(printed.split()),
        after=after,
        cents=span.cents,
        start=span.start,
        end=span.end,
        down=place - on_page[0],
        up=on_page[-1] - place,
        on_first_page=row.page == sheet.rows[0].page,
    )


def _turned(anchor: Anchor, value: str, sheet: Print) -> Anchor | None:
    """The anchor, knowing which of its hits is the one. None if the value is not among them."""
    hits = list(itertools.islice(_hits(anchor, sheet), MOST_HITS))
    for turn, hit in enumerate(hits):
        if same(anchor.sort, hit.value, value):
            return replace(anchor, turn=turn, turns=len(hits))
    return None


def _left_label(row: Row, start: int) -> tuple[str, int]:
    """The last words in front of a place in its row, and where they end: of its cell, else of the nearest one."""
    for cell in reversed([cell for cell in row.cells if cell.start < start]):
        end = min(cell.end, start)
        label = normal(row.text[cell.start : end])
        if label:
            words = label.split()
            return " ".join(words[-LABEL_WORDS:]), end
    return "", 0


def _over(rows: Sequence[Row], place: int, below: int, span: Span) -> Cell | None:
    """The cell so many rows above that stands over a span."""
    if place < below or rows[place - below].page != rows[place].page:
        return None
    return next((cell for cell in rows[place - below].cells if cell.overlaps(span.start, span.end)), None)


def _hits(anchor: Anchor, sheet: Print) -> Iterator[Hit]:
    """Every value that stands where the anchor says."""
    find = {Side.LEFT: _right_of_label, Side.ABOVE: _under_label, Side.NONE: _at_place}[anchor.side]
    for place, span in find(anchor, sheet):
        row = sheet.rows[place]
        likeness = _likeness(anchor, row.text[span.start : span.end], span)
        if likeness:
            value, trust = canonical(anchor.name, span.value), _TRUST[anchor.side] * likeness
            yield Hit(anchor.name, value, row, span, trust, anchor.places)


def _right_of_label(anchor: Anchor, sheet: Print) -> Iterator[tuple[int, Span]]:
    for place, row in enumerate(sheet.rows):
        match = anchor.pattern.search(row.folded) if anchor.longest in row.folded else None
        if match is None:
            continue
        if anchor.sort is Sort.WORDS:
            span = _words_from(anchor, row, match.end())
            if span:
                yield place, span
            continue
        after = [each for each in sheet.figures(anchor.sort, place) if each.start >= match.end()]
        if anchor.skip < len(after) and not _has_words(row.folded[match.end() : after[anchor.skip].start]):
            yield place, after[anchor.skip]


def _under_label(anchor: Anchor, sheet: Print) -> Iterator[tuple[int, Span]]:
    for place, row in enumerate(sheet.rows):
        if anchor.longest not in row.folded:
            continue
        for label, cell in zip(sheet.labels(place), row.cells, strict=True):
            if label == anchor.label and (found := _below(anchor, sheet, place, cell)):
                yield found


def _below(anchor: Anchor, sheet: Print, place: int, cell: Cell) -> tuple[int, Span] | None:
    """The value under a cell, in the row that is as far below as it was, else in one nearby.

    Of several amounts one under the other none is meant: that is a list.
    """
    found: list[tuple[int, Span]] = []
    for under in range(place + 1, min(place + 1 + ROWS_BELOW, len(sheet.rows))):
        row = sheet.rows[under]
        for span in _spans(anchor, sheet, under) if row.page == sheet.rows[place].page else ():
            is_under = cell.overlaps(span.start - 1, span.end + 1)
            if is_under and _likeness(anchor, row.text[span.start : span.end], span):
                found.append((under, span))
    if anchor.sort is Sort.AMOUNT and len({under for under, _ in found}) > 1:
        return None
    return min(found, key=lambda each: abs(each[0] - place - anchor.skip), default=None)


def _at_place(anchor: Anchor, sheet: Print) -> Iterator[tuple[int, Span]]:
    """What stands in the same row, counted from the top of the page or from its bottom, at the same columns."""
    first, last = sheet.rows[0].page, sheet.rows[-1].page
    on_page = [n for n, row in enumerate(sheet.rows) if row.page == (first if anchor.on_first_page else last)]
    for place in sorted({on_page[0] + anchor.down, on_page[-1] - anchor.up}):
        if not on_page[0] <= place <= on_page[-1]:
            continue
        for span in _spans(anchor, sheet, place):
            if min(abs(span.start - anchor.start), abs(span.end - anchor.end)) <= COLUMNS_OFF:
                yield place, span


def _spans(anchor: Anchor, sheet: Print, place: int) -> list[Span]:
    """The values of the anchor's sort in a row, wherever they stand."""
    if anchor.sort is not Sort.WORDS:
        return sheet.figures(anchor.sort, place)
    row = sheet.rows[place]
    return [span for cell in row.cells if (span := _words_from(anchor, row, cell.start))]


def _words_from(anchor: Anchor, row: Row, start: int) -> Span | None:
    """The words from a place on: to the end of their cell, or as far as the learned value went in its cell."""
    filling = _FILLING.match(row.text, start)
    start = filling.end() if filling else start
    cell = next((cell for cell in row.cells if cell.start <= start < cell.end), None)
    if cell is None:
        return None
    text = row.text[start : cell.end]
    if anchor.after:
        text = _cut(text, anchor)
    text = text.rstrip(EDGES)
    return Span(squeeze(text), start, start + len(text)) if text else None


def _cut(text: str, anchor: Anchor) -> str:
    """The text up to the word that follows the value, else as many words as the value had."""
    end = fold(text).find(" " + anchor.after)
    if end > 0 and anchor.after.isalpha():
        return text[:end]
    return " ".join(text.split(" ")[: anchor.words])


def _has_words(between: str) -> bool:
    """Whether there is a word that is no currency: then what follows it belongs to it."""
    return any(sum(map(str.isalpha, word)) > 1 and not is_currency(word) for word in between.split())


def _likeness(anchor: Anchor, printed: str, span: Span) -> float:
    """How much a value looks like the learned one, 0 if it cannot be one of the same kind."""
    if anchor.sort is not Sort.WORDS:
        return float(span.cents or not anchor.cents)
    looks = shape(printed)
    if not canonical(anchor.name, printed):
        return 0.0
    if looks == anchor.looks or has_form(anchor.name):
        return 1.0
    if ("9" in anchor.looks) != ("9" in looks) or ("a" in looks) < ("a" in anchor.looks):
        return 0.0
    return 0.85 if "9" not in looks or len(looks) <= len(anchor.looks) + 2 else 0.0

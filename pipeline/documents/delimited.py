"""Rows and cells of delimited text, read as programs write it, whatever the delimiter and the length of a field."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence

_DELIMITERS = ";,\t|"  # of equally good ones the first wins
_SAMPLE_CHARACTERS = 65_536
_LEAST_SHARE = 0.75  # of the rows, that have as many cells as most; titles and totals have fewer
_LONGEST_FIELD = 1 << 30


def delimiter(text: str) -> str | None:
    """The sign that parts the first rows into the same number of cells, at least two, most consistently; or None."""
    sample = text[:_SAMPLE_CHARACTERS]
    whole = sample if len(sample) == len(text) else sample[: sample.rfind("\n") + 1 or None]
    scores = {
        sign: _consistency(list(cells(whole, sign)), _least(whole, sign)) for sign in _DELIMITERS if sign in whole
    }
    best = max(scores, key=lambda sign: scores[sign], default=None)
    return best if best and scores[best] > 0 else None


def cells(text: str, sign: str) -> Iterator[list[str]]:
    """The rows of a text, a list of cells each; a quote that is never closed ends with the text."""
    csv.field_size_limit(_LONGEST_FIELD)  # one limit for the process; a field is bounded by its file
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=sign)
    except csv.Error:
        yield from (line.split(sign) for line in text.split("\n"))


def _least(text: str, sign: str) -> int:
    """How many cells a row must have: one more where blanks follow the sign, as in prose."""
    return 3 if 2 * text.count(sign + " ") > text.count(sign) else 2


def _consistency(rows: Sequence[Sequence[str]], least: int) -> float:
    """Cells a row by the share of rows that have as many; 0 where there are too few of either."""
    counts = Counter(len(row) for row in rows if row)
    if not counts:
        return 0.0
    width, agreeing = counts.most_common(1)[0]
    share = agreeing / counts.total()
    return share * min(width, 30) ** 0.5 if width >= least and share >= _LEAST_SHARE else 0.0

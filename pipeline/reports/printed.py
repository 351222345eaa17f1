"""Words and amounts as they are compared, whatever their print: what the columns search and amounts of a page hold.

The database derives those by two functions, folded() and printed_amounts() of migration 0006. These are the same rules,
to read queries and to find again on a page what the database has found; a test compares the two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

_MARKS = re.compile("[\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u200b-\u200f\u2060\ufeff]+")
_LETTERS = str.maketrans(
    dict(zip("øØłŁđĐðÐıħĦς", "oOlLdDdDihHσ", strict=True))
    | {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH"}
)
_SPACES = " \u00a0\u2007\u2009\u202f"
_RUN = re.compile(r"(?P<printed>[0-9][0-9.,'’]*[.,'’][0-9]+)(?P<percent>[ \u00a0]?%)?")
_SPACED = re.compile(
    rf"(?<![0-9.,'’])(?P<printed>[0-9]{{1,3}}(?:[{_SPACES}][0-9]{{3}})+[.,][0-9]{{1,2}})(?![.,'’]?[0-9])(?P<percent>)"
)
_AMOUNT = re.compile(
    r"([1-9][0-9]?(,[0-9]{2})+,[0-9]{3}|[1-9][0-9]{0,2}([.,'’][0-9]{3})+|[0-9]{1,15})(?:[.,](?P<decimals>[0-9]{1,2}))?"
)
_JOINED = str.maketrans(dict.fromkeys(_SPACES, "'"))
_MOST_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class Printed:
    """An amount and where it stands in the text. It has no sign."""

    value: Decimal
    start: int
    end: int


def folded(text: str) -> str:
    """A text as words are compared, in lower case: no accents, ligatures or strokes; ß is ss."""
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", unicodedata.normalize("NFKD", text)).translate(_LETTERS).lower()


def amounts(text: str) -> Iterator[Printed]:
    """The amounts of a text, first those without spaces. In "2 100.00" both 100.00 and 2100.00 are meant."""
    for pattern in (_RUN, _SPACED):
        for match in pattern.finditer(text):
            value = None if match["percent"] else amount(match["printed"])
            if value is not None:
                yield Printed(value, match.start("printed"), match.end("printed"))


def amount(printed: str) -> Decimal | None:
    """The amount that a number is, None if it is none: a plain one is, with any groups of thousands or decimals."""
    found = _AMOUNT.fullmatch(printed.translate(_JOINED))
    if found is None or len(printed) > _MOST_CHARACTERS:
        return None
    return Decimal(re.sub(r"[^0-9]", "", printed)).scaleb(-len(found["decimals"] or ""))

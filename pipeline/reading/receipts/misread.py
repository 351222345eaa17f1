"""What recognition takes for something else: letters for digits in figures, one letter for another in known words.

Repaired text is as long as what was read, so that a position in one is a position in the other. It is for finding and
comparing; whoever gives a repaired value says so by its confidence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

FIGURE = r"[\dOoQDIil|!ZzSsGB]"  # a digit, or a letter that a digit is taken for
_DIGITS = str.maketrans("OoQDqdIil|!ZzSsGgBbCc", "000000111112255668800")
_MONEY = re.compile(
    r"(?<![A-Za-z\d.,])((?:RM|[$£€]) ?)?((?=[^ ]{0,6}\d)[\dOoQDIl|SBC]{1,6}[.,](?:\d[\dOoQDIl|SBCc]|[OoQDIl|SB]\d))"
    r"(?![A-Za-z\d]|[.,]\d)"
)
# Signs that are taken for one another. Letters only: a digit in a word is brought to its letter first.
_ALIKE = ("oqdcu", "ilj", "hmnb", "bdh", "cgo", "vyu", "fpt", "tlfi", "rn", "ao", "gq", "kx", "mnw", "zs", "bkr")
_NOUGHT = re.compile(r"(?<![^\W_])(?=[^\W_]{4})([^\W\d_]{1,20})(00?)(?=[^\W\d_]{1,20}(?![^\W_]))")
_ONE = re.compile(r"(?<=[A-Z]\.)1(?=\.[A-Z])|(?<=[A-Z])1(?=[A-Z]{2})|(?<=[A-Z]{2})1(?=[A-Z])")
_LETTERS = str.maketrans("015864|!", "olsbbali")
_LEAST_LETTERS = 5  # of a known word; among shorter ones another word is one letter away
_WORD = re.compile(r"[a-z0-9|!]{5,}")


def as_digits(text: str) -> str:
    """The text with letters that stand for digits as digits: `2O/O3/2Ol8` is 20/03/2018."""
    return text.translate(_DIGITS)


def money(text: str) -> str:
    """The text with the letters in amounts as digits: `RMO.08` is RM0.08. An amount has a decimal mark and a digit."""
    return _MONEY.sub(lambda match: (match[1] or "") + as_digits(match[2]), text)


def letters(text: str) -> str:
    """The text with noughts and ones inside a word of letters as letters: `J0HOR` is JOHOR, `M.1.D` is M.I.D."""
    text = _NOUGHT.sub(lambda match: match[1] + ("o" if match[1][-1].islower() else "O") * len(match[2]), text)
    return _ONE.sub("I", text)


def words(folded: str, known: Collection[str]) -> str:
    """The folded text with each word that differs from a known one by a sign taken for another as that word."""
    by_length = _by_length(frozenset(known))
    return _WORD.sub(lambda match: _nearest(match[0], by_length.get(len(match[0]), ())), folded)


@lru_cache(maxsize=8)
def _by_length(known: frozenset[str]) -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {}
    for word in sorted(known):
        found[len(word)] = (*found.get(len(word), ()), word)
    return found


@lru_cache(maxsize=4_096)
def _nearest(word: str, known: Iterable[str]) -> str:
    plain = word.translate(_LETTERS)
    if word in known or sum(map(str.isdigit, word)) > 2:
        return word
    return next((each for each in known if _taken_for(plain, each)), word)


def _taken_for(word: str, known: str) -> bool:
    """Whether two words of one length differ at most by one sign that is taken for the other."""
    unlike = [(one, other) for one, other in zip(word, known, strict=True) if one != other]
    return len(unlike) <= 1 and all(any(one in signs and other in signs for signs in _ALIKE) for one, other in unlike)

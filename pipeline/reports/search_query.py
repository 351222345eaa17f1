"""What a query as typed looks for: words, numbers by their parts, and amounts in any notation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pipeline.documents.text import identifier
from pipeline.errors import UsageProblem
from pipeline.reports.printed import amount, folded

# A trigram index needs three characters to look anything up.
SHORTEST_NUMBER = 3
MOST_NUMBERS = 8
MOST_SPELLINGS = 8
_CODES = (
    "aed aud bgn brl cad chf cny czk dkk eur gbp hkd huf idr ils inr isk jpy krw mxn myr nok nzd php pln ron sek sgd"
    " thb try twd uah usd zar"
)
_CURRENCIES = frozenset(_CODES.split()) | {"€", "$", "£", "¥", "₹", "zł", "kč", "fr.", "rm"}
_UNIT = "|".join(re.escape(each) for each in sorted(_CURRENCIES, key=len, reverse=True))
_MONEY = re.compile(rf"(?:{_UNIT})?(?P<number>[0-9][0-9.,'’]*?)(?:[.,]?[-–—]+)?(?:{_UNIT})?", re.IGNORECASE)
_SPACED = re.compile(r"(?<![^\s\"])[0-9]{1,3}(?:[ \u00a0\u2007\u2009\u202f][0-9]{3})+[.,][0-9]{1,2}(?![.,]?[0-9])")
_DECIMALS = re.compile(r"[.,][0-9]{1,2}$")
_WORD = re.compile(r"[^\W_]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
# An umlaut in two letters. Behind a vowel or a q it is none (neue, Bauer, que), and in short words seldom (due).
_WITHOUT_UMLAUT = re.compile(r"(?<![aeiouyq])([aou])e")
_SHORTEST_UMLAUT = 5


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is looked for: in `identifier` as those of pages are stored, "" for none, or as an `amount`.

    `is_whole`: only an identifier that is nothing else counts; otherwise any that holds it.
    """

    identifier: str
    amount: Decimal | None = None
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: `words` in the syntax of a web search, `numbers` apart.

    A page found by its numbers holds all of them and also satisfies `rest`, the query without them; if `any_number`,
    one of them is enough. `spellings` are pairs of folded words that mean the same, `marked` all that a hit may be.
    """

    words: str
    numbers: tuple[Number, ...]
    rest: str
    any_number: bool = False
    spellings: tuple[tuple[str, str], ...] = ()
    marked: frozenset[str] = frozenset()


def parse(words: str) -> Query:
    """Read a query as typed. Raises UsageProblem for one that is empty or only excludes."""
    words = unicodedata.normalize("NFC", words)  # as pages are stored, whatever the keyboard sent
    tokens = _SPACED.sub(lambda match: re.sub(r"\s", "'", match[0]), words).split()
    if all(token.startswith("-") for token in tokens) or "\x00" in words:
        raise UsageProblem("say what to look for, e.g. doclease search 'acme 2026-0042'")
    read = _without_currencies([(token, number(token)) for token in tokens])
    numbers = [found for _, found in read if found is not None][:MOST_NUMBERS]
    rest = [token for token, found in read if found is None or found not in numbers]
    either = any(token.casefold() == "or" for token in tokens)
    spellings = tuple(_spellings(rest))
    return Query(
        " ".join(token for token, _ in read),
        tuple(numbers),
        "" if either else " ".join(rest),
        either,
        spellings,
        frozenset(_positive_words([token for token, _ in read])) | {other for _, other in spellings},
    )


def number(token: str) -> Number | None:
    """The number that a token of a query is, None for a word, or for what excludes."""
    if token.startswith("-") or not any(sign.isdigit() for sign in token):
        return None
    printed = _MONEY.fullmatch(token.strip('"()'))
    value = amount(printed["number"]) if printed else None
    if printed is None or value is None:
        digits = identifier(token)
        return Number(digits) if len(digits) >= SHORTEST_NUMBER else None
    if _DECIMALS.search(printed["number"]):
        whole = _long_enough(str(int(value)) if value == int(value) else "")
        return Number(whole, value, is_whole=True)
    digits = _long_enough(identifier(printed["number"]))
    if printed["number"].startswith("0") or not (digits or printed["number"] != token):
        return Number(digits) if digits else None
    return Number(digits, value)


def other_spelling(word: str) -> str:
    """How a page without umlauts writes the word, or one with them, folded: Müller is Mueller, and the other way round.

    It is the folded word itself where there is no other spelling.
    """
    plain = folded(word)
    other = folded(word.lower().translate(_UMLAUTS))
    return _WITHOUT_UMLAUT.sub(r"\1", plain) if other == plain and len(plain) >= _SHORTEST_UMLAUT else other


def _long_enough(digits: str) -> str:
    return digits if len(digits) >= SHORTEST_NUMBER else ""


def _without_currencies(read: Sequence[tuple[str, Number | None]]) -> list[tuple[str, Number | None]]:
    """Without the currencies before and behind amounts: one page says EUR, another one €."""
    kept = []
    for place, (token, found) in enumerate(read):
        near = [read[each][1] for each in (place - 1, place + 1) if 0 <= each < len(read)]
        beside_amount = any(each is not None and each.amount is not None for each in near)
        if not (beside_amount and token.strip('"').casefold() in _CURRENCIES):
            kept.append((token, found))
    return kept


def _positive_words(tokens: Sequence[str]) -> Iterator[str]:
    for token in tokens:
        if not token.startswith("-") and token.casefold() != "or":
            yield from (folded(word) for word in _WORD.findall(token))


def _spellings(tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = [word for token in tokens if not token.startswith("-") for word in _WORD.findall(token)]
    found = {folded(word): other_spelling(word) for word in words}
    yield from [(word, other) for word, other in found.items() if other != word][:MOST_SPELLINGS]

"""Whether a page's text can be read as language: a broken font map yields letters too, but not those of any language.

Nothing here knows words of a trade; a page of part numbers, names or figures says little and is never held against it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_BAD = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\U000f0000-\U0010ffff]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_DIGIT = re.compile(r"\d")
_AROUND = ".,;:()[]{}'\"!?-–—%€$£/’‘“”„«»*•<>|_="
_CONSONANTS = re.compile(r"[bcdfghjklmnpqrstvwxz]{6,}")
_VOWELS = frozenset("aeiouyäöüéèêàâáíìóòúùïîëôûœæåøãõýąęıěůőűăā")
_PLAIN_LENGTH = 6_000  # characters that tell whether a page reads well at once
_FEW_WORDS, _FEW_TOKENS, _FEW_LETTERS = 40, 8, 150
_SAMPLED_TOKENS = 400
_DIFFERENT = 4
_LONG = 4  # letters; shorter ones are spoken as letters, too
_MOST = 0.6  # of a page in one script, for its letters to tell
_FIRST_BEYOND_LATIN = "\u0250"
_VIETNAMESE = range(0x1E00, 0x1F00)  # Latin letters beyond, with one mark or two

# Words that carry no meaning, which every text has, in the languages that share letters.
_EVERYDAY = (
    "the of and to in is that for it as with was on be by are this or from at an which not have has shall any all"
    " your you our will may no if de la le et les des un une en du que est pour par sur dans au avec ne pas nous vous"
    " der die und das den von zu mit ist ein eine im dem auf für nicht sich bei wird oder nach als sie wir auch"
    " el los las del se con por para una su al como más di il che per non della dei nel sono con gli alla"
    " het een van op te voor niet met zijn dat aan wordt bij ook da do em os na não uma com ao dos"
    " nie się jest dla od oraz och att det som av på är för til og ikke ja on ei se että hogy és az nem egy"
    " si cu din pe nu je ne u koji ve bir bu için ile dan yang untuk dengan tidak adalah v že pro"
    " qty unit price amount total invoice date net vat tax page rechnung datum betrag facture montant"
    " и в на не что с по для от или как это к из у та що до є не καὶ και το του της να την για με από οι"
)
_COMMON = frozenset(word for word in _EVERYDAY.split() if len(word) > 1)
_EVERYDAY_SHARE = 0.08

# How often a letter stands among a thousand, about the same in the languages of a script.
_LATIN = (
    "e140 t70 a85 i75 n75 o65 s68 r65 l45 d42 c30 u42 m29 p23 h24 g17 b14 f12 v13 k13 w10 y10 z10 j6 x3 q4"
)  # fmt: skip
_CYRILLIC = (
    "о105 а88 е82 и76 н65 т61 с52 р47 в45 л42 к35 д32 м30 п28 у27 я19 ы14 ь15 г17 з17 б16 ч14 й11 х10 ж9 ш7 ю6 ц5 щ4"
    " э3 ф2 і15 є3"
)
_GREEK = (
    "α115 ο95 ι93 ε85 τ80 σ80 ν65 η47 υ43 ρ42 π40 κ40 μ34 λ27 ς20 ω17 δ17 γ13 θ8 φ12 χ7 β5 ξ4 ζ2"
)  # fmt: skip
_SCRIPTS = tuple({each[0]: int(each[1:]) for each in script.split()} for script in (_LATIN, _CYRILLIC, _GREEK))


@dataclass(frozen=True, slots=True)
class Legibility:
    """What a text says about itself; None where there is too little of it to say.

    `wordiness` is the share of Latin words that a mouth could speak, `common` the share of words that every text has,
    `likeness` how close its letters are to those of the languages in that script (natural text is above 0.85, a cipher
    mostly below 0.75). All in 0..1.
    """

    wordiness: float | None = None
    common: float | None = None
    likeness: float | None = None


def bad_share(text: str) -> float:
    """The part of a text that stands for nothing: replacement characters, private ones, controls. 0..1."""
    return len(_BAD.findall(text)) / len(text) if text else 0.0


def reads_well(text: str) -> bool:
    """Whether a text is plainly language: enough of it, hardly a bad character, everyday words. False says nothing."""
    start = text[:_PLAIN_LENGTH]
    if len(_BAD.findall(start)) >= 0.01 * len(start):
        return False
    lowered = start.lower()
    # To split is cheap, and no text has more words than a third of its characters: with most prose that will do.
    if _are_everyday(lowered.split(), max(len(lowered) / 3, _FEW_WORDS / _EVERYDAY_SHARE)):
        return True
    words = _WORD.findall(lowered)
    return len(words) >= _FEW_WORDS and _are_everyday(words, len(words))


def _are_everyday(words: Sequence[str], of: float) -> bool:
    everyday = [word for word in words if word in _COMMON]
    return len(everyday) >= _EVERYDAY_SHARE * of and len(set(everyday)) >= _DIFFERENT  # a cipher hits one or two


def legibility(text: str) -> Legibility:
    """Measure a text of any length, by words from all over it. What holds a digit is a code or an amount: no word."""
    tokens = [token for token in text.split() if not _DIGIT.search(token)]
    words = _WORD.findall(" ".join(tokens).lower())
    common = sum(word in _COMMON for word in words) / len(words) if len(words) >= _FEW_WORDS else None
    long = [token for token in tokens if len(token) >= _LONG]
    return Legibility(_wordiness(_spread(long)), common, _likeness(words))


def _spread(tokens: Sequence[str]) -> Sequence[str]:
    return tokens[:: max(len(tokens) // _SAMPLED_TOKENS, 1)][:_SAMPLED_TOKENS]


def _wordiness(tokens: Sequence[str]) -> float | None:
    words = [core for token in tokens if (core := token.strip(_AROUND))]
    latin = [word for word in words if _is_latin(word)]
    if len(latin) < max(_FEW_TOKENS, _MOST * len(words)):
        return None
    return sum(map(_is_speakable, latin)) / len(latin)


def _is_latin(word: str) -> bool:
    return all(sign < _FIRST_BEYOND_LATIN or ord(sign) in _VIETNAMESE or "\u2000" <= sign < "\u2100" for sign in word)


def _is_speakable(word: str) -> bool:
    lower = unicodedata.normalize("NFC", word.lower())
    vowels = sum(sign in _VOWELS or unicodedata.normalize("NFD", sign)[0] in _VOWELS for sign in lower) / len(lower)
    if sum(map(str.isalpha, lower)) <= 0.74 * len(lower) or _CONSONANTS.search(lower):
        return False
    return 0.14 < vowels < 0.81 or (word.isupper() and len(word) < 6)


def _likeness(words: Sequence[str]) -> float | None:
    """The cosine between the text's letters and those of the script that most of them belong to."""
    letters = Counter(unicodedata.normalize("NFD", "".join(words)))
    known = [({letter: letters[letter] for letter in script}, script) for script in _SCRIPTS]
    counts, script = max(known, key=lambda each: sum(each[0].values()))
    if sum(counts.values()) < max(_FEW_LETTERS, _MOST * sum(map(len, words))):
        return None
    across = sum(counts[letter] * script[letter] for letter in script)
    return across / (math.hypot(*counts.values()) * math.hypot(*script.values()))

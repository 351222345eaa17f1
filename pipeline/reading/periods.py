"""Durations as contracts print them, in digits or in words of six languages, to a number and an English unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.reading.near import finditer_near

_NUMBERS = {
    1: "one ein eine einem einen einer eines un une een uno una",
    2: "two zwei deux twee dos due",
    3: "three drei trois drie tres tre",
    4: "four vier quatre cuatro quattro",
    5: "five funf cinq vijf cinco cinque",
    6: "six sechs zes seis sei",
    7: "seven sieben sept zeven siete sette",
    8: "eight acht huit ocho otto",
    9: "nine neun neuf negen nueve nove",
    10: "ten zehn dix tien diez dieci",
    11: "eleven elf onze once undici",
    12: "twelve zwolf douze twaalf doce dodici",
    14: "fourteen vierzehn quatorze veertien catorce quattordici",
    15: "fifteen quinze quince quindici",
    18: "eighteen achtzehn achttien dieciocho diciotto",
    20: "twenty zwanzig vingt twintig veinte venti",
    24: "vierundzwanzig vingt-quatre vierentwintig veinticuatro ventiquattro",
    30: "thirty dreißig dreissig trente dertig treinta trenta",
    36: "sechsunddreißig sechsunddreissig trente-six zesendertig",
    40: "forty vierzig quarante veertig cuarenta quaranta",
    50: "fifty",
    60: "sixty sechzig soixante zestig sesenta sessanta",
    70: "seventy",
    80: "eighty",
    90: "ninety neunzig negentig noventa novanta",
}
_VALUES = {word: number for number, words in _NUMBERS.items() for word in words.split()}
_UNITS = {
    "day": r"days?|tage?n?|jours?|dag(?:en)?|dias?|giorn[oi]",
    "week": r"weeks?|wochen?|semaines?|we(?:ek|ken)|semanas?|settiman[ae]",
    "month": r"months?|monate?n?|monats?|mois|maand(?:en)?|mes(?:es)?|mes[ei]",
    "year": r"years?|jahre?n?|jahres|ans|(?<=un )an|(?<=1 )an|annees?|ja(?:ar|ren)|anos?|ann[oi]",
}
_WORD = "|".join(sorted(_VALUES, key=len, reverse=True))
_DIGIT = "one|two|three|four|five|six|seven|eight|nine"  # behind twenty, thirty, …
_PERIOD = re.compile(
    rf"(?:\b(?:{_WORD})(?:[- ](?:five|eight|six))? ?\((\d{{1,3}}|i)\)|\((\d{{1,3}})\)"
    rf"|\b(\d{{1,3}})(?: ?\([a-z -]{{3,20}}\))?|\b({_WORD})(?:[- ]({_DIGIT}))?)"
    r"[ ~-]?(?:full |consecutive |calendar |business |successive |contract )?"
    rf"(?:{'|'.join(f'({pattern})' for pattern in _UNITS.values())})(?:'?s'?)?\b"
)
# What units begin with is looked for first: most words fail there.
_ANY_UNIT = re.compile(rf"[\d) ~-](?=[adgjmstwy])(?:{'|'.join(_UNITS.values())})(?:'?s'?)?\b")
_BEFORE_UNIT, _AFTER_UNIT = 60, 10  # characters; number and adjective take fewer, so does the end of the word


@dataclass(frozen=True, slots=True)
class Period:
    """A duration and its place in the text. `value` is a number and an English unit: "1 year", "30 days"."""

    value: str
    start: int
    end: int


def find_periods(folded: str) -> Iterator[Period]:
    """The durations in a folded text, in order: 1 to 999 days, weeks, months or years."""
    names = tuple(_UNITS)
    for match in finditer_near(_PERIOD, _ANY_UNIT.finditer(folded), folded, before=_BEFORE_UNIT, after=_AFTER_UNIT):
        digits = (match[1] or match[2] or match[3] or "").replace("i", "1")  # "one (I) year", as some scans have it
        number = int(digits) if digits else _VALUES[match[4]] + _VALUES.get(match[5], 0)
        unit = next(name for place, name in enumerate(names, 6) if match[place])
        if 0 < number < 1_000:
            yield Period(f"{number} {unit}" if number == 1 else f"{number} {unit}s", match.start(), match.end())

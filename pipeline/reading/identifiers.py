"""Numbers that prove themselves by their form: IBAN (checksum) and VAT identification numbers (pattern by country)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_IBAN = re.compile(r"(?<![A-Z0-9])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}(?![A-Z0-9*])")
# Country by length, for the countries of SEPA: a shorter valid number may be hidden in a longer run of characters.
_IBAN_LENGTHS = (
    "AD24 AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GI23 GR27 HR21 HU28 IE22 IS26 IT27 LI21"
    " LT20 LU20 LV21 MC27 MT31 NL18 NO15 PL28 PT25 RO24 SE24 SI19 SK24 SM27 VA22"
)
_LENGTH = {each[:2]: int(each[2:]) for each in _IBAN_LENGTHS.split()}
_GAP = "[ .-]?"


def _spaced(digits: int) -> str:
    return rf"\d(?:{_GAP}\d){{{digits - 1}}}"


_VAT = re.compile(
    r"(?<![A-Z0-9])("
    rf"AT{_GAP}U{_GAP}{_spaced(8)}|BE{_GAP}[01]{_GAP}{_spaced(9)}|CHE{_GAP}{_spaced(9)}|CZ{_GAP}\d{{8,10}}"
    rf"|DE{_GAP}{_spaced(9)}|DK{_GAP}{_spaced(8)}|ES{_GAP}[A-Z]{_GAP}{_spaced(8)}"
    rf"|ES{_GAP}[A-Z0-9]{_GAP}\d{{7}}{_GAP}[A-Z]"
    rf"|FI{_GAP}{_spaced(8)}|FR{_GAP}[A-Z0-9]{{2}}{_GAP}{_spaced(9)}|GB{_GAP}{_spaced(9)}|HU{_GAP}\d{{8}}"
    rf"|IE{_GAP}\d[0-9A-Z+*]\d{{5}}[A-Z]{{1,2}}|IT{_GAP}{_spaced(11)}|LU{_GAP}{_spaced(8)}"
    rf"|NL{_GAP}{_spaced(9)}{_GAP}B{_GAP}\d\d|NO{_GAP}{_spaced(9)}|PL{_GAP}{_spaced(10)}|PT{_GAP}{_spaced(9)}"
    rf"|SE{_GAP}{_spaced(12)}|SK{_GAP}{_spaced(10)}"
    r")(?![A-Z0-9])"
)


@dataclass(frozen=True, slots=True)
class FoundIdentifier:
    """An identifier without its separators, and its place in the text."""

    value: str
    start: int
    end: int


def valid_iban(iban: str) -> bool:
    """Whether the mod 97 checksum (ISO 13616) and, where known, the country's length hold. `iban` without spaces."""
    if len(iban) < 15 or _LENGTH.get(iban[:2], len(iban)) != len(iban):
        return False
    digits = "".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4])
    return int(digits) % 97 == 1


def find_ibans(text: str) -> list[FoundIdentifier]:
    """The valid IBANs in a text; a masked or mistyped one is none."""
    found = []
    for match in _IBAN.finditer(text):
        compact = match[0].replace(" ", "")
        wanted = compact[: _LENGTH.get(compact[:2], len(compact))]
        if valid_iban(wanted):
            found.append(FoundIdentifier(wanted, match.start(), match.end()))
    return found


def find_vat_ids(text: str) -> list[FoundIdentifier]:
    """What has the form of a European VAT number, country code first. Judging the label is left to the caller."""
    return [
        FoundIdentifier(re.sub(r"[ .-]", "", match[1]), match.start(), match.end()) for match in _VAT.finditer(text)
    ]

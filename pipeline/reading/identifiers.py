"""Numbers that prove themselves: IBAN, BIC and VAT identification numbers, found by form and proved by check digits."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stdnum import bic, iban
from stdnum.eu import vat as european
from stdnum.util import get_cc_module

_IBAN = re.compile(r"(?<![A-Z0-9])(?=([A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Z0-9*])))")
# Country by length, for the countries of SEPA: a shorter valid number may be hidden in a longer run of characters.
_IBAN_LENGTHS = (
    "AD24 AT20 BE16 BG22 CH21 CY28 CZ24 DE22 DK18 EE20 ES24 FI18 FR27 GB22 GI23 GR27 HR21 HU28 IE22 IS26 IT27 LI21"
    " LT20 LU20 LV21 MC27 MT31 NL18 NO15 PL28 PT25 RO24 SE24 SI19 SK24 SM27 VA22"
)
_LENGTH = {each[:2]: int(each[2:]) for each in _IBAN_LENGTHS.split()}
_BIC = re.compile(r"(?<![A-Z0-9])[A-Z]{4} ?[A-Z]{2} ?[A-Z2-9][A-Z0-9](?: ?(?:XXX|[A-Z0-9]{3}))?(?![A-Z0-9])")
_BANKING = {*_LENGTH, *re.findall("..", "USCAAUNZJPCNHKSGINMYBRMXZAAETHTRILKRRSUA")}
_GAP = "[ .-]?"


def _spaced(digits: int) -> str:
    return rf"\d(?:{_GAP}\d){{{digits - 1}}}"


_VAT = re.compile(
    r"(?<![A-Z0-9])("
    rf"AT{_GAP}U{_GAP}{_spaced(8)}|BE{_GAP}[01]{_GAP}{_spaced(9)}|BG{_GAP}\d{{9,10}}|CHE{_GAP}{_spaced(9)}"
    rf"|CY{_GAP}\d{{8}}[A-Z]|CZ{_GAP}\d{{8,10}}|DE{_GAP}{_spaced(9)}|DK{_GAP}{_spaced(8)}|EE{_GAP}\d{{9}}"
    rf"|EL{_GAP}\d{{9}}|ES{_GAP}[A-Z]{_GAP}{_spaced(8)}|ES{_GAP}[A-Z0-9]{_GAP}\d{{7}}{_GAP}[A-Z]|FI{_GAP}{_spaced(8)}"
    rf"|FR{_GAP}[A-Z0-9]{{2}}{_GAP}{_spaced(9)}|GB{_GAP}{_spaced(9)}|HR{_GAP}\d{{11}}|HU{_GAP}\d{{8}}"
    rf"|IE{_GAP}\d[0-9A-Z+*]\d{{5}}[A-Z]{{1,2}}|IT{_GAP}{_spaced(11)}|LT{_GAP}\d{{9}}(?:\d{{3}})?|LU{_GAP}{_spaced(8)}"
    rf"|LV{_GAP}\d{{11}}|MT{_GAP}\d{{8}}|NL{_GAP}{_spaced(9)}{_GAP}B{_GAP}\d\d|NO{_GAP}{_spaced(9)}"
    rf"|PL{_GAP}{_spaced(10)}|PT{_GAP}{_spaced(9)}|RO{_GAP}\d{{6,10}}|SE{_GAP}{_spaced(12)}|SI{_GAP}\d{{8}}"
    rf"|SK{_GAP}{_spaced(10)}"
    r")(?![A-Z0-9])"
)
_OTHER_COUNTRIES = {"CH": "vat", "GB": "vat", "NO": "mva"}  # not of the Union, with a check digit of their own
# National numbers that are the number of the Union without its country, by the words that announce them.
_NATIONAL = (
    ("IT", re.compile(r"\bp(?:\.|artita) ?i(?:va\b|\.)(?: ?[e/] ?c\.? ?f\.?)?[^a-z0-9]{0,5}(\d{11})(?!\w)")),
    ("ES", re.compile(r"\b(?:nif|cif|n\.i\.f\.?|c\.i\.f\.?)[^a-z0-9]{0,5}([a-z]-?\d{8}|[a-z]-?\d{7}-?[a-z])(?!\w)")),
    ("BE", re.compile(r"\b(?:btw|tva)\b[^\d]{0,12}([01]\d{3}[. ]?\d{3}[. ]?\d{3})(?!\w)")),
    (
        "GB",
        re.compile(r"\bvat (?:reg(?:istration)?\.? ?)?(?:no|number)?\b[^a-z0-9]{0,5}(\d{3} ?\d{4} ?\d{2}|\d{9})(?!\w)"),
    ),
)


@dataclass(frozen=True, slots=True)
class FoundIdentifier:
    """An identifier without its separators, and its place in the text. `proved`: its check digits fit.

    `whole` is False for a national number to which its country was added.
    """

    value: str
    start: int
    end: int
    proved: bool = True
    whole: bool = True


def valid_iban(number: str) -> bool:
    """Whether the check digits (ISO 13616) and the length hold. `number` without spaces.

    The codes of banks are not looked up: the lists of them are never up to date.
    """
    fits = len(number) >= 15 and _LENGTH.get(number[:2], len(number)) == len(number)
    return fits and iban.is_valid(number, check_country=False)


def valid_vat_id(number: str) -> bool:
    """Whether the check digits of a VAT number fit. `number` begins with its country and has no separators."""
    kind = _OTHER_COUNTRIES.get(number[:2])
    if kind is None:
        return european.is_valid(number)
    module = get_cc_module(number[:2].lower(), kind)
    return module is not None and any(module.is_valid(each) for each in (number, f"{number}MVA", f"{number}MWST"))


def find_ibans(text: str) -> list[FoundIdentifier]:
    """The valid IBANs in a text; a masked or mistyped one is none."""
    found = []
    for match in _IBAN.finditer(text):  # at each word, for one that only looks like the beginning may stand before it
        compact = match[1].replace(" ", "")
        wanted = compact[: _LENGTH.get(compact[:2], len(compact))]
        if valid_iban(wanted):
            found.append(FoundIdentifier(wanted, *match.span(1)))
    return found


def looks_like_iban(text: str) -> bool:
    """Whether a text holds letters and digits as an IBAN of its country has them, whatever its check digits say."""
    compact = (match[1].replace(" ", "") for match in _IBAN.finditer(text))
    return any(len(each) == _LENGTH.get(each[:2], 0) for each in compact)


def find_bics(text: str) -> list[FoundIdentifier]:
    """What has the form of a BIC, country and all. Judging the label is left to the caller: it may be a word."""
    found = (FoundIdentifier(match[0].replace(" ", ""), *match.span()) for match in _BIC.finditer(text))
    return [each for each in found if each.value[4:6] in _BANKING and bic.is_valid(each.value)]


def find_vat_ids(text: str) -> list[FoundIdentifier]:
    """What has the form of a European VAT number, country code first. Judging the label is left to the caller."""
    found = []
    for match in _VAT.finditer(text):
        value = re.sub(r"[ .-]", "", match[1])
        found.append(FoundIdentifier(value, match.start(), match.end(), valid_vat_id(value)))
    return found


def find_national_vat_ids(folded: str) -> list[FoundIdentifier]:
    """National numbers behind their label that are VAT numbers without the country: those that check digits prove."""
    found = []
    for country, pattern in _NATIONAL:
        for match in pattern.finditer(folded):
            value = country + re.sub(r"[ .-]", "", match[1]).upper()
            if valid_vat_id(value):
                found.append(FoundIdentifier(value, *match.span(1), whole=False))
    return found

"""The currency of a receipt: a sign or code alone, as over a column of amounts, else that of the country it is from.

Tills often print no currency. The country is in the address, the company's legal form, or the name of its tax; what
follows from it is likely, no more: `derived`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.reading.receipts.till_words import known
from pipeline.reading.rows import Row

NAMED, DERIVED = 0.9, 0.75
HEAD_ROWS = 14
_CODES = "EUR USD GBP CHF MYR SGD AUD CAD NZD INR IDR THB PHP AED ZAR SEK NOK DKK PLN CZK HUF"
_SIGNS = {code: code for code in _CODES.split()} | {"RM": "MYR", "€": "EUR", "£": "GBP", "₹": "INR"}
_SIGN = "|".join(map(re.escape, _SIGNS))
_ALONE = re.compile(rf"\(\s?({_SIGN})\s?\)|(?<![A-Za-z])({_SIGN})(?=$|\s|:)")
_OF_COUNTRY = {
    "MYR": r"malaysia|sdn[. ]{0,2}bhd|berhad|kuala ?lumpur|selangor|johor|pulau ?pinang|negeri ?sembilan|sarawak|sabah",
    "SGD": r"singapore|pte[. ]{1,2}ltd",
    "EUR": r"deutschland|osterreich|france|nederland|italia|espana|belgie|belgique|ireland|portugal|finland|siret"
    r"|partita iva|p\.? ?iva|btw[ -]?n(?:r|ummer)|ust[ -]?id",
    "GBP": r"united kingdom|great britain|england|scotland|wales|london",
    "CHF": r"schweiz|suisse|svizzera|switzerland|che-\d{3}",
    "AUD": r"australia|pty[. ]{1,2}ltd|a\.?b\.?n\.?",
    "CAD": r"canada|ontario|quebec",
    "INR": r"india|gstin|pvt[. ]{1,2}ltd",
    "IDR": r"indonesia|jakarta|npwp",
    "THB": r"thailand|bangkok",
}
_COUNTRIES = {code: re.compile(rf"\b(?:{words})(?![a-z])") for code, words in _OF_COUNTRY.items()}


@dataclass(frozen=True, slots=True)
class FoundCurrency:
    """A currency's code, the row that names it or its country, how it was found, and how sure that is."""

    code: str
    row: Row
    method: str
    confidence: float


def find_currency(rows: Sequence[Row]) -> FoundCurrency | None:
    """The only currency that a receipt names alone, else that of the only country that its head names; or None."""
    named = {code: row for row in reversed(rows) for code in _alone(row)}
    if named:
        return _only(named, "pattern", NAMED)
    return _only({code: row for row in reversed(rows[:HEAD_ROWS]) for code in _countries(row)}, "derived", DERIVED)


def _only(found: dict[str, Row], method: str, confidence: float) -> FoundCurrency | None:
    if len(found) != 1:
        return None
    ((code, row),) = found.items()
    return FoundCurrency(code, row, method, confidence)


def _alone(row: Row) -> Iterator[str]:
    """The currencies that stand for themselves: in brackets, or as a cell's last word. A code is a word of capitals."""
    for match in _ALONE.finditer(row.text):
        yield _SIGNS[match[1] or match[2]]


def _countries(row: Row) -> Iterator[str]:
    text = known(row.text)
    return (code for code, pattern in _COUNTRIES.items() if pattern.search(text))

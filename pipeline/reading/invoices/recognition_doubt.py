"""How far fields of recognised pages are to be trusted: what was read poorly is doubted unless something proves it.

Recognition says how sure it was of a page. That a letter is another no label or place beside it can tell, so that
names are trusted only on a page that is all but clear. Days and amounts have little else to be taken for; below
`LEGIBLE` they need a sum or check digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pipeline.documents.text import Document, Source
from pipeline.handling import Field

LEGIBLE = 0.96  # mean confidence of a page's characters
CLEAR = 0.99  # the same, for what is made of letters
DOUBTED = 0.89  # the most that a field of a page below is trusted; from 0.9 on a person need not look
_FIGURES = {"issue_date", "due_date", "currency", "total_net", "total_tax", "total_gross", "amount_due"}
_SUM = ("total_net", "total_tax", "total_gross")
_PROVED_BY = {
    "net_plus_tax_is_gross": _SUM,
    "iban_checksum": ("iban",),
    "seller_vat_id_checksum": ("seller_vat_id",),
}


def doubted(document: Document, found: Mapping[str, Field], checks: Mapping[str, bool]) -> dict[str, Field]:
    """The fields, those of poorly recognised pages at most as sure as `DOUBTED` unless a sum or a check proves them."""
    read = {page.number: _confidence(page.figures) for page in document.pages if page.source is Source.OCR}
    proved = {name for check, names in _PROVED_BY.items() if checks.get(check) for name in names}

    def is_sure(name: str, each: Field) -> bool:
        least = LEGIBLE if name in _FIGURES else CLEAR
        return read.get(each.page, 1.0) >= least or name in proved or each.method == "arithmetic"

    return {
        name: each if is_sure(name, each) else replace(each, confidence=min(each.confidence, DOUBTED))
        for name, each in found.items()
    }


def _confidence(figures: Mapping[str, float | str]) -> float:
    given = figures.get("confidence", 1.0)
    return given if isinstance(given, float) else 1.0

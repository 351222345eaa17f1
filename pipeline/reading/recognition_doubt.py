"""How far fields of recognised pages are to be trusted: what was read poorly is doubted unless something proves it.

Recognition says how sure it was of a page. Below `LEGIBLE` a digit or a letter in a hundred is another, which no label
or place beside it can tell; sums and check digits can.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pipeline.documents.text import Document, Source
from pipeline.handling import Field

LEGIBLE = 0.97  # mean confidence of a page's characters
DOUBTED = 0.89  # the most that a field of a page below is trusted; from 0.9 on a person need not look
_SUM = ("total_net", "total_tax", "total_gross")
_PROVED_BY = {
    "net_plus_tax_is_gross": _SUM,
    "iban_checksum": ("iban",),
    "seller_vat_id_checksum": ("seller_vat_id",),
}


def doubted(document: Document, found: Mapping[str, Field], checks: Mapping[str, bool]) -> dict[str, Field]:
    """The fields, those of poorly recognised pages at most as sure as `DOUBTED` unless a sum or a check proves them."""
    poor = {page.number for page in document.pages if page.source is Source.OCR and _confidence(page.figures) < LEGIBLE}
    proved = {name for check, names in _PROVED_BY.items() if checks.get(check) for name in names}
    return {
        name: replace(each, confidence=DOUBTED)
        if each.page in poor and each.confidence > DOUBTED and name not in proved and each.method != "arithmetic"
        else each
        for name, each in found.items()
    }


def _confidence(figures: Mapping[str, float | str]) -> float:
    given = figures.get("confidence", 1.0)
    return given if isinstance(given, float) else 1.0

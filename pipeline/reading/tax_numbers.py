"""Whose tax number is whose: the labelled VAT numbers of an invoice, those of the buyer kept apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.reading.identifiers import find_vat_ids
from pipeline.reading.labels import Kind
from pipeline.reading.rows import Row

_TAX_WORD = re.compile(r"\b(?:vat|ust|uid|umsatzsteuer|mwst|tva|btw|iva|tax|nif|cif|p\. ?iva|steuer|moms|mva)")
_BUYERS_OWN = re.compile(r"\b(?:customer|client|kunden?|your|ihre|klant|cliente|buyer|acheteur|votre|uw|su)\b")
_REGISTERED = re.compile(
    r"\b(?:hr[ab]|handelsreg\w*|registergericht|amtsgericht|geschaftsfuhr\w*|siret|rcs|kvk|iban|company (?:no|number"
    r"|reg)\w*|registered)\b"
)


def find_sellers(rows: Sequence[Row]) -> tuple[str, Row, float] | None:
    """The seller's VAT number, its row and how sure it is; more trusted beside other facts of a letterhead."""
    blocks = _buyer_columns(rows)
    foreign: set[str] = set()
    own: list[tuple[str, Row, float]] = []
    for place, row in enumerate(rows):
        for vat in find_vat_ids(row.text):
            before = row.folded[max(0, vat.start - 60) : vat.start]
            if _BUYERS_OWN.search(before) or _inside(blocks, place, row, vat.start):
                foreign.add(vat.value)
            elif _TAX_WORD.search(before):
                near = " ".join(each.folded for each in rows[max(0, place - 2) : place + 3])
                own.append((vat.value, row, 0.93 if _REGISTERED.search(near) else 0.85))
    return max((each for each in own if each[0] not in foreign), key=lambda each: each[2], default=None)


def _inside(blocks: Sequence[tuple[range, int, int]], place: int, row: Row, column: int) -> bool:
    """Whether a column of a row belongs to a block of the buyer; a label of the seller in the row ends that."""
    if any(label.kind is Kind.SELLER for label in row.labels):
        return False
    return any(place in block and start - 3 <= column <= end for block, start, end in blocks)


def _buyer_columns(rows: Sequence[Row]) -> list[tuple[range, int, int]]:
    """The places under labels of the buyer, to keep the buyer's tax number out: rows and columns."""
    return [
        (range(place, place + 9), label.start, label.end + 30)
        for place, row in enumerate(rows)
        for label in row.labels
        if label.kind is Kind.BUYER
    ]

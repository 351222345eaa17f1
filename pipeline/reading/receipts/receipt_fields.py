"""The fields of a receipt: what a till prints, over what the rules for invoices found in the same rows."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.handling import Field
from pipeline.reading.invoices.sheet import Sheet, field
from pipeline.reading.receipts import receipts

LEAST_SHARE = 0.35  # of the probability; a choice below is a guess
_NOT_PRINTED = {"buyer_name", "due_date", "amount_due"}


def receipt_fields(sheet: Sheet, found: Mapping[str, Field]) -> dict[str, Field]:
    """What a till prints, and what of `found` it prints besides; sums that do not make the total are left out."""
    choices = {
        "seller_name": receipts.merchant(sheet.rows),
        "seller_address": receipts.address(sheet.rows),
        "issue_date": receipts.issued(sheet.rows, day_first=sheet.day_first),
        "total_gross": receipts.total(sheet.rows, comma=sheet.comma),
    }
    if "currency" not in found:
        choices["currency"] = receipts.currency(sheet.rows)
    taken = {
        name: field(choice.value, choice.row, choice.method, choice.confidence)
        for name, choice in choices.items()
        if choice is not None and choice.confidence >= LEAST_SHARE
    }
    gross, before = taken.get("total_gross"), found.get("total_gross")
    unlike = gross is not None and (before is None or before.value != gross.value)
    left_out = _NOT_PRINTED | ({"total_net", "total_tax"} if unlike else set())
    return {name: each for name, each in found.items() if name not in left_out | choices.keys()} | taken

"""What narrows a search down: type, seller, date and total of the document, from tables of one row a document."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipeline.errors import UsageProblem
from pipeline.reports.printed import amount
from pipeline.reports.search_query import other_spelling

# The tables that the conditions are about, joined to `documents` and `tasks`, the newest task of each.
JOINS = """
    LEFT JOIN current_results ON current_results.document_id = documents.document_id
        AND current_results.task_id = tasks.task_id
    LEFT JOIN current_invoices ON current_invoices.document_id = documents.document_id
    LEFT JOIN current_contracts ON current_contracts.document_id = documents.document_id
"""
DOCUMENT_TYPE = "COALESCE(current_results.document_type, NULLIF(tasks.handler, 'auto'))"
# When the document says it is from, else when it came.
DATED = """COALESCE(
    current_invoices.issue_date,
    current_contracts.effective_date,
    current_contracts.agreement_date,
    CAST(documents.created_at AS date)
)"""
_CONDITIONS: Mapping[str, str] = {
    "document_type": f"{DOCUMENT_TYPE} = :document_type",
    # Not of the table that is joined: the outer join would be made before the index could answer.
    "seller": """documents.document_id IN (
        SELECT named.document_id
        FROM current_invoices AS named
        WHERE name_key(folded(named.seller_name)) LIKE '%' || name_key(folded(:seller)) || '%'
            OR name_key(folded(named.seller_name)) LIKE '%' || name_key(:seller_spelled) || '%'
    )""",
    "since": f"{DATED} >= CAST(:since AS date)",
    "until": f"{DATED} <= CAST(:until AS date)",
    "least": "current_invoices.total_gross >= CAST(:least AS numeric)",
    "most": "current_invoices.total_gross <= CAST(:most AS numeric)",
}
_RANGE = re.compile(r"(?P<least>.*?)(?P<dots>\.\.)(?P<most>.*)")


@dataclass(frozen=True, slots=True)
class Filters:
    """What a document must be; None asks for nothing. `least` and `most` are of an invoice's gross total."""

    document_type: str | None = None
    seller: str | None = None
    since: dt.date | None = None
    until: dt.date | None = None
    least: Decimal | None = None
    most: Decimal | None = None

    @property
    def values(self) -> dict[str, Any]:
        """The values of those that are set, by their names in the conditions."""
        values = {name: value for name in _CONDITIONS if (value := getattr(self, name)) is not None}
        if self.seller is not None:
            values["seller_spelled"] = " ".join(map(other_spelling, self.seller.split()))
        return values

    @property
    def conditions(self) -> str:
        """SQL for those that are set; "true" for none."""
        return "\n            AND ".join(_CONDITIONS[name] for name in self.values if name in _CONDITIONS) or "true"


def amount_range(typed: str) -> tuple[Decimal | None, Decimal | None]:
    """The bounds that `N`, `N..M`, `N..` or `..M` means, in any notation. Raises UsageProblem."""
    between = _RANGE.fullmatch(typed.strip())
    least, most = (between["least"], between["most"]) if between else (typed, typed)
    if between and not (least.strip() or most.strip()):
        raise UsageProblem(_advice(typed))
    lowest, highest = (_signed(each, typed) if each.strip() or not between else None for each in (least, most))
    if lowest is not None and highest is not None and lowest > highest:
        raise UsageProblem(f"--amount {typed}: the first amount is larger than the second; turn them round")
    return lowest, highest


def _signed(printed: str, typed: str) -> Decimal:
    digits = printed.strip()
    value = amount(digits.removeprefix("-").strip())
    if value is None:
        raise UsageProblem(_advice(typed))
    return -value if digits.startswith("-") else value


def _advice(typed: str) -> str:
    return f"--amount {typed} is no amount: write 1234.56, 1.234,56 or a range of two, 100..250.50"

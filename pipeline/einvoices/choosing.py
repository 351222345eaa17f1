"""Which of several electronic invoices a document's fields are, and whether all of them are one and the same.

A PDF may carry its invoice in an old and in a new format, or beside it the one that it corrects; a file of FatturaPA
may hold many. What is printed counts first: people see the pages.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.documents.text import identifier
from pipeline.einvoices.fields import flat
from pipeline.einvoices.model import Invoice, Profile

# From the least said to the most.
_RANKS = (
    Profile.MINIMUM,
    Profile.BASIC_WL,
    Profile.ZUGFERD1,
    Profile.UNKNOWN,
    Profile.BASIC,
    Profile.FATTURAPA,
    Profile.EN16931,
    Profile.PEPPOL,
    Profile.XRECHNUNG,
    Profile.EXTENDED,
)
_ENOUGH_TEXT = 400_000  # characters of the pages


def choose(invoices: Sequence[Invoice], printed: str = "") -> Invoice:
    """One of at least one: its number stands on the pages, its profile says most, it has most fields; else the first.

    `printed` is the text of the pages, empty where the pages are the XML itself. Profiles and fields compare versions
    of one invoice only: of different ones the first whose number is printed is taken.
    """
    pages = identifier(printed[:_ENOUGH_TEXT])
    first = next((each for each in invoices if _number(each) and _number(each) in pages), invoices[0])
    return max((each for each in invoices if same(each, first)), key=_says)


def same(one: Invoice, other: Invoice) -> bool:
    """Whether two are versions of the same invoice: one number, and no other total."""
    known = None not in (one.totals.gross, other.totals.gross)
    return _number(one) == _number(other) and not (known and one.totals.gross != other.totals.gross)


def _number(invoice: Invoice) -> str:
    return identifier(invoice.number or "")


def _says(invoice: Invoice) -> tuple[int, int]:
    return _RANKS.index(invoice.profile), len(flat(invoice)) + len(invoice.lines)

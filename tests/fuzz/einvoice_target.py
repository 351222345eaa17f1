"""The electronic invoice from hostile bytes to the fields, groups and checks that a handler makes of it."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.documents.text import Document, Page
from pipeline.einvoices.extraction import electronic
from pipeline.einvoices.reading import read
from pipeline.errors import DocumentError
from tests.einvoices import building
from tests.einvoices.building import facts
from tests.fuzz import hostile
from tests.fuzz.oracle import require_storable
from tests.handlers.pages import GERMAN_INVOICE


def seeds() -> Sequence[bytes]:
    """An invoice in each syntax, several in one file, and XML that is hostile."""
    several = (building.ubl, building.cii, building.zugferd1, building.fatturapa)
    written = [write(facts()).encode() for write in several]
    return [*written, building.fatturapa(facts(), bodies=3).encode(), *hostile.corpus().get("xml", ())]


def run(data: bytes) -> str:
    """Read alone for the reason, then as a PDF carries it beside a good one, which must never raise."""
    outcome = "ok"
    try:
        read(data)
    except DocumentError as refusal:
        outcome = str(refusal.reason)
    page = Page(1, GERMAN_INVOICE, GERMAN_INVOICE)
    good = building.cii(facts()).encode()
    for others in ((), (good,)):
        found = electronic(Document("a.pdf", "application/pdf", (page,), data, others), "invoice")
        if found is not None:
            values = [each for several in found.fields.values() for each in several]
            values += [each for group in found.groups for each in group.fields.values()]
            require_storable(*(text for each in values for text in (each.value, each.snippet, each.printed)))
            require_storable(*found.messages.values())
    return outcome

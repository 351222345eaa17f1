"""A document's fields and checks from the electronic invoice that it is or carries, compared with its print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pipeline.documents.text import Document
from pipeline.einvoices.against_print import Comparison, Verdict, compare
from pipeline.einvoices.checks import Check, check
from pipeline.einvoices.choosing import choose, same
from pipeline.einvoices.fields import FlatField, flat, groups
from pipeline.einvoices.model import Invoice
from pipeline.einvoices.reading import read
from pipeline.errors import DocumentError
from pipeline.handling import Extraction, Field, Group

READABLE, SINGLE = "einvoice_readable", "einvoice_is_one"
AGAINST_PRINT = "xml_vs_print_"
NO_PAGE = 0
XML = "application/xml"


def electronic(document: Document, document_type: str) -> Extraction | None:
    """What the XML says, each field with its business term and its place there; None without an electronic invoice.

    The checks are the business rules that apply to it, by their ids, and one for each field that its print shows too.
    Of several invoices one is chosen, and a check says whether the others are the same one. XML that cannot be read
    yields no field and a failed check. Never raises.
    """
    if document.einvoice is None:
        return None
    invoices, refusals = _read(document)
    refused = [Check(READABLE, False, "fatal", each) for each in refusals[:1]]
    if not invoices:
        return _judged(Extraction(document_type), refused) if refused else None
    chosen = choose(invoices, "" if document.media_type == XML else document.text)
    fields = {each.name: (_field(each),) for each in flat(chosen)}
    found = Extraction(document_type, fields, groups=tuple(_groups(chosen)))
    return _judged(found, [*refused, *check(chosen), *_compared(chosen, document), *_counted(chosen, invoices)])


def _read(document: Document) -> tuple[list[Invoice], list[str]]:
    """All invoices there are, and why an XML cannot be read."""
    invoices: list[Invoice] = []
    refusals: list[str] = []
    for content in filter(None, (document.einvoice, *document.other_einvoices)):
        try:
            invoices += read(content)
        except DocumentError as error:
            refusals.append(str(error))
    return invoices, refusals


def _groups(invoice: Invoice) -> Iterator[Group]:
    for each in groups(invoice):
        yield Group(each.name, each.number, {one.name: _field(one) for one in each.fields})


def _field(found: FlatField) -> Field:
    return Field(found.value, NO_PAGE, f"{found.term} {found.place}"[:300], method="xml", confidence=1.0)


def _compared(invoice: Invoice, document: Document) -> Iterator[Check]:
    if document.media_type == XML:
        return  # its pages are the XML itself
    for each in compare(invoice, document):
        if each.verdict is not Verdict.NOT_VISIBLE:
            yield Check(f"{AGAINST_PRINT}{each.name}", each.verdict is Verdict.AGREES, "fatal", _difference(each))


def _difference(found: Comparison) -> str:
    return f"the XML says {found.stated}, page {found.page} prints {found.printed}"


def _counted(chosen: Invoice, invoices: list[Invoice]) -> Iterator[Check]:
    if len(invoices) > 1:
        others = [each.number or "one without a number" for each in invoices if not same(each, chosen)]
        told = f"there are {len(invoices)}; the fields are those of {chosen.number}, not of {', '.join(others[:5])}"
        yield Check(SINGLE, not others, "warning", told)


def _judged(found: Extraction, checks: Iterable[Check]) -> Extraction:
    made = list(checks)
    return replace(
        found,
        checks={each.rule: each.passed for each in made},
        messages={each.rule: each.message for each in made if not each.passed},
    )

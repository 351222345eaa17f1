"""What every handler promises, whichever handlers there are: they are found, not listed."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.documents.text import Document, Page
from pipeline.handling import Extraction, Field, Handler, choose, discover
from pipeline.reading.dates import find_dates
from pipeline.reading.rows import fold
from tests.handlers.pages import EVERYTHING, GERMAN_INVOICE

HANDLERS = discover()
HANG_SECONDS = 60
METHODS = {"label", "pattern", "arithmetic", "derived", "ranker"}
PRINTED = {"label", "pattern"}

each_handler = pytest.mark.parametrize("handler", HANDLERS.values(), ids=HANDLERS)
each_document = pytest.mark.parametrize("document", EVERYTHING.values(), ids=EVERYTHING)


def _fields(extraction: Extraction) -> Iterator[tuple[str, Field]]:
    for name, several in extraction.fields.items():
        for field in several:
            yield name, field


def test_there_are_handlers_for_invoices_contracts_and_everything_else() -> None:
    assert {"invoice", "contract", "general"} <= set(HANDLERS)


@each_handler
def test_a_handler_keeps_the_protocol_and_names_each_field_once(handler: Handler) -> None:
    assert isinstance(handler, Handler)
    assert HANDLERS[handler.name] is handler
    assert len(set(handler.fields)) == len(handler.fields) > 0


@each_document
@each_handler
def test_a_handler_gives_only_the_fields_it_names_in_canonical_form(handler: Handler, document: Document) -> None:
    extraction = handler.extract(document)
    assert extraction.document_type == handler.name
    assert 0.0 <= handler.score(document) <= 1.0
    assert set(extraction.fields) <= set(handler.fields)
    for name, field in _fields(extraction):
        assert _canonical(name, field.value), f"{name}: {field.value!r}"
        assert field.method in METHODS
        assert 0.0 < field.confidence <= 1.0
        assert field.page in {page.number for page in document.pages}
        assert 0 < len(field.snippet) <= 300


@each_document
@each_handler
def test_what_is_printed_stands_in_the_snippet_and_on_the_page(handler: Handler, document: Document) -> None:
    pages = {page.number: " ".join(page.text.split()) for page in document.pages}
    for name, field in _fields(handler.extract(document)):
        if field.method in PRINTED:
            assert _shows(name, field.value, field.snippet), f"{name}: {field.value!r} in {field.snippet!r}"
            assert field.snippet in pages[field.page]


@each_document
@each_handler
def test_the_same_document_gives_the_same_answer(handler: Handler, document: Document) -> None:
    assert handler.extract(document) == handler.extract(document)
    assert handler.score(document) == handler.score(document)


@pytest.mark.parametrize("name", EVERYTHING)
def test_the_handler_that_fits_is_chosen(name: str) -> None:
    chosen, _ = choose(HANDLERS, EVERYTHING[name])
    assert chosen.name == {"invoice": "invoice", "contract": "contract"}.get(name.rsplit(maxsplit=1)[-1], "general")


words = st.sampled_from(
    [
        "Total",
        "Invoice",
        "no.",
        "1.234,56",
        "€",
        "due",
        "31/12/2020",
        "\n",
        "   ",
        "between",
        '("A")',
        "governed by",
        "laws of",
    ]
)
texts = st.one_of(st.text(max_size=400), st.lists(words, max_size=60).map(" ".join))


@settings(max_examples=80, deadline=None)
@given(pages=st.lists(st.tuples(texts, texts), max_size=3))
def test_no_text_makes_a_handler_raise(pages: list[tuple[str, str]]) -> None:
    document = Document("any", "text/plain", tuple(Page(n, text, layout) for n, (text, layout) in enumerate(pages, 1)))
    for handler in HANDLERS.values():
        for name, field in _fields(handler.extract(document)):
            assert name in handler.fields
            assert field.value
        assert 0.0 <= handler.score(document) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["1", " ", "a", "A", "1 ", "Aa ", "(", '"', "Total 1.000,00 EUR ", "governed by the laws of "]
)
def test_a_line_of_a_megabyte_does_not_hang_a_handler(unit: str) -> None:
    program = (
        "import sys; from pipeline.documents.text import Document, Page; from pipeline.handling import discover\n"
        "text = sys.argv[1] * (1_000_000 // len(sys.argv[1]))\n"
        "document = Document('x', 'text/plain', (Page(1, text, text),))\n"
        "print([len(each.extract(document).fields) + (each.score(document) >= 0) for each in discover().values()])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, unit], timeout=HANG_SECONDS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_page_in_the_middle_of_a_document_is_named_by_its_own_number() -> None:
    cover = "Cover sheet"
    pages = (Page(1, cover, cover), Page(2, GERMAN_INVOICE, GERMAN_INVOICE))
    extraction = HANDLERS["invoice"].extract(Document("two", "application/pdf", pages))
    assert extraction.fields["invoice_number"][0].page == 2


def _canonical(name: str, value: str) -> bool:
    if name.endswith("_date"):
        return dt.date.fromisoformat(value).isoformat() == value
    if name.startswith("total_") or name == "amount_due":
        return re.fullmatch(r"-?\d+\.\d{2,4}", value) is not None
    patterns = {"currency": r"[A-Z]{3}", "iban": r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", "language": r"[a-z]{2}"}
    return re.fullmatch(patterns.get(name, r"\S(?:.*\S)?"), value) is not None and value == " ".join(value.split())


def _shows(name: str, value: str, snippet: str) -> bool:
    """Whether a snippet prints a value, in whatever form."""
    if name.endswith("_date"):
        return value in {date.value for order in (True, False) for date in find_dates(fold(snippet), day_first=order)}
    if name.startswith("total_") or name == "amount_due":
        digits = f"{Decimal(value):.2f}".replace(".", "")
        return digits in re.sub(r"\D", "", snippet) or digits.removesuffix("00") in re.sub(r"\D", "", snippet)
    if name == "currency":
        return any(sign in snippet for sign in (value, *"€$£", "RM"))
    if name in ("term", "notice_period", "renewal_term", "renewal_notice", "termination_notice"):
        return value.split(maxsplit=1)[0] in snippet
    return re.sub(r"\W", "", value) in re.sub(r"\W", "", snippet)

"""Each kind of document goes to the handler it is for; prices do not make an invoice, nor parties a contract."""

from __future__ import annotations

import pytest

from handlers import contract, general, invoice
from pipeline.documents.text import Document, Page
from pipeline.handling import choose, discover
from tests.einvoices import building
from tests.handlers.kinds import CONTRACTS, INVOICES, OTHERS
from tests.handlers.pages import document

KINDS = {"invoice": INVOICES, "contract": CONTRACTS, "general": OTHERS}
CASES = [(kind, name) for kind, several in KINDS.items() for name in several]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_document_is_taken_for_what_it_is(kind: str, name: str) -> None:
    handler, scores = choose(discover(), document(KINDS[kind][name]))
    assert handler.name == kind, scores


def test_a_contract_that_carries_an_electronic_invoice_is_an_invoice() -> None:
    text = CONTRACTS["contrato"] + CONTRACTS["settlement"]
    carried = building.cii(building.facts()).encode()
    both = Document("a.pdf", "application/pdf", (Page(1, text, text),), carried)
    handler, scores = choose(discover(), both)
    assert handler.name == "invoice"
    assert scores["contract"] == 0.0


def test_what_says_nothing_scores_less_than_the_fallback() -> None:
    nothing = document("")
    assert invoice.handler.score(nothing) == contract.handler.score(nothing) == 0.0 < general.handler.score(nothing)


@pytest.mark.parametrize(
    "text", ["total " * 40_000, "due date " * 30_000, '("' * 50_000, "invoice\n" * 20_000, "1," * 90_000]
)
def test_long_odd_text_is_scored_in_no_time(text: str) -> None:
    choose(discover(), document(text))

"""`doclease search` from the command line: words, numbers, amounts, filters, and what it says of a slip."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from pipeline.queue.store import Queue
from tests.cli.conftest import Doclease, rows_of
from tests.stories import finish, value


@pytest.fixture
def invoice(engine: Engine, queue: Queue) -> int:
    """An invoice of Müller from May."""
    fields = {
        "seller_name": [value("Müller Söhne GmbH")],
        "issue_date": [value("2026-05-01")],
        "total_gross": [value("1234.56")],
        "currency": [value("EUR")],
    }
    page = "Rechnung RE-2026-0042 der Müller Söhne GmbH über 1.234,56 EUR"
    return finish(engine, queue, ["Deckblatt", page], name="may.pdf", document_type="invoice", fields=fields)


@pytest.mark.parametrize(
    ("typed", "marked"),
    [
        (["muller", "uber"], "«Müller» Söhne GmbH «über»"),
        (["0042", "--seller", "MULLER sohne"], "«RE-2026-0042»"),
        (["EUR", "1,234.56", "--amount", "1 000..1'300"], "«1.234,56»"),
        (["1", "234,56"], "«1.234,56»"),
        (["rechnung", "--since", "2026-05-01", "--until", "2026-05-01", "--type", "invoice"], "«Rechnung»"),
    ],
)
def test_a_page_is_found_and_shown_as_printed(doclease: Doclease, invoice: int, typed: list[str], marked: str) -> None:
    (hit,) = rows_of(doclease("search", *typed, "--format", "json"))
    assert (hit["document_id"], hit["page_no"], hit["document_type"]) == (invoice, 2, "invoice")
    assert marked in hit["snippet"]


def test_without_words_a_document_is_a_row(doclease: Doclease, invoice: int) -> None:
    assert rows_of(doclease("search", "--seller", "muller", "--since", "2026-01-01", "--format", "json")) == [
        {
            "document_id": invoice,
            "name": "may.pdf",
            "document_type": "invoice",
            "date": "2026-05-01",
            "seller": "Müller Söhne GmbH",
            "total_gross": 1234.56,
            "currency": "EUR",
        }
    ]


@pytest.mark.usefixtures("invoice")
@pytest.mark.parametrize(
    "typed",
    [["--seller", "acme"], ["muller", "--amount", "1234.57"], ["0042", "--until", "2026-04-30"], ["1.234,57"]],
)
def test_what_matches_nothing_is_told_and_exits_with_4(doclease: Doclease, typed: list[str]) -> None:
    assert "matches" in doclease("search", *typed, exit_code=4).stderr


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ([], "say what to look for"),
        (["", " "], "say what to look for"),
        (["--since", "May"], "--since May is no date"),
        (["x", "--until", "2026-02-30"], "--until 2026-02-30 is no date"),
        (["--amount", "much"], "--amount much is no amount"),
        (["--amount", ""], "is no amount"),
        (["--amount", "9..1"], "turn them round"),
    ],
)
def test_a_slip_is_told_in_a_sentence(doclease: Doclease, typed: list[str], told: str) -> None:
    assert told in doclease("search", *typed, exit_code=2).stderr

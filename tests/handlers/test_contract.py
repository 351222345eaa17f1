"""The contract handler on invented contracts, and on templates that nobody filled in."""

from __future__ import annotations

from handlers.contract import handler
from pipeline.handling import Extraction
from tests.handlers.pages import CONTRACT_FIRST, CONTRACT_SECOND, GERMAN_CONTRACT, document


def _read(extraction: Extraction) -> dict[str, list[str]]:
    return {name: [field.value for field in several] for name, several in extraction.fields.items()}


def test_an_english_contract_gives_its_parties_dates_duration_notice_and_law() -> None:
    assert _read(handler.extract(document(CONTRACT_FIRST, CONTRACT_SECOND))) == {
        "title": ["SUPPLY AGREEMENT"],
        "parties": ["Copperfield Mills, Inc.", "Oakhurst Paper Limited"],
        "agreement_date": ["2021-03-03"],
        "effective_date": ["2021-03-03"],
        "expiration_date": ["2024-03-02"],
        "term": ["3 years"],
        "notice_period": ["90 days"],
        "governing_law": ["Delaware"],
    }


def test_a_clause_on_the_second_page_is_named_by_that_page() -> None:
    law = handler.extract(document(CONTRACT_FIRST, CONTRACT_SECOND)).fields["governing_law"][0]
    assert law.page == 2
    assert law.snippet.endswith("without regard to its conflict of laws principles.")


def test_a_german_contract_gives_its_parties_duration_notice_and_law() -> None:
    read = _read(handler.extract(document(GERMAN_CONTRACT)))
    assert read["title"] == ["Dienstleistungsvertrag"]
    assert read["parties"] == ["Sommer Technik GmbH", "Winter Handel AG"]
    assert read["effective_date"] == ["2022-07-01"]
    assert read["term"] == ["24 Monate"]
    assert read["notice_period"] == ["3 Monaten"]
    assert read["governing_law"] == ["Bundesrepublik Deutschland"]


def test_a_party_described_behind_its_term_does_not_hide_the_next_party() -> None:
    text = (
        'LICENSE AGREEMENT\nThis Agreement is made between Fern Software, Inc. ("Fern"), a Nevada corporation '
        'with offices in Reno, and Moss Media ("Moss"), a Polish company.\nWHEREAS, Fern makes software;'
    )
    assert _read(handler.extract(document(text)))["parties"] == ["Fern Software, Inc.", "Moss Media"]


def test_a_notice_within_the_term_is_not_the_duration() -> None:
    text = (
        "AGREEMENT\nDuring the initial term of this Agreement either party may give sixty (60) days' notice. "
        "The initial term of this Agreement is five (5) years."
    )
    assert _read(handler.extract(document(text)))["term"] == ["5 years"]


def test_names_to_be_filled_in_are_no_parties() -> None:
    text = 'AGREEMENT\nThis Agreement is made between COMPANY NAME ("Company") and CONTRACTOR NAME ("Contractor").'
    assert "parties" not in handler.extract(document(text)).fields


def test_a_date_that_would_have_to_be_computed_is_left_out() -> None:
    text = "LEASE\nThis lease is made on 1 May 2020 between A Ltd and B Ltd. The term of this lease is two years."
    assert "expiration_date" not in handler.extract(document(text)).fields


def test_an_unfilled_template_names_nobody_and_no_day() -> None:
    template = (
        "SERVICE AGREEMENT\nThis Agreement is made on ____________ 20__ by and between [COMPANY NAME], a [state] "
        'corporation ("Company"), and [____________] ("Contractor"). It is governed by the laws of the State of [___].'
    )
    assert set(handler.extract(document(template)).fields) <= {"title"}


def test_an_english_invoice_with_terms_is_no_contract() -> None:
    text = "INVOICE no 5\nTotal due: 30.00 EUR\nVAT 5.00\nIBAN\nSubtotal 25.00\nPayment is subject to our terms."
    assert handler.score(document(text)) < 0.2

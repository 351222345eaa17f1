"""The contract handler on invented contracts, and on templates that nobody filled in."""

from __future__ import annotations

import pytest

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
        "renewal_term": ["1 year"],
        "notice_period": ["90 days"],
        "renewal_notice": ["90 days"],
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
    assert read["term"] == ["24 months"]
    assert read["notice_period"] == ["3 months"]
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


def test_an_end_that_is_computed_is_derived_and_doubted_and_says_from_what() -> None:
    text = "LEASE\nThis lease is made on 29 February 2020 between A Ltd and B Ltd. The term of this lease is one year."
    ends = handler.extract(document(text)).fields["expiration_date"][0]
    assert (ends.value, ends.method) == ("2021-02-28", "derived")
    assert ends.confidence <= 0.5
    assert ends.snippet.startswith("2020-02-29 + 1 year: ")


@pytest.mark.parametrize(
    "term",
    [
        "This lease shall continue until it is terminated by either party.",
        "The term of this lease is two years from the first commercial sale.",
        "The term of this lease is nine hundred years.",
        "The term of this lease is 999 years, and then 9 more.",
    ],
)
def test_a_contract_without_a_sure_length_or_beginning_has_no_computed_end(term: str) -> None:
    made = "on 1 May 9500" if "999" in term else "on 1 May 2020"
    text = f"LEASE\nThis lease is made {made} between A Ltd and B Ltd. {term}"
    assert "expiration_date" not in handler.extract(document(text)).fields


def test_an_unfilled_template_names_nobody_and_no_day() -> None:
    template = (
        "SERVICE AGREEMENT\nThis Agreement is made on ____________ 20__ by and between [COMPANY NAME], a [state] "
        'corporation ("Company"), and [____________] ("Contractor"). It is governed by the laws of the State of [___].'
    )
    assert handler.extract(document(template)).fields == {}


def test_an_english_invoice_with_terms_is_no_contract() -> None:
    text = "INVOICE no 5\nTotal due: 30.00 EUR\nVAT 5.00\nIBAN\nSubtotal 25.00\nPayment is subject to our terms."
    assert handler.score(document(text)) < 0.2


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("Die Laufzeit beträgt zwei Jahre.", "2 years"),
        ("Der Vertrag hat eine Laufzeit von einem Jahr.", "1 year"),
        ("La durée du contrat est de trois (3) ans.", "3 years"),
        ("De looptijd is twaalf maanden.", "12 months"),
        ("La duración es de seis meses.", "6 months"),
        ("La durata è di due anni.", "2 years"),
    ],
)
def test_a_duration_in_words_of_any_language_becomes_a_number_and_an_english_unit(printed: str, value: str) -> None:
    assert _read(handler.extract(document(f"Vertrag\n{printed}")))["term"] == [value]


def test_parties_listed_below_the_opening_are_found() -> None:
    text = (
        "SERVICES AGREEMENT\nThis Agreement is made between the parties named below and takes effect on 1 May 2024.\n"
        '(1) Alder Works Limited, a company with an office in Leeds (the "Customer"); and\n'
        '(2) Thorn Systems Limited, a company with an office in Hull (the "Supplier").\nBackground\n(A) It is so.'
    )
    read = _read(handler.extract(document(text)))
    assert read["parties"] == ["Alder Works Limited", "Thorn Systems Limited"]
    assert "agreement_date" not in read


def test_german_parties_are_found_by_the_term_that_stands_behind_each() -> None:
    text = (
        "Vertrag\nDieser Vertrag wird geschlossen zwischen\nHaselhof GmbH & Co. KG, Am Bach 8, 20095 Hamburg\n"
        "- nachfolgend „Auftraggeber“ genannt -\nund\nWeber Netze e. K., Inhaber Max Weber, Hof 2, 10115 Berlin\n"
        "- nachfolgend „Auftragnehmer“ genannt -\nwird folgender Vertrag geschlossen:"
    )
    assert _read(handler.extract(document(text)))["parties"] == ["Haselhof GmbH & Co. KG", "Weber Netze e. K."]


def test_a_legal_form_in_brackets_stays_in_the_name() -> None:
    text = (
        "Vertrag\nDieser Vertrag wird geschlossen zwischen der Fels Bau UG (haftungsbeschränkt), Hamburg (nachfolgend "
        "„Auftraggeber“) und der Moor AG, Berlin (nachfolgend „Auftragnehmer“)."
    )
    assert _read(handler.extract(document(text)))["parties"] == ["Fels Bau UG (haftungsbeschränkt)", "Moor AG"]


def test_what_follows_after_all_parties_are_named_is_no_party() -> None:
    text = (
        'NDA AGREEMENT\nThis Agreement is made between Fern Inc. ("Fern") and Moss LLC ("Moss"). Each of them is a '
        '"party". They share plans (the "Purpose"). To do so, each will show samples ("Samples") to the other.'
    )
    assert _read(handler.extract(document(text)))["parties"] == ["Fern Inc.", "Moss LLC"]


def test_notice_to_end_the_contract_is_found_unless_it_needs_a_cause() -> None:
    free = "AGREEMENT\nEither party may end it earlier by giving thirty (30) days written notice."
    caused = "AGREEMENT\nEither party may end it by giving thirty (30) days written notice if the other is sold."
    assert _read(handler.extract(document(free)))["notice_period"] == ["30 days"]
    assert "notice_period" not in handler.extract(document(caused)).fields


def test_a_line_that_numbers_the_page_is_neither_title_nor_text() -> None:
    page = "Supply Agreement - Page {} of 2\n{}"
    first = page.format(1, "SUPPLY AGREEMENT\nThis Agreement is governed by the")
    fields = handler.extract(document(first, page.format(2, "laws of Ireland."))).fields
    assert fields["title"][0].value == "SUPPLY AGREEMENT"
    alone = handler.extract(document("Supply Agreement - Page 1 of 1\nit is so.")).fields
    assert alone["title"][0].value == "Supply Agreement"
    assert fields["governing_law"][0].snippet == "SUPPLY AGREEMENT This Agreement is governed by the laws of Ireland."


@pytest.mark.parametrize(
    "printed", ["Vertragsnummer K-77/4", "Agreement No. K-77/4", "Reference: K-77/4", "Contract number: K-77/4"]
)
def test_the_number_of_a_contract_is_found_by_its_label(printed: str) -> None:
    assert _read(handler.extract(document(f"AGREEMENT\n{printed}\n")))["contract_number"] == ["K-77/4"]


def test_a_section_referred_to_is_not_the_number_of_the_contract() -> None:
    text = "AGREEMENT\nRight to use and Reference 4.4 Right to sell. Incorporated by reference 2019A."
    assert "contract_number" not in handler.extract(document(text)).fields

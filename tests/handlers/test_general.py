"""The fallback: any document has a title and a language, and a better handler always wins."""

from __future__ import annotations

import pytest

from handlers.general import handler
from tests.handlers.pages import LETTER, document

SENTENCES = {
    "en": "The house of the family is not for sale and it was built by the grandfather.",
    "de": "Das Haus der Familie ist nicht zu verkaufen und es wurde von dem Großvater für die Kinder gebaut.",
    "fr": "La maison de la famille est dans le village et les enfants sont avec vous pour une semaine.",
    "nl": "Het huis van de familie is niet te koop en het wordt door de kinderen met een feest gevierd.",
    "es": "La casa de la familia no es para la venta y los hijos se quedan con el abuelo por una semana.",
    "it": "La casa della famiglia non è in vendita e i figli sono con il nonno per una settimana nel paese.",
}


@pytest.mark.parametrize("code", SENTENCES)
def test_the_language_is_guessed_from_common_words(code: str) -> None:
    assert handler.extract(document(SENTENCES[code])).fields["language"][0].value == code


def test_the_first_heading_is_the_title() -> None:
    fields = handler.extract(document(LETTER)).fields
    assert fields["title"][0].value == "Minutes of the garden club"


def test_page_numbers_and_web_addresses_are_no_titles() -> None:
    assert (
        handler.extract(document("Page 1\nwww.example.org\n17\nYearly report")).fields["title"][0].value
        == "Yearly report"
    )


def test_a_document_without_words_has_neither_title_nor_language() -> None:
    assert handler.extract(document("", "12345 678")).fields == {}


@pytest.mark.parametrize("label", ["Subject", "Betreff", "Objet", "Onderwerp", "Asunto", "Oggetto"])
def test_the_subject_that_a_memo_names_is_its_title(label: str) -> None:
    fields = handler.extract(document(f"MEMO\nFrom: Ida\n{label}:   The new kiln\nIt is hot.")).fields
    assert fields["title"][0].value == "The new kiln"


@pytest.mark.parametrize("subject", ["Rechnung 2026-4417", "4417/2026", "re: your order of May the third"])
def test_a_subject_is_a_title_whatever_it_looks_like(subject: str) -> None:
    fields = handler.extract(document(f"From: Ida <ida@example.org>\nSubject: {subject}\n\nSee the file.")).fields
    assert fields["title"][0].value == subject

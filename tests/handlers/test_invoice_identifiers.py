"""Accounts, banks, tax numbers and references on an invoice: whose they are, and what their check digits prove."""

from __future__ import annotations

import pytest

from handlers.invoice import handler
from pipeline.reading.identifiers import find_ibans, find_vat_ids, valid_vat_id
from tests.handlers.pages import document

SELLER, BUYER = "DE987654301", "NL123456708B01"


def _read(layout: str) -> dict[str, str]:
    return {name: several[0].value for name, several in handler.extract(document(layout)).fields.items()}


@pytest.mark.parametrize(
    "number",
    ["DE 987 654 301", "FR40 303265045", "GB 123 4567 27", "ATU13585627", "BE 0428.759.497", "NL123456708B01"],
)
def test_a_vat_number_is_found_with_its_separators_and_proved(number: str) -> None:
    (found,) = find_vat_ids(f"VAT {number} and more")
    assert found.proved
    assert valid_vat_id(found.value)


@pytest.mark.parametrize("number", ["CHE-107.787.577 MWST", "CHE107787577"])
def test_a_swiss_number_is_proved_with_and_without_what_follows_it(number: str) -> None:
    (found,) = find_vat_ids(f"MWST-Nr. {number}")
    assert (found.value, found.proved) == ("CHE107787577", True)


def test_a_number_that_fails_its_check_digits_is_given_but_doubted() -> None:
    sound = handler.extract(document(f"Invoice\nUSt-IdNr. {SELLER}"))
    wrong = handler.extract(document(f"Invoice\nUSt-IdNr. {SELLER[:-1]}9"))
    assert sound.checks["seller_vat_id_checksum"]
    assert "seller_vat_id_checksum" not in wrong.checks
    assert wrong.fields["seller_vat_id"][0].confidence < 0.8 < sound.fields["seller_vat_id"][0].confidence


def test_an_account_that_fails_its_check_digits_is_told_and_never_given() -> None:
    extraction = handler.extract(document("Invoice\nIBAN DE88 3704 0044 0532 0130 00"))
    assert extraction.checks["iban_checksum"] is False
    assert "iban" not in extraction.fields
    assert handler.extract(document("Invoice\nIBAN DE89 3704 0044 0532 0130 00")).checks["iban_checksum"]


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("Partita IVA 00743110157", "IT00743110157"),
        ("NIF: B58378431", "ESB58378431"),
        ("BTW 0428.759.497", "BE0428759497"),
        ("VAT No 123 4567 27", "GB123456727"),
    ],
)
def test_a_national_number_that_proves_itself_gets_its_country(printed: str, value: str) -> None:
    field = handler.extract(document(f"Invoice\n{printed}")).fields["seller_vat_id"][0]
    assert (field.value, field.method) == (value, "derived")


def test_a_national_number_that_does_not_prove_itself_is_left_out() -> None:
    assert "seller_vat_id" not in handler.extract(document("Invoice\nPartita IVA 00743110158")).fields


@pytest.mark.parametrize(
    "layout",
    [
        f"Invoice\nBill to\nRose AG\nHill 2\nVAT ID {BUYER}\n\nVAT ID {SELLER}",
        f"Invoice\nVAT ID {SELLER}\nCustomer VAT No: {BUYER}",
        f"Factuur\nBTW-nummer klant: {BUYER}\nBTW-nummer: {SELLER}",
        f"Rose AG · Hill 2 · 20095 Hamburg\nTulip B.V.\nQuay 8\n3511 AB Utrecht\n{BUYER}\nRechnung\nUSt-IdNr. {SELLER}",
    ],
)
def test_both_parties_numbers_are_told_apart(layout: str) -> None:
    read = _read(layout)
    assert (read["seller_vat_id"], read["buyer_vat_id"]) == (SELLER, BUYER)


def test_a_number_under_its_label_in_a_row_of_facts_is_the_sellers() -> None:
    layout = (
        f"Invoice\nBill to\nRose AG\nHill 2\nInvoice no    Date          VAT ID\nA-17          3 May 2024    {SELLER}"
    )
    assert _read(layout)["seller_vat_id"] == SELLER


@pytest.mark.parametrize(
    "layout", ["BIC: COBADEFFXXX", "SWIFT/BIC\nCOBADEFFXXX", "IBAN DE89 3704 0044 0532 0130 00   BIC COBADEFFXXX"]
)
def test_a_bic_is_found_behind_or_under_its_label(layout: str) -> None:
    assert _read(f"Invoice\n{layout}")["bic"] == "COBADEFFXXX"


def test_a_word_in_capitals_is_no_bic() -> None:
    assert "bic" not in _read("Invoice\nHAUPTSTRASSE 1\nBIC see MERCHANTDESK")


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("PO Number", "4500123456"),
        ("Your order no", "PO-1420"),
        ("Bestellnummer", "B-77/2"),
        ("N° de commande", "4711"),
        ("Bestelnummer", "8812-A"),
        ("Número de pedido", "P2024"),
        ("Numero ordine", "ORD.17"),
    ],
)
def test_the_number_of_an_order_is_found_in_every_language(label: str, value: str) -> None:
    assert _read(f"Invoice\n{label}: {value}")["purchase_order"] == value
    assert _read(f"Invoice\n{label}     Date\n{value:10}{'':6}3 May 2024")["purchase_order"] == value


@pytest.mark.parametrize("value", ["3 May 2024", "EUR 12.00", "as agreed", "VERBAL", ""])
def test_what_is_no_number_of_an_order_is_left_out(value: str) -> None:
    assert "purchase_order" not in _read(f"Invoice\nOrder number: {value}")


def test_a_structured_reference_of_a_payment_is_kept_whole() -> None:
    assert _read("Invoice\nPayment reference: RF18 5390 0754 7034")["payment_reference"] == "RF18 5390 0754 7034"
    assert _read("Facture\nCommunication : +++090/9337/55493+++")["payment_reference"] == "+++090/9337/55493+++"


def test_an_iban_hidden_in_other_words_is_cut_to_the_length_of_its_country() -> None:
    (found,) = find_ibans("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFF")
    assert found.value == "DE89370400440532013000"


def test_a_german_tax_number_is_kept_apart_from_the_vat_number() -> None:
    read = _read(f"Rechnung\nSteuernummer 181/815/08155     USt-IdNr. {SELLER}")
    assert (read["seller_tax_id"], read["seller_vat_id"]) == ("181/815/08155", SELLER)
    assert "seller_tax_id" not in _read("Rechnung\nSteuernummer 12/345/678")


def test_a_post_box_is_no_number_of_an_order() -> None:
    assert "purchase_order" not in _read("Invoice\nRose AG\nP.O. Box 4410")

"""The invoice handler on invented invoices in six languages, and on what must be left out."""

from __future__ import annotations

import pytest

from handlers.invoice import handler
from pipeline.handling import Extraction
from tests.handlers import pages
from tests.handlers.pages import document


def _read(extraction: Extraction) -> dict[str, str]:
    return {name: several[0].value for name, several in extraction.fields.items()}


EXPECTED = {
    pages.ENGLISH_INVOICE: {
        "invoice_number": "HL-20417",
        "purchase_order": "5512",
        "issue_date": "2023-03-14",
        "due_date": "2023-04-13",
        "seller_name": "Harbour Lights Ltd.",
        "buyer_name": "Juniper Theatre Company",
        "currency": "GBP",
        "total_net": "150.00",
        "total_tax": "30.00",
        "total_gross": "180.00",
        "amount_due": "180.00",
        "seller_vat_id": "GB123456727",
    },
    pages.GERMAN_INVOICE: {
        "invoice_number": "2023-0815",
        "issue_date": "2023-04-03",
        "due_date": "2023-04-17",
        "delivery_date": "2023-03-28",
        "seller_name": "Nordwind Möbel GmbH",
        "buyer_name": "Brandt & Söhne OHG",
        "currency": "EUR",
        "total_net": "1300.00",
        "total_tax": "247.00",
        "total_gross": "1547.00",
        "amount_due": "1547.00",
        "seller_vat_id": "DE987654301",
        "iban": "DE89370400440532013000",
    },
    pages.FRENCH_INVOICE: {
        "invoice_number": "FA-2022-118",
        "issue_date": "2022-05-02",
        "due_date": "2022-06-01",
        "seller_name": "Atelier du Pont SARL",
        "buyer_name": "Librairie Plume SAS",
        "currency": "EUR",
        "total_net": "455.00",
        "total_tax": "91.00",
        "total_gross": "546.00",
        "amount_due": "546.00",
        "seller_vat_id": "FR40303265045",
    },
    pages.DUTCH_INVOICE: {
        "invoice_number": "90331",
        "issue_date": "2022-11-07",
        "due_date": "2022-11-21",
        "seller_name": "Fietsenmaker De Kade B.V.",
        "buyer_name": "Basisschool De Eik",
        "currency": "EUR",
        "total_net": "200.00",
        "total_tax": "42.00",
        "total_gross": "242.00",
        "amount_due": "242.00",
        "seller_vat_id": "NL123456708B01",
        "iban": "NL91ABNA0417164300",
    },
    pages.SPANISH_INVOICE: {
        "invoice_number": "F-0099",
        "issue_date": "2024-01-05",
        "due_date": "2024-02-04",
        "seller_name": "Talleres del Sur S.L.",
        "buyer_name": "Panadería Luz S.A.",
        "currency": "EUR",
        "total_net": "1000.00",
        "total_tax": "210.00",
        "total_gross": "1210.00",
        "amount_due": "1210.00",
    },
    pages.ITALIAN_INVOICE: {
        "invoice_number": "55/2023",
        "issue_date": "2023-10-09",
        "due_date": "2023-11-08",
        "seller_name": "Officina Verdi S.r.l.",
        "buyer_name": "Teatro Piccolo S.p.A.",
        "currency": "EUR",
        "total_net": "300.00",
        "total_tax": "66.00",
        "total_gross": "366.00",
        "amount_due": "366.00",
        "seller_vat_id": "IT00743110157",
    },
}


@pytest.mark.parametrize("layout", EXPECTED, ids=["en", "de", "fr", "nl", "es", "it"])
def test_an_invoice_in_each_language_gives_exactly_what_it_prints(layout: str) -> None:
    extraction = handler.extract(document(layout))
    assert _read(extraction) == EXPECTED[layout]
    assert extraction.checks["net_plus_tax_is_gross"]
    assert all(extraction.checks.values())


def test_a_due_date_a_tax_and_a_buyer_that_are_not_printed_are_left_out() -> None:
    read = _read(handler.extract(document("Receipt no: 4471\nDate: 2023-02-01\nCoffee   3.50\nTotal   EUR 3.50")))
    assert read == {"invoice_number": "4471", "issue_date": "2023-02-01", "currency": "EUR", "total_gross": "3.50"}


def test_one_row_of_a_tax_table_is_not_taken_for_the_whole_invoice() -> None:
    layout = """
    Rate        Net        VAT      Gross
    7 %      100.00       7.00     107.00
    19 %     200.00      38.00     238.00
                        Net total     300.00
                        Total VAT      45.00
                        Grand total   345.00
    """
    read = _read(handler.extract(document(layout)))
    assert (read["total_net"], read["total_tax"], read["total_gross"]) == ("300.00", "45.00", "345.00")


def test_a_row_that_adds_up_is_not_believed_against_a_larger_labelled_total() -> None:
    layout = """
    7 %      100.00       7.00     107.00
    19 %     200.00      38.00     238.00
    Of which goods               238.00
                        Grand total   345.00
    """
    assert _read(handler.extract(document(layout))) == {"total_gross": "345.00", "amount_due": "345.00"}


def test_a_previous_balance_is_owed_but_not_part_of_the_invoice() -> None:
    layout = "Subtotal  $100.00\nTax  $10.00\nTotal  $110.00\nPrevious balance  $500.00\nTotal due  $610.00"
    read = _read(handler.extract(document(layout)))
    assert (read["total_gross"], read["amount_due"]) == ("110.00", "610.00")


def test_what_is_left_to_pay_is_the_gross_amount_unless_something_was_paid() -> None:
    owed = handler.extract(document("Invoice\nTotal  EUR 110.00")).fields["amount_due"][0]
    assert (owed.value, owed.method) == ("110.00", "derived")
    for word in ("Paid by card", "Betrag dankend erhalten, bezahlt", "Previous balance   5.00", "Anzahlung  10.00"):
        assert "amount_due" not in handler.extract(document(f"Invoice\nTotal  EUR 110.00\n{word}")).fields


@pytest.mark.parametrize(
    "words", [("Deposit paid", "Balance due"), ("Anzahlung", "Restbetrag"), ("Acompte", "Net à payer")]
)
@pytest.mark.parametrize("sign", ["", "-"])
def test_gross_is_the_whole_and_not_what_is_left_after_a_deposit(words: tuple[str, str], sign: str) -> None:
    layout = f"Invoice\nNet total  100.00\nVAT 20%  20.00\nTotal  120.00\n{words[0]}  {sign}36.00\n{words[1]}  84.00"
    read = _read(handler.extract(document(layout)))
    assert (read["total_gross"], read["prepaid"], read["amount_due"]) == ("120.00", "36.00", "84.00")


def test_totals_under_headings_side_by_side_are_those_of_the_last_row() -> None:
    layout = """
    Goods      Discount    Net total       VAT       Grand total
    80.00         -5.00        75.00     15.00             90.00
    20.00          0.00        20.00      1.00             21.00
    100.00        -5.00        95.00     16.00            111.00
    """
    read = _read(handler.extract(document(layout)))
    assert (read["total_net"], read["total_tax"], read["total_gross"]) == ("95.00", "16.00", "111.00")


def test_a_tax_table_without_a_sum_makes_the_totals_by_addition() -> None:
    layout = """
    Rate          Taxable         VAT       Gross
    7 %            100.00        7.00      107.00
    19 %           200.00       38.00      238.00
                                 Amount due: 345.00
    """
    read = _read(handler.extract(document(layout)))
    assert (read["total_tax"], read["total_gross"], read["amount_due"]) == ("45.00", "345.00", "345.00")


@pytest.mark.parametrize(
    "layout",
    [
        "Net total  300.00\n7 % MwSt. auf 100.00      7.00\n19 % MwSt. auf 200.00     38.00\nTotal  345.00",
        "Net total     15 % VAT on 300.00     Total\n300.00        45.00                  345.00",
    ],
)
def test_what_is_taxed_is_not_the_tax(layout: str) -> None:
    read = _read(handler.extract(document(layout)))
    assert (read["total_net"], read["total_tax"], read["total_gross"]) == ("300.00", "45.00", "345.00")


@pytest.mark.parametrize(
    ("layout", "day"),
    [
        ("Reno, NV 89501\nInvoice date: 04/05/2023\nTotal  USD 5.00", "2023-04-05"),
        ("Reno, NV 89501\nInvoice date: 04/05/2023\nTotal  EUR 5.00", "2023-05-04"),
        ("Johor, JB 81100\nInvoice date: 04/05/2023\nTotal  5.00", "2023-05-04"),
    ],
)
def test_only_an_address_in_the_united_states_puts_the_month_first(layout: str, day: str) -> None:
    assert _read(handler.extract(document(f"Invoice\n{layout}")))["issue_date"] == day


def test_a_province_in_brackets_is_no_currency() -> None:
    read = _read(handler.extract(document("Fattura\n00184 Roma (RM)\nTotale   € 5,00")))
    assert read["currency"] == "EUR"


def test_amounts_that_do_not_add_up_fail_the_check_and_lose_confidence() -> None:
    extraction = handler.extract(document("Subtotal  100.00\nVAT  20.00\nTotal  130.00"))
    sound = handler.extract(document("Subtotal  100.00\nVAT  20.00\nTotal  120.00"))
    assert extraction.checks == {"net_plus_tax_is_gross": False}
    assert extraction.fields["total_net"][0].confidence < sound.fields["total_net"][0].confidence


def test_one_date_above_twelve_settles_the_order_of_all_dates() -> None:
    american = "Invoice date: 04/05/2023\nDue date: 04/25/2023"
    european = "Invoice date: 04/05/2023\nDue date: 25/05/2023"
    assert _read(handler.extract(document(american)))["issue_date"] == "2023-04-05"
    assert _read(handler.extract(document(european)))["issue_date"] == "2023-05-04"


def test_an_iban_with_a_wrong_checksum_is_no_iban() -> None:
    assert "iban" not in handler.extract(document("Invoice\nIBAN DE88 3704 0044 0532 0130 00")).fields


def test_the_buyers_tax_number_is_not_the_sellers() -> None:
    layout = "Invoice no: 77001\nBill to\nRose AG\nVAT ID DE111111111\n\nSeller: VAT ID ATU12345678"
    assert _read(handler.extract(document(layout)))["seller_vat_id"] == "ATU12345678"


def test_the_buyers_tax_number_stays_the_buyers_wherever_it_is_printed_again() -> None:
    layout = "Invoice no: 77001     VAT ID DE111111111\nBill to\nRose AG\nVAT ID DE111111111"
    assert "seller_vat_id" not in handler.extract(document(layout)).fields


def test_a_credit_note_keeps_its_minus() -> None:
    read = _read(
        handler.extract(document("Credit note no: 81\nNet total  -50.00 €\nVAT 20%  -10.00 €\nTotal  -60.00 €"))
    )
    assert (read["total_net"], read["total_tax"], read["total_gross"]) == ("-50.00", "-10.00", "-60.00")


def test_a_credit_note_that_adds_up_is_trusted_like_an_invoice() -> None:
    fields = handler.extract(
        document("Credit note no: 81\nNet total  -50.00 €\nVAT 20%  -10.00 €\nTotal  -60.00 €")
    ).fields
    assert all(fields[name][0].confidence > 0.9 for name in ("total_net", "total_tax", "total_gross"))


def test_a_bare_number_beneath_the_title_is_the_number_if_no_fuller_label_gives_one() -> None:
    assert _read(handler.extract(document(pages.LISTED_INVOICE)))["invoice_number"] == "2031/77"
    fuller = pages.LISTED_INVOICE.replace("Currency           EUR", "Invoice no.        B-9")
    assert _read(handler.extract(document(fuller)))["invoice_number"] == "B-9"
    beside = "Invoice\nNumber    77\nInvoice 20417"
    assert _read(handler.extract(document(beside)))["invoice_number"] == "20417"


def test_a_bare_number_may_stand_a_row_above_the_title() -> None:
    assert _read(handler.extract(document("Number    A-17\nInvoice")))["invoice_number"] == "A-17"


@pytest.mark.parametrize("label", ["Number", "Nummer", "Nr.", "Numéro", "No.", "No:", "N°"])
def test_a_bare_number_label_is_known_in_every_language(label: str) -> None:
    assert _read(handler.extract(document(f"Invoice\n{label}    A-17")))["invoice_number"] == "A-17"


@pytest.mark.parametrize(
    "value",
    [
        *("3 May 2024", "2024-05-03", "1200.00", "EUR 1200", "€1,200.00", "pending"),
        *("+49 30 1234567", "0151-2345678", "0800/123456", "TX 75001", "10115 Berlin", "BS1 4AA"),
    ],
)
def test_a_bare_number_that_is_something_else_is_no_invoice_number(value: str) -> None:
    assert "invoice_number" not in handler.extract(document(f"Invoice\nNumber    {value}")).fields


def test_a_bare_number_far_from_the_title_or_in_a_list_of_items_is_no_invoice_number() -> None:
    far = "Invoice\n" + "some words\n" * 8 + "Number    A-17"
    items = "Invoice\nNo.    17    Description    Price"
    assert "invoice_number" not in handler.extract(document(far)).fields
    assert "invoice_number" not in handler.extract(document(items)).fields


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("Bitte überweisen Sie den Betrag bis spätestens 12.03.2024.", "2024-03-12"),
        ("Der Rechnungsbetrag wird am 12.03.2024 abgebucht.", "2024-03-12"),
        ("Payment is due by 12 March 2024.", "2024-03-12"),
        ("Merci de régler avant le 12/03/2024.", "2024-03-12"),
        ("Gelieve te betalen voor 12-03-2024.", "2024-03-12"),
        ("Rogamos abonen el importe antes del 12/03/2024.", "2024-03-12"),
        ("Pagamento entro il 12/03/2024", "2024-03-12"),
        ("Bei Zahlung bis 12.03.2024 gewähren wir 2 % Skonto.", None),
        ("2% discount if paid by 12 March 2024", None),
    ],
)
def test_a_sentence_tells_when_to_pay_but_not_until_when_a_discount_is_given(words: str, day: str | None) -> None:
    assert _read(handler.extract(document(f"Invoice\n{words}"))).get("due_date") == day


def test_a_sum_without_tax_proves_nothing() -> None:
    fields = handler.extract(document("Invoice\nNet total  50.00\nVAT 0%  0.00\nTotal  50.00")).fields
    assert fields["total_gross"][0].value == "50.00"
    assert fields["total_gross"][0].confidence < 0.9


def test_a_label_in_a_sentence_announces_nothing_below() -> None:
    layout = "Invoice\nPlease quote the invoice number.\nHill 2           99123\nThanks"
    assert "invoice_number" not in handler.extract(document(layout)).fields


def test_the_amount_due_is_as_sure_as_the_total_that_it_is() -> None:
    sums = "Invoice\nNet  EUR 100.00\nVAT 19 %  EUR 19.00\nTotal  EUR 119.00\n"
    same = handler.extract(document(f"{sums}Amount due  EUR 119.00")).fields
    assert same["amount_due"][0].confidence >= same["total_gross"][0].confidence
    more = handler.extract(document(f"{sums}Amount due  EUR 519.00")).fields
    assert more["amount_due"][0].confidence < same["amount_due"][0].confidence


@pytest.mark.parametrize(
    ("another_date", "is_sure"), [("", True), ("Due date  31.05.2026", True), ("Vessel left  14.04.2026", False)]
)
def test_the_date_beside_the_number_is_sure_where_no_other_could_be_it(another_date: str, *, is_sure: bool) -> None:
    page = document(f"Rechnung Nr. 4711 vom 13.05.2026\n{another_date}\nGesamtbetrag  EUR 119,00")
    (issued,) = handler.extract(page).fields["issue_date"]
    assert issued.value == "2026-05-13"
    assert (issued.confidence >= 0.9) is is_sure

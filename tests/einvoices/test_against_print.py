"""The print agrees, differs at a labelled place, or says nothing; a mismatch that is told is one."""

from __future__ import annotations

from pipeline.documents.text import Document, Page
from pipeline.einvoices import reading
from pipeline.einvoices.against_print import Comparison, Verdict, compare
from tests.einvoices import building
from tests.einvoices.building import facts

PRINT = """
   Ölmühle Nordhafen GmbH

   Rechnung Nr. INV-2026/0042
   Rechnungsdatum: 05.03.2026        Fällig am: 04.04.2026

   An: Atelier Søndergård

   Zwischensumme netto            300,00 EUR
   MwSt. 19 %                      57,00 EUR
   Gesamtbetrag brutto            357,00 EUR

   USt-IdNr.: DE136695976    IBAN: DE02 1203 0000 0000 2020 51
"""


def compared(text: str, xml: str | None = None) -> dict[str, Comparison]:
    (invoice,) = reading.read((xml or building.cii(facts())).encode())
    page = Page(1, text, text)
    return {each.name: each for each in compare(invoice, Document("a.pdf", "application/pdf", (page,)))}


def differing(text: str, xml: str | None = None) -> dict[str, str]:
    return {name: each.printed for name, each in compared(text, xml).items() if each.verdict is Verdict.DIFFERS}


def test_what_is_printed_agrees_in_any_notation() -> None:
    found = compared(PRINT)
    assert {each.verdict for each in found.values()} == {Verdict.AGREES}
    assert len(found) == 11


def test_an_empty_page_says_nothing() -> None:
    assert {each.verdict for each in compared("").values()} == {Verdict.NOT_VISIBLE}


def test_another_number_date_or_account_at_its_label_differs() -> None:
    assert differing(PRINT.replace("INV-2026/0042", "INV-2026/0043")) == {"invoice_number": "INV-2026/0043"}
    assert differing(PRINT.replace("04.04.2026", "14.04.2026")) == {"due_date": "2026-04-14"}
    other = PRINT.replace("DE02 1203 0000 0000 2020 51", "DE89 3704 0044 0532 0130 00")
    assert differing(other) == {"iban": "DE89370400440532013000"}
    assert compared(other)["iban"].page == 1


def test_other_totals_that_prove_each_other_differ() -> None:
    other = PRINT.replace("300,00", "400,00").replace("57,00", "76,00").replace("357,00", "476,00")
    other = other.replace("376,00", "476,00")
    found = differing(other)
    assert found["total_gross"] == "476.00"
    assert found["total_net"] == "400.00"


def test_a_name_that_is_not_found_is_not_visible_never_different() -> None:
    found = compared(PRINT.replace("Ölmühle Nordhafen GmbH", "Nordhafen"))
    assert found["seller_name"].verdict is Verdict.NOT_VISIBLE


def test_two_values_at_one_kind_of_label_say_nothing() -> None:
    twice = PRINT.replace("04.04.2026", "14.04.2026") + "\n   Fällig am: 24.04.2026\n"
    assert "due_date" not in differing(twice)


def test_of_several_accounts_none_is_said_to_be_another() -> None:
    other = PRINT.replace("DE02 1203 0000 0000 2020 51", "DE89 3704 0044 0532 0130 00")
    assert differing(other + "\n   IBAN: AT61 1904 3002 3457 3201\n") == {}


def test_long_odd_text_neither_raises_nor_hangs() -> None:
    for text in ("1.1.1" * 50_000, "IBAN " * 40_000, "\u0301" * 100_000, "Rechnung Nr. " * 20_000):
        compared(text)

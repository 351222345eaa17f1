"""Who sends an invoice and who receives it: by labels, and by where the names stand."""

from __future__ import annotations

import pytest

from handlers.invoice import handler
from pipeline.handling import Extraction
from tests.handlers import pages
from tests.handlers.pages import document


def _read(extraction: Extraction) -> dict[str, str]:
    return {name: several[0].value for name, several in extraction.fields.items()}


WINDOW = "Rose AG · Hill 2 · 20095 Hamburg\n"


@pytest.mark.parametrize(
    ("layout", "buyer"),
    [
        (WINDOW + "Herrn\nTheo Fels\nQuay 8\n50667 Köln", "Theo Fels"),
        (WINDOW + "Eheleute\nIda und Theo Fels\nQuay 8\n50667 Köln", "Ida und Theo Fels"),
        (
            "Rose AG\nHill 2\n20095 Hamburg\n\nThe Old Forge Trust\n6 Ferry Lane\nTopsham\nEX3 0JB",
            "The Old Forge Trust",
        ),
        ("Rose AG\nHill 2\n20095 Hamburg\nSold to / Vendu à\nTheo Fels\nQuay 8", "Theo Fels"),
        ("Rose AG\nHill 2\n20095 Hamburg\nTo: Theo Fels\n    Quay 8", "Theo Fels"),
        ("Rose AG\nHill 2\n20095 Hamburg\nRechnung an Theo Fels\nQuay 8", "Theo Fels"),
        ("Rose AG\nHill 2\n20095 Hamburg\n\nTulip B.V.\nMevrouw Fels\nQuay 8\n3511 AB Utrecht", "Tulip B.V."),
        ("Rose AG\n20095 Hamburg\nShip to\nTulip\nHill 2\n3511 AB Utrecht\nLime Trust\n20095 Hamburg", "Lime Trust"),
    ],
)
def test_a_receiver_is_found_by_where_it_stands(layout: str, buyer: str) -> None:
    read = _read(handler.extract(document(layout)))
    assert (read["buyer_name"], read["seller_name"]) == (buyer, "Rose AG")


@pytest.mark.parametrize(
    "footer",
    [
        "Rose AG          Sparkasse Moor          USt-IdNr. DE987654301\nHill 2\n20095 Hamburg",
        "Rose AG | Hill 2 | 20095 Hamburg | DE987654301",
        "Rose AG au capital de 10 000 € - RCS Lyon 303 265 045",
    ],
)
def test_a_sender_that_stands_in_the_footer_only_is_found_there(footer: str) -> None:
    sums = "".join(f"{'':60}{row}\n" for row in ("Nettobetrag  100,00", "MwSt. 19 %  19,00", "Gesamtbetrag  119,00"))
    sums += "words of no weight that fill the width of a sheet as an invoice has them\n" * 8
    layout = f"Tulip B.V.\nQuay 8\n3511 AB Utrecht\nRechnung\nRechnungsnummer  R-4711\n{sums}{footer}"
    assert _read(handler.extract(document(layout)))["seller_name"] == "Rose AG"


@pytest.mark.parametrize("label", ["Customer", "Kunde", "Client", "Klant", "Cliente"])
def test_a_buyer_in_the_column_beside_its_label_is_found(label: str) -> None:
    layout = pages.LISTED_INVOICE.replace("Customer  ", f"{label:10}")
    assert _read(handler.extract(document(layout)))["buyer_name"] == "Lime Tree Pottery Trust"


@pytest.mark.parametrize("below", ["Currency    EUR", "            Hill 2", ""])
def test_a_name_beside_its_label_needs_nothing_but_other_labels_under_the_label(below: str) -> None:
    layout = f"Invoice\nCustomer    Ida Moor\n{below}"
    assert _read(handler.extract(document(layout)))["buyer_name"] == "Ida Moor"


def test_a_heading_beside_the_buyers_heading_is_no_name() -> None:
    layout = "Invoice\nCustomer          Building site\nIda Moor          Gate 4\nHill 2            Quay 8"
    assert _read(handler.extract(document(layout)))["buyer_name"] == "Ida Moor"


def test_the_header_of_a_list_of_items_is_no_name() -> None:
    header = "Service                       Quantity   Unit    Rate"
    labelled = f"Invoice\nCustomer\n{header}\nLessons      2   hours    40.00"
    window = f"Ida Moor\n20095 Hamburg\n{header}\n                              10115 Berlin"
    letterhead = f"Invoice\n{header}"
    assert "buyer_name" not in handler.extract(document(labelled)).fields
    assert "buyer_name" not in handler.extract(document(window)).fields
    assert "seller_name" not in handler.extract(document(letterhead, letterhead)).fields


def test_a_company_may_be_called_by_a_word_or_two_of_a_table() -> None:
    layout = "Unit Rate Ltd                 Invoice\nHill 2\nTotal  10.00"
    assert _read(handler.extract(document(layout)))["seller_name"] == "Unit Rate Ltd"


def test_two_columns_headed_from_and_to_name_seller_and_buyer() -> None:
    read = _read(handler.extract(document(pages.ROUTED_INVOICE)))
    assert (read["seller_name"], read["buyer_name"]) == ("Ahornweg Druckerei UG", "Stadtbücherei Neuwiese")


@pytest.mark.parametrize(
    "heads", [("From", "To"), ("Von:", "An:"), ("De", "À"), ("Van", "Aan"), ("Da", "A"), ("De", "Para")]
)
def test_the_columns_are_headed_in_any_of_six_languages(heads: tuple[str, str]) -> None:
    columns = (heads, ("Ida Moor", "Theo Fels"), ("Hill 2", "Quay 8"))
    layout = "Rechnung\n" + "\n".join(f"{left:30}{right}" for left, right in columns)
    read = _read(handler.extract(document(layout)))
    assert (read["seller_name"], read["buyer_name"]) == ("Ida Moor", "Theo Fels")


def test_a_word_far_below_another_does_not_head_the_receivers_address() -> None:
    layout = "Rechnung\nVon\nIda Moor\n" + "wie besprochen.\n" * 14 + "An\nTheo Fels"
    assert "buyer_name" not in handler.extract(document(layout)).fields


def test_a_word_that_heads_an_address_is_never_a_name_itself() -> None:
    layout = "Rechnung\nKunde\nVon\nHill 2\n20095 Hamburg"
    assert "buyer_name" not in handler.extract(document(layout)).fields

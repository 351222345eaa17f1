"""Receipts as tills print them: the head, the day, and the total after rounding, proved by cash and change."""

from __future__ import annotations

import random

import pytest

from handlers.invoice import handler
from pipeline.reading import ranking
from pipeline.reading.receipts import receipts
from pipeline.reading.receipts.merchants import merchants
from pipeline.reading.receipts.till_addresses import addresses
from pipeline.reading.receipts.till_totals import totals
from pipeline.reading.rows import rows
from tests.handlers.pages import ENGLISH_INVOICE, RECEIPT, document


def _read(layout: str) -> dict[str, str]:
    return {name: several[0].value for name, several in handler.extract(document(layout)).fields.items()}


def test_a_receipt_gives_merchant_address_day_and_what_was_paid() -> None:
    read = _read(RECEIPT)
    assert read["seller_name"] == "KEDAI ROTI MERPATI SDN BHD"
    assert read["seller_address"] == "NO 7, JALAN KENARI 3, TAMAN PIPIT, 47100 PUCHONG, SELANGOR"
    assert read["issue_date"] == "2017-08-14"
    assert read["total_gross"] == "12.95"
    assert read["currency"] == "MYR"


def test_sums_before_rounding_are_not_given_as_parts_of_the_total() -> None:
    read = _read(RECEIPT)
    assert "total_net" not in read
    assert "total_tax" not in read


def test_what_was_handed_over_is_not_the_total() -> None:
    """Whatever the amounts: the total is the one that cash and change leave."""
    chance = random.Random(7)  # noqa: S311 - figures, no secret
    for _ in range(30):
        cents = chance.randint(20, 1990) * 5
        due, paid = cents / 100, (cents // 1000 + 1) * 10
        layout = (
            "CORNER CAFE\n4 Quay Street\nBristol BS1 4AA\nDate 01/02/2023 10:04\nTill 3\nCoffee and cake  "
            f"{due:.2f}\nTotal  {due:.2f}\nCash  {paid:.2f}\nChange  {paid - due:.2f}\nThank you"
        )
        assert _read(layout)["total_gross"] == f"{due:.2f}"


def test_a_date_until_which_something_is_valid_is_not_the_day_of_the_sale() -> None:
    layout = RECEIPT.replace("TEL: 03-1234 5678", "MEMBER CARD VALID UNTIL DATE 31/12/2017 10:00")
    assert _read(layout)["issue_date"] == "2017-08-14"


def test_an_invoice_on_a_sheet_is_no_receipt() -> None:
    assert not receipts.is_receipt(rows(document(ENGLISH_INVOICE)))
    assert receipts.is_receipt(rows(document(RECEIPT)))


def test_narrow_paper_is_a_receipt_in_any_words() -> None:
    foreign = "\n".join(["Pekara Golub", "Ulica 4", *(f"Kruh {number}     2,50" for number in range(9))])
    assert receipts.is_receipt(rows(document(foreign)))


def test_an_amount_that_touches_its_currency_is_read() -> None:
    assert _read("Receipt no: 4471\nDate: 2023-02-01\nTotal RM3.50")["total_gross"] == "3.50"


def test_an_owner_below_the_name_of_the_shop_is_not_sure() -> None:
    """The company that stands further down may own the shop whose name stands above it."""
    assert _sure("KEDAI ROTI MERPATI SDN BHD", RECEIPT)
    assert not _sure("KEDAI ROTI MERPATI SDN BHD", "WELCOME TO THE BIRDS\n" + RECEIPT)


def test_a_name_in_the_first_row_needs_a_legal_form_or_a_trade() -> None:
    assert _sure("MERPATI TRADING", RECEIPT.replace("KEDAI ROTI MERPATI SDN BHD", "MERPATI TRADING"))
    assert not _sure("MERPATI BIRU", RECEIPT.replace("KEDAI ROTI MERPATI SDN BHD", "MERPATI BIRU"))


def _sure(name: str, layout: str) -> bool:
    found = handler.extract(document(layout)).fields["seller_name"][0]
    assert found.value == name
    return found.confidence >= 0.9


@pytest.mark.parametrize(
    ("foot", "is_sure"),
    [
        ("Total  20.00\nCash  50.00\nChange  30.00", True),
        ("Total  33.00\nDiscount  13.00\nGrand total  20.00\nCash  50.00\nChange  30.00", False),
        ("Total  20.02\nRounding  -0.02\nTo pay  20.00\nCash  50.00\nChange  30.00", False),
        ("Total  20.00\nCash  20.00\nChange  0.00", True),
    ],
    ids=["paid", "less a discount", "rounded", "paid exactly"],
)
def test_a_total_beside_another_total_is_not_sure_even_if_it_was_paid(foot: str, is_sure: bool) -> None:
    layout = "CORNER CAFE\n4 Quay Street\nBristol BS1 4AA\nDate 01/02/2023 10:04\nTill 3\n" + foot + "\nThank you"
    found = handler.extract(document(layout)).fields["total_gross"][0]
    assert found.value == "20.00"
    assert (found.confidence >= 0.9) is is_sure


def test_a_payment_halves_the_doubt_about_a_total() -> None:
    printed = rows(document("Corner Cafe\nTea  2.00\nCake  18.00\nAmount  20.00\nCash  50.00\nChange  30.00"))
    found, chosen = (
        ranking.best(totals(printed, comma=False), ranking.weights("total")),
        receipts.total(printed, comma=False),
    )
    assert found is not None
    assert chosen is not None
    assert found[1] < chosen.confidence == pytest.approx(min(receipts.SURE, (1 + found[1]) / 2))


def test_probabilities_make_one_and_the_first_of_equals_wins() -> None:
    listed = [("a", {"x": 1.0}), ("b", {"x": 1.0}), ("c", {"y": 1.0})]
    found = ranking.best(listed, {"x": 2.0})
    assert found is not None
    assert found[0] == "a"
    assert sum(ranking.probabilities([features for _, features in listed], {"x": 2.0})) == pytest.approx(1.0)
    assert ranking.best([], {"x": 2.0}) is None


def test_every_weight_is_of_a_feature_that_receipts_have() -> None:
    printed = rows(document(RECEIPT))
    made = {"merchant": merchants(printed), "address": addresses(printed), "total": totals(printed, comma=False)}
    for ranker, candidates in made.items():
        assert len(ranking.weights(ranker)) > 20
        assert {name for _, features in candidates for name in features} & set(ranking.weights(ranker))

"""Invoices of six layouts in six languages, drawn as PDF: every field right, every item and every row of taxes."""

from __future__ import annotations

from decimal import Decimal

import pytest

from handlers.invoice import handler
from pipeline.reading import amounts
from pipeline.reading.invoices import items, taxes
from pipeline.reading.rows import Row, rows
from tests.handlers.drawn_invoices import LAYOUTS, Drawn, drawn
from tests.handlers.pages import document

LANGUAGES = ("en", "de", "fr", "nl", "es", "it")
each_invoice = pytest.mark.parametrize(
    "invoice",
    [pytest.param((layout, language), id=f"{layout}-{language}") for layout in LAYOUTS for language in LANGUAGES],
)
SEEDS = range(3)


def _rows(invoice: Drawn) -> tuple[tuple[Row, ...], bool]:
    printed = rows(invoice.document)
    return printed, amounts.decimal_comma([row.text for row in printed])


@each_invoice
def test_every_field_of_a_drawn_invoice_is_right(invoice: tuple[str, str]) -> None:
    for seed in SEEDS:
        made = drawn(*invoice, seed)
        read = {name: several[0].value for name, several in handler.extract(made.document).fields.items()}
        wrong = {name: (value, read.get(name)) for name, value in made.fields.items() if read.get(name) != value}
        assert wrong == {}, made.document.pages[0].layout


@each_invoice
def test_every_item_is_read_and_they_add_up(invoice: tuple[str, str]) -> None:
    for seed in SEEDS:
        made = drawn(*invoice, seed)
        printed, comma = _rows(made)
        found = items.find_items(printed, comma=comma)
        read = [(each.description, each.amount) for each in found.items]
        assert read == [(name, amount) for name, _, _, amount in made.items], made.document.pages[0].layout
        for item, (_, quantity, price, _) in zip(found.items, made.items, strict=True):
            assert item.quantity is not None
            assert item.unit_price is not None
            assert {item.quantity, item.unit_price} == {quantity, price}
        assert found.adds_up(Decimal(made.fields["total_net"]))


@each_invoice
def test_every_row_of_taxes_is_read_and_makes_the_totals(invoice: tuple[str, str]) -> None:
    for seed in SEEDS:
        made = drawn(*invoice, seed)
        printed, comma = _rows(made)
        listed = [each.row for each in items.find_items(printed, comma=comma).items]
        found = taxes.find_taxes(printed, comma=comma, listed=listed)
        assert {(each.rate, each.base, each.tax) for each in found} == set(made.taxes), made.document.pages[0].layout
        assert taxes.add_up(found, Decimal(made.fields["total_net"]), Decimal(made.fields["total_tax"]))


def test_a_list_with_a_row_that_was_not_understood_never_adds_up() -> None:
    """The other rows may make the net total by chance: without that row nothing is said."""
    layout = """
    Description          Qty     Unit price     Amount
    Oak panel              2         10.00       20.00
    7731-4                 9                     36.00
    Subtotal                                     20.00
    """
    printed = rows(document(layout))
    found = items.find_items(printed, comma=False)
    assert [each.amount for each in found.items] == [Decimal("20.00")]
    assert found.dropped == 1
    assert found.adds_up(Decimal("20.00")) is None


@each_invoice
def test_lines_and_rows_of_taxes_are_groups_with_the_names_of_an_electronic_invoice(invoice: tuple[str, str]) -> None:
    made = drawn(*invoice, 0)
    extraction = handler.extract(made.document)
    lines = [each.fields for each in extraction.groups if each.name == "lines"]
    rates = [each.fields for each in extraction.groups if each.name == "taxes"]
    assert [(line["name"].value, Decimal(line["net_amount"].value)) for line in lines] == [
        (name, amount) for name, _, _, amount in made.items
    ]
    assert {
        (Decimal(row["tax_rate"].value), Decimal(row["taxable_amount"].value), Decimal(row["tax_amount"].value))
        for row in rates
    } == set(made.taxes)
    for cell in (each for group in extraction.groups for each in group.fields.values()):
        assert (cell.page, cell.method) == (1, "label")
        assert cell.confidence >= 0.95
        assert cell.snippet


def test_lines_that_do_not_make_the_total_are_given_and_doubted() -> None:
    layout = """
    Description          Qty     Unit price     Amount
    Oak panel              2         10.00       20.00
    Brass hinge            1          5.00        5.00
    Net total                                    40.00
    VAT                                           8.00
    Total                                        48.00
    """
    extraction = handler.extract(document(layout))
    lines = [each.fields for each in extraction.groups if each.name == "lines"]
    assert [line["net_amount"].value for line in lines] == ["20.00", "5.00"]
    assert all(line["net_amount"].confidence < 0.5 for line in lines)
    assert "items_add_up" not in extraction.checks

"""Each rule says no where it is broken and yes where it is kept, and names the values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pipeline.einvoices import checks, reading
from pipeline.einvoices.checks import Check, rounded
from tests.einvoices import building
from tests.einvoices.building import facts


def broken(text: str) -> set[str]:
    (invoice,) = reading.read(text.encode())
    return {each.rule for each in checks.check(invoice) if not each.passed}


def found(text: str, rule: str) -> Check:
    (invoice,) = reading.read(text.encode())
    return next(each for each in checks.check(invoice) if each.rule == rule)


def test_rules_are_found_by_themselves_each_id_once() -> None:
    ids = [rule.id for rule in checks.discover()]
    assert len(ids) == len(set(ids)) > 150
    assert all(rule.severity in ("fatal", "warning") and rule.scope for rule in checks.discover())


@pytest.mark.parametrize("write", [building.ubl, building.cii, building.zugferd1, building.fatturapa])
def test_a_right_invoice_breaks_no_rule(write: type[str]) -> None:
    assert broken(write(facts())) == set()


@pytest.mark.parametrize(
    ("others", "rules"),
    [
        ({"lines": "299.99"}, {"BR-CO-10", "BR-CO-13"}),
        ({"gross": "358.00", "due": "358.00"}, {"BR-CO-15"}),
        ({"due": "356.99"}, {"BR-CO-16"}),
        ({"tax": "59.00", "gross": "359.00", "due": "359.00"}, {"BR-CO-17", "BR-S-09"}),
        ({"rate": "0"}, {"BR-CO-17", "BR-S-05", "BR-S-09"}),
        ({"number": ""}, {"BR-02"}),
        ({"seller": ""}, {"BR-06"}),
        ({"issued": ""}, {"BR-03"}),
        ({"iban": "DE03120300000000202051"}, {"DL-IBAN"}),
        ({"iban": ""}, {"BR-50", "BR-61"}),
        ({"specification": ""}, {"BR-01"}),
        ({"first": "-100.00", "lines": "100.00"}, {"BR-27", "BR-S-08", "BR-CO-13"}),
        ({"due": "357.000"}, {"BR-DEC-18"}),
    ],
)
@pytest.mark.parametrize("write", [building.ubl, building.cii])
def test_what_is_broken_is_named_and_nothing_else(write: type[str], others: dict[str, str], rules: set[str]) -> None:
    assert broken(write(facts(**others))) == rules


def test_a_category_without_its_reason_or_its_buyer_is_named() -> None:
    free = facts(category="AE", rate="0", tax="0.00", gross="300.00", due="300.00")
    assert broken(building.ubl(free)) == {"BR-AE-02", "BR-AE-10"}
    assert broken(building.cii(free)) == {"BR-AE-02", "BR-AE-10"}


def test_a_line_without_category_is_named() -> None:
    assert {"BR-CO-04", "BR-S-01"} <= broken(building.ubl(facts(), line_tax=False))


def test_a_row_of_the_breakdown_without_its_tax_is_named() -> None:
    row = "<cbc:TaxAmount>57.00</cbc:TaxAmount>"
    assert broken(building.ubl(facts()).replace(row, "", 1)) == {"BR-46", "BR-CO-14", "BR-CO-17", "BR-S-09"}
    assert broken(building.cii(facts()).replace("<CalculatedAmount>57.00</CalculatedAmount>", "", 1)) == {
        *("BR-46", "BR-CO-14", "BR-CO-17", "BR-S-09")
    }


def test_a_total_of_tax_without_a_breakdown_is_named() -> None:
    text = building.cii(facts())
    start = text.index("<ApplicableTradeTax><CalculatedAmount>")
    end = text.index("<SpecifiedTradePaymentTerms>")
    assert {"BR-CO-14", "BR-CO-18"} <= broken(text[:start] + text[end:])


def test_a_seller_that_nobody_can_identify_is_named_also_in_the_least_profile() -> None:
    least = facts(specification="urn:factur-x.eu:1p0:minimum")
    assert broken(building.cii(least)) == set()
    text = building.cii(least).replace(f'<ID schemeID="VA">{building.VAT}</ID>', "")
    assert broken(text) == {"BR-CO-26"}


def test_an_account_that_is_debited_has_its_check_digits_right() -> None:
    wrong = (
        f"<PayerPartyDebtorFinancialAccount><IBANID>DE03{building.IBAN[4:]}</IBANID></PayerPartyDebtorFinancialAccount>"
    )
    mark = "<PayeePartyCreditorFinancialAccount>"
    assert broken(building.cii(facts()).replace(mark, wrong + mark)) == {"DL-IBAN"}


def test_the_message_names_the_values() -> None:
    check = found(building.ubl(facts(gross="358.00")), "BR-CO-15")
    assert "358.00" in check.message
    assert "357" in check.message
    assert found(building.ubl(facts()), "BR-CO-15").passed


def test_older_and_national_formats_are_judged_by_arithmetic_alone() -> None:
    for write in (building.zugferd1, building.fatturapa):
        assert not any(rule.startswith("BR-") for rule in broken(write(facts(number="", seller=""))))
    assert broken(building.zugferd1(facts(gross="358.00", due="358.00"))) == {"DL-SUM-GROSS"}
    assert broken(building.fatturapa(facts(tax="60.00"))) == {"DL-RATE"}


def test_rounding_is_half_up_as_xpath_has_it() -> None:
    assert [rounded(Decimal(each)) for each in ("1.005", "-1.005", "1.004", "-1.006")] == [
        Decimal(each) for each in ("1.01", "-1.00", "1.00", "-1.01")
    ]

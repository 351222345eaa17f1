"""Invoices in combinations of letterhead, facts and totals, in eight countries: every field right."""

from __future__ import annotations

import pytest

from handlers.invoice import handler
from tests.handlers.varied_invoices import COMBINATIONS, COUNTRIES, varied


@pytest.mark.parametrize("country", COUNTRIES)
def test_every_field_is_right_however_an_invoice_is_laid_out(country: str) -> None:
    wrong = []
    for head, facts, sums in COMBINATIONS[COUNTRIES.index(country) % 3 :: 3]:
        made, fields = varied(country, head, facts, sums, 0)
        read = {name: several[0].value for name, several in handler.extract(made).fields.items()}
        wrong += [
            (head, facts, sums, name, value, read.get(name))
            for name, value in fields.items()
            if read.get(name) != value
        ]
    assert wrong == []

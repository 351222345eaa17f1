"""Rules of our own, DL-…: sums for what is not bound by the norm, and check digits."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from stdnum.exceptions import ValidationError
from stdnum.util import get_cc_module

from pipeline.einvoices.checks import ALL, OTHERS, Found, Rule, total
from pipeline.einvoices.model import Invoice, Party, Profile
from pipeline.reading.identifiers import valid_iban

_CENT = Decimal("0.01")


def dl_sum_lines(invoice: Invoice) -> Found:
    """The lines less allowances plus charges are the net total. FatturaPA's summary has more than lines."""
    charges = total((each.amount or Decimal()) * (1 if each.charge else -1) for each in invoice.allowances)
    nets = [line.net for line in invoice.lines]
    if nets and None not in nets and invoice.totals.lines is not None and invoice.totals.net is not None:
        computed = total((invoice.totals.lines, charges))
        yield abs(computed - invoice.totals.net) <= _CENT, f"net {invoice.totals.net} stated, lines {computed}"


def dl_sum_tax(invoice: Invoice) -> Found:
    """The taxes of the breakdown are the total of tax."""
    taxes = [row.tax for row in invoice.taxes]
    if taxes and None not in taxes and invoice.totals.tax is not None:
        yield abs(total(taxes) - invoice.totals.tax) <= _CENT, f"tax {invoice.totals.tax} stated, rows {total(taxes)}"


def dl_sum_gross(invoice: Invoice) -> Found:
    """Net plus tax is gross. FatturaPA adds stamps, funds and deductions, which nobody has to list."""
    sums = invoice.totals
    if sums.net is not None and sums.tax is not None and sums.gross is not None:
        computed = total((sums.net, sums.tax))
        yield abs(computed - sums.gross) <= _CENT, f"gross {sums.gross} stated, net plus tax {computed}"


def dl_sum_due(invoice: Invoice) -> Found:
    """Gross less what was paid is due."""
    sums = invoice.totals
    if sums.gross is not None and sums.due is not None:
        computed = total((sums.gross, -(sums.paid or Decimal()), sums.rounding))
        yield abs(computed - sums.due) <= _CENT, f"due {sums.due} stated, gross less paid {computed}"


def dl_rate(invoice: Invoice) -> Found:
    """Base times rate is the tax of a row, within a cent for each of its lines."""
    leeway = _CENT * max(1, len(invoice.lines))
    for row in invoice.taxes:
        if row.base is not None and row.tax is not None and row.rate is not None:
            computed = row.base * row.rate / 100
            yield abs(computed - row.tax) <= leeway, f"{row.rate} % of {row.base}: {row.tax} stated"


def dl_iban(invoice: Invoice) -> Found:
    """An account number that looks like an IBAN has its check digits right."""
    debited = (each.debited for each in invoice.payments)
    for number in (*(account.iban for account in invoice.accounts), *debited):
        iban = "".join((number or "").split()).upper()
        if 15 <= len(iban) <= 34 and iban[:2].isalpha() and iban[2:4].isdigit() and iban.isascii() and iban.isalnum():
            yield valid_iban(iban), f"IBAN {iban}"


def _vat(party: Callable[[Invoice], Party]) -> Callable[[Invoice], Found]:
    def look(invoice: Invoice) -> Found:
        number = "".join((party(invoice).vat_id or "").split()).upper()[:30]
        country = "GR" if number.startswith("EL") else number[:2]
        module = get_cc_module(country.lower(), "vat") if country.isascii() and country.isalpha() else None
        if module is not None and len(number) > 4:
            yield _valid(module.validate, number), f"VAT identifier {number}"

    return look


def _valid(validate: Callable[[str], str], number: str) -> bool:
    try:
        validate(number)
    except ValidationError:
        return False
    return True


_SUMMED = OTHERS - {Profile.FATTURAPA}

rules: tuple[Rule, ...] = (
    Rule("DL-SUM-LINES", frozenset({Profile.ZUGFERD1}), dl_sum_lines),
    Rule("DL-SUM-TAX", OTHERS, dl_sum_tax),
    Rule("DL-SUM-GROSS", _SUMMED, dl_sum_gross),
    Rule("DL-SUM-DUE", _SUMMED - {Profile.MINIMUM}, dl_sum_due),
    Rule("DL-RATE", frozenset({Profile.ZUGFERD1, Profile.FATTURAPA}), dl_rate),
    Rule("DL-IBAN", ALL, dl_iban, "warning"),
    Rule("DL-VAT-SELLER", ALL, _vat(lambda invoice: invoice.seller), "warning"),
    Rule("DL-VAT-BUYER", ALL, _vat(lambda invoice: invoice.buyer), "warning"),
)

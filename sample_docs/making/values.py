"""What an invoice says, as values: the same values are printed on the page and written to expected.json."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

_CENT = Decimal("0.01")
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def cents(amount: Decimal) -> Decimal:
    """Rounded to two places, half up, as a merchant does."""
    return amount.quantize(_CENT, ROUND_HALF_UP)


def english_amount(amount: Decimal) -> str:
    """1,234.50"""
    return f"{amount:,.2f}"


def german_amount(amount: Decimal) -> str:
    """1.234,50"""
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


def french_amount(amount: Decimal) -> str:
    """1 234,50"""
    return f"{amount:,.2f}".translate(str.maketrans(",.", " ,"))


def british_date(day: date) -> str:
    """9 March 2026"""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def american_date(day: date) -> str:
    """March 9, 2026"""
    return f"{_MONTHS[day.month - 1]} {day.day}, {day.year}"


def short_date(day: date) -> str:
    """09 Mar 2026"""
    return f"{day.day:02} {_MONTHS[day.month - 1][:3]} {day.year}"


def german_date(day: date) -> str:
    """09.03.2026"""
    return f"{day:%d.%m.%Y}"


def german_iban(bank_code: str, account: str) -> str:
    """The IBAN of an account, in groups of four, with the check digits that ISO 7064 (mod 97-10) asks for."""
    basic = bank_code + account.zfill(10)
    check = 98 - int(basic + "131400") % 97  # D = 13, E = 14, then the place of the check digits
    plain = f"DE{check:02}{basic}"
    return " ".join(plain[start : start + 4] for start in range(0, len(plain), 4))


def french_date(day: date) -> str:
    """09/03/2026"""
    return f"{day:%d/%m/%Y}"


def french_iban(bank_code: str, branch: str, account: str) -> str:
    """The same with France's own check digits before those of the IBAN."""
    key = 97 - (89 * int(bank_code) + 15 * int(branch) + 3 * int(account)) % 97
    basic = f"{bank_code}{branch}{account.zfill(11)}{key:02}"
    check = 98 - int(basic + "152700") % 97  # F = 15, R = 27
    plain = f"FR{check:02}{basic}"
    return " ".join(plain[start : start + 4] for start in range(0, len(plain), 4))


@dataclass(frozen=True, slots=True)
class Company:
    """Somebody who sends or gets an invoice. `address` is a line each; `tax_id` may be empty."""

    name: str
    address: tuple[str, ...]
    tax_id: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an invoice."""

    description: str
    quantity: Decimal
    unit: str
    price: Decimal

    @property
    def amount(self) -> Decimal:
        """Quantity times price, in cents."""
        return cents(self.quantity * self.price)


@dataclass(frozen=True, slots=True)
class Invoice:
    """An invoice with one rate of tax. `tax_percent` is in percent; `money` and `day` print as its country does.

    `currency` is the ISO code, `sign` what is printed for it.
    """

    number: str
    issued: date
    due: date
    currency: str
    sign: str
    seller: Company
    buyer: Company
    tax_percent: Decimal
    lines: tuple[Line, ...]
    money: Callable[[Decimal], str]
    day: Callable[[date], str]
    iban: str = ""

    @property
    def net(self) -> Decimal:
        """The sum of the lines."""
        return sum((line.amount for line in self.lines), Decimal(0))

    @property
    def tax(self) -> Decimal:
        """The tax on the net amount, in cents."""
        return cents(self.net * self.tax_percent / 100)

    @property
    def gross(self) -> Decimal:
        """What is to be paid."""
        return self.net + self.tax


@dataclass(frozen=True, slots=True)
class Order:
    """What an invoice as XML says besides: the number (Leitweg-ID) and mail address of who ordered, and whom to ask.

    `contact` is a name, a telephone number and a mail address of the seller.
    """

    buyer_reference: str
    buyer_mail: str
    contact: tuple[str, str, str]

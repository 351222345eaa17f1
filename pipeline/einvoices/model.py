"""One invoice in the business terms of EN 16931, whatever syntax it was written in.

Every value is as the sender wrote it: amounts as exact decimals, dates as dates, texts with white space folded. None
is "not given". What could not be understood is None too, and stands raw in `Invoice.unread`.
"""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal


class Profile(enum.StrEnum):
    """How much of the norm an invoice claims to keep, by its specification identifier (BT-24)."""

    EN16931 = "en16931"
    XRECHNUNG = "xrechnung"
    PEPPOL = "peppol"
    BASIC = "basic"
    EXTENDED = "extended"  # more than the norm: some of its rules are relaxed
    BASIC_WL = "basic_wl"  # without lines
    MINIMUM = "minimum"  # totals only
    ZUGFERD1 = "zugferd1"  # older than the norm
    FATTURAPA = "fatturapa"  # Italy's own
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier (`value`) and the list it is from (`scheme`), when one is named."""

    value: str
    scheme: str | None = None


@dataclass(frozen=True, slots=True)
class Address:
    """BG-5, BG-8, BG-12, BG-15: `lines` BT-35/36/162, `city` BT-37, `postcode` BT-38, `region` BT-39, `country` BT-40.

    Those are the seller's; the terms of the buyer, of the tax representative and of the delivery correspond.
    """

    lines: tuple[str, ...] = ()
    city: str | None = None
    postcode: str | None = None
    region: str | None = None
    country: str | None = None


@dataclass(frozen=True, slots=True)
class Party:
    """BG-4 seller, BG-7 buyer, BG-10 payee, BG-11 tax representative; the seller's terms are named here.

    `name` BT-27 (BT-44, BT-59, BT-62), `trade_name` BT-28, `ids` BT-29, `legal_id` BT-30, `vat_id` BT-31, `tax_id`
    BT-32, `legal_form` BT-33, `endpoint` BT-34, `contact` BT-41, `phone` BT-42, `email` BT-43.
    """

    name: str | None = None
    trade_name: str | None = None
    ids: tuple[Identifier, ...] = ()
    legal_id: Identifier | None = None
    vat_id: str | None = None
    tax_id: str | None = None
    legal_form: str | None = None
    endpoint: Identifier | None = None
    contact: str | None = None
    phone: str | None = None
    email: str | None = None
    address: Address | None = None


@dataclass(frozen=True, slots=True)
class Period:
    """BG-14, BG-26: `start` BT-73 (BT-134), `end` BT-74 (BT-135); either may be missing."""

    start: dt.date | None = None
    end: dt.date | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """BG-13: `name` BT-70, `location` BT-71, `date` BT-72, `address` BG-15."""

    name: str | None = None
    location: Identifier | None = None
    date: dt.date | None = None
    address: Address | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """BG-17: `iban` BT-84 (an account number that is no IBAN stands here too), `name` BT-85, `bic` BT-86."""

    iban: str | None = None
    name: str | None = None
    bic: str | None = None


@dataclass(frozen=True, slots=True)
class PaymentMeans:
    """BG-16: `code` BT-81, `text` BT-82, `remittance` BT-83, `accounts` BG-17, `card` BT-87, `card_holder` BT-88.

    Direct debit, BG-19: `mandate` BT-89, `creditor` BT-90, `debited` BT-91. `stated` is False when there is no such
    group and the reference stands outside, as CII allows.
    """

    code: str | None = None
    text: str | None = None
    remittance: str | None = None
    accounts: tuple[Account, ...] = ()
    card: str | None = None
    card_holder: str | None = None
    mandate: str | None = None
    creditor: str | None = None
    debited: str | None = None
    stated: bool = True


@dataclass(frozen=True, slots=True)
class AllowanceCharge:
    """BG-20 and BG-27 (allowance), BG-21 and BG-28 (charge); the terms of BG-20 are named here.

    `amount` BT-92, `base` BT-93, `percent` BT-94, `category` BT-95, `rate` BT-96, `reason` BT-97, `reason_code` BT-98.
    """

    charge: bool
    amount: Decimal | None = None
    base: Decimal | None = None
    percent: Decimal | None = None
    category: str | None = None
    rate: Decimal | None = None
    reason: str | None = None
    reason_code: str | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """BG-22: `lines` BT-106, `allowances` BT-107, `charges` BT-108, `net` BT-109, `tax` BT-110, `gross` BT-112.

    `tax_accounting` BT-111 is the tax in the currency of accounting; `paid` BT-113, `rounding` BT-114, `due` BT-115.
    """

    lines: Decimal | None = None
    allowances: Decimal | None = None
    charges: Decimal | None = None
    net: Decimal | None = None
    tax: Decimal | None = None
    tax_accounting: Decimal | None = None
    gross: Decimal | None = None
    paid: Decimal | None = None
    rounding: Decimal | None = None
    due: Decimal | None = None


@dataclass(frozen=True, slots=True)
class TaxRow:
    """BG-23: `base` BT-116, `tax` BT-117, `category` BT-118, `rate` BT-119, `reason` BT-120, `reason_code` BT-121.

    `place` is the path of its element.
    """

    base: Decimal | None = None
    tax: Decimal | None = None
    category: str | None = None
    rate: Decimal | None = None
    reason: str | None = None
    reason_code: str | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Preceding:
    """BG-3: `number` BT-25, `date` BT-26."""

    number: str | None = None
    date: dt.date | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """BG-1: `subject` BT-21, `text` BT-22."""

    text: str
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Supporting:
    """BG-24: `reference` BT-122, `description` BT-123, `location` BT-124; `filename` of BT-125, the attachment."""

    reference: str | None = None
    description: str | None = None
    location: str | None = None
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """BG-31: `name` BT-153, `description` BT-154, `seller_id` BT-155, `buyer_id` BT-156, `standard_id` BT-157.

    `classes` BT-158, `country` BT-159, `attributes` BG-32: name BT-160 and value BT-161.
    """

    name: str | None = None
    description: str | None = None
    seller_id: str | None = None
    buyer_id: str | None = None
    standard_id: Identifier | None = None
    classes: tuple[Identifier, ...] = ()
    country: str | None = None
    attributes: tuple[tuple[str | None, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """BG-25: `number` BT-126, `note` BT-127, `quantity` BT-129, `unit` BT-130, `net` BT-131, `order_line` BT-132.

    `accounting` BT-133, `price` BT-146, `discount` BT-147, `gross_price` BT-148, `price_base` BT-149, `category`
    BT-151, `rate` BT-152. `place` is the path of its element.
    """

    number: str | None = None
    note: str | None = None
    quantity: Decimal | None = None
    unit: str | None = None
    net: Decimal | None = None
    order_line: str | None = None
    accounting: str | None = None
    period: Period | None = None
    allowances: tuple[AllowanceCharge, ...] = ()
    price: Decimal | None = None
    discount: Decimal | None = None
    gross_price: Decimal | None = None
    price_base: Decimal | None = None
    category: str | None = None
    rate: Decimal | None = None
    item: Item = Item()
    place: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """A value that is there but cannot be understood, an amount "1.234,50" for example."""

    term: str
    raw: str
    place: str
    problem: str


@dataclass(frozen=True, slots=True)
class References:
    """`buyer` BT-10, `project` BT-11, `contract` BT-12, `purchase_order` BT-13, `sales_order` BT-14, `receiving` BT-15.

    `despatch` BT-16, `tender` BT-17, `object` BT-18, `accounting` BT-19.
    """

    buyer: str | None = None
    project: str | None = None
    contract: str | None = None
    purchase_order: str | None = None
    sales_order: str | None = None
    receiving: str | None = None
    despatch: str | None = None
    tender: str | None = None
    object: str | None = None
    accounting: str | None = None


@dataclass(frozen=True, slots=True)
class Invoice:
    """An invoice or credit note.

    `number` BT-1, `issue_date` BT-2, `type_code` BT-3, `currency` BT-5, `tax_currency` BT-6, `tax_point` BT-7,
    `tax_point_code` BT-8, `due_date` BT-9, `payment_terms` BT-20, `process` BT-23, `specification` BT-24. `places`
    maps the terms that occur once to the paths of their elements. `tax_totals` counts the totals of tax that are in
    the invoice's currency.
    """

    syntax: str
    profile: Profile
    specification: str | None = None
    process: str | None = None
    number: str | None = None
    issue_date: dt.date | None = None
    type_code: str | None = None
    currency: str | None = None
    tax_currency: str | None = None
    tax_point: dt.date | None = None
    tax_point_code: str | None = None
    due_date: dt.date | None = None
    payment_terms: str | None = None
    references: References = References()
    notes: tuple[Note, ...] = ()
    preceding: tuple[Preceding, ...] = ()
    seller: Party = Party()
    buyer: Party = Party()
    payee: Party | None = None
    representative: Party | None = None
    delivery: Delivery | None = None
    period: Period | None = None
    payments: tuple[PaymentMeans, ...] = ()
    allowances: tuple[AllowanceCharge, ...] = ()
    totals: Totals = Totals()
    tax_totals: int = 0
    taxes: tuple[TaxRow, ...] = ()
    supporting: tuple[Supporting, ...] = ()
    lines: tuple[Line, ...] = ()
    unread: tuple[Unread, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def accounts(self) -> tuple[Account, ...]:
        """The accounts of all means of payment, in order."""
        return tuple(account for means in self.payments for account in means.accounts)

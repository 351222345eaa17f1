"""What a rule is, how rules are found, and the check that each makes of an invoice.

A rule looks at every place that it is about and says of each whether it holds, with the values found there. A rule
without such a place makes no check. Rounding is that of the official schematron: half up, to two decimals.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal

from pipeline.einvoices.model import Invoice, Profile

Found = Iterator[tuple[bool, str]]
FULL = frozenset({Profile.EN16931, Profile.XRECHNUNG, Profile.PEPPOL, Profile.BASIC, Profile.UNKNOWN})
LINES = FULL | {Profile.EXTENDED}
HEADER = LINES | {Profile.BASIC_WL}
TOTALS = HEADER | {Profile.MINIMUM}
OTHERS = frozenset({Profile.ZUGFERD1, Profile.FATTURAPA, Profile.MINIMUM, Profile.EXTENDED})
ALL = frozenset(Profile)
_EXACT = Context(prec=60)  # exact for sums of 18 digits before and after the point
_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by its id, the profiles it holds for, and the function that looks; `severity` is fatal or warning."""

    id: str
    scope: frozenset[Profile]
    look: Callable[[Invoice], Found]
    severity: str = "fatal"


@dataclass(frozen=True, slots=True)
class Check:
    """What a rule found: `message` names the values, of the first place that breaks the rule or of the first."""

    rule: str
    passed: bool
    severity: str
    message: str


def check(invoice: Invoice) -> list[Check]:
    """The checks of all rules that apply to the invoice, in the order of the rules' modules. Never raises."""
    return [
        made
        for rule in discover()
        if invoice.profile in rule.scope and (made := _made(rule, rule.look(invoice))) is not None
    ]


@functools.cache
def discover() -> tuple[Rule, ...]:
    """Every rule of the package `rules`. A module without `rules` is an error, named."""
    package = importlib.import_module("pipeline.einvoices.rules")
    modules = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(rule for name in modules for rule in importlib.import_module(f"{package.__name__}.{name}").rules)


def rounded(value: Decimal) -> Decimal:
    """To two decimals, half up, also below zero: -1.005 is -1.00."""
    cents = _EXACT.add(_EXACT.multiply(value, Decimal(100)), Decimal("0.5"))
    return _EXACT.divide(cents.to_integral_value(ROUND_FLOOR), Decimal(100))


def total(values: Iterable[Decimal | None]) -> Decimal:
    """The exact sum, None counted as nothing."""
    result = Decimal()
    for value in values:
        result = _EXACT.add(result, value or Decimal())
    return result


def times(one: Decimal, other: Decimal) -> Decimal:
    """The exact product."""
    return _EXACT.multiply(one, other)


def _made(rule: Rule, found: Found) -> Check | None:
    first: str | None = None
    for passed, message in found:
        if not passed:
            return Check(rule.id, False, rule.severity, message[:_MESSAGE])
        first = message if first is None else first
    return None if first is None else Check(rule.id, True, rule.severity, first[:_MESSAGE])

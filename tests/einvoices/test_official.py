"""Our verdicts are those of the official schematron, where that is installed."""

from __future__ import annotations

import pytest

from pipeline.einvoices import checks, official, reading
from pipeline.errors import UsageProblem
from tests.einvoices import building
from tests.einvoices.building import facts

needs_the_extra = pytest.mark.skipif(
    not official.installed(), reason='the official rules are not installed: pip install "doclease[validate]"'
)
OTHERS: tuple[dict[str, str], ...] = (
    {},
    {"lines": "299.99"},
    {"gross": "358.00", "due": "358.00"},
    {"due": "356.99"},
    {"tax": "59.00", "gross": "359.00", "due": "359.00"},
    {"rate": "0"},
    {"number": ""},
    {"first": "-100.00", "lines": "100.00"},
    {"category": "AE", "rate": "0", "tax": "0.00", "gross": "300.00", "due": "300.00"},
)


@needs_the_extra
def test_our_verdicts_are_the_official_ones() -> None:
    validator = official.Validator()
    ids = {rule.id for rule in checks.discover() if rule.severity == "fatal"}
    for write in (building.ubl, building.cii):
        for others in OTHERS:
            content = write(facts(**others)).encode()
            (invoice,) = reading.read(content)
            ours = {each.rule for each in checks.check(invoice) if not each.passed} & ids
            assert validator.broken(content, invoice) & ids == ours, (write.__name__, others)


@pytest.mark.skipif(official.installed(), reason="the official rules are installed")
def test_without_the_extra_it_is_said_how_to_get_it() -> None:
    with pytest.raises(UsageProblem, match=r"doclease\[validate\]"):
        official.Validator()

"""A shop whose inbox is quick to judge, and commands typed in its folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import doclease as doclease  # noqa: PLC0414 - a fixture, told to be meant for others
from tests.worker.shop import Shop


@pytest.fixture
def shop(open_for_business: Callable[..., Shop]) -> Shop:
    """A shop with quick settings."""
    return open_for_business(inbox={"quiet_for_seconds": 0.1})


@pytest.fixture
def home(shop: Shop) -> Path:
    """Where commands are typed."""
    return shop.home

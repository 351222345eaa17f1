"""A shop on the session's database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, Engine

from tests.worker.shop import Shop, open_shop


@pytest.fixture
def open_for_business(engine: Engine, database_url: URL, tmp_path: Path) -> Iterator[Callable[..., Shop]]:
    """Opens a shop with settings of its own."""
    with ExitStack() as stack:

        def build(**config: Mapping[str, Any]) -> Shop:
            return stack.enter_context(open_shop(tmp_path, database_url, engine, **config))

        yield build


@pytest.fixture
def shop(open_for_business: Callable[..., Shop]) -> Shop:
    """A shop with quick settings."""
    return open_for_business()

"""An installation with its roles, and logins that have some of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from pipeline import database
from tests import postgres
from tests.installations import configure, engine_in, login, run

SCHEMA = "guarded"
LogIn = Callable[..., Engine]


@pytest.fixture(scope="session")
def guarded(server: URL) -> Iterator[Engine]:
    """The owner's engine on an installation with roles."""
    engine = engine_in(postgres.create_database(server, f"roles_{os.getpid()}"), SCHEMA)
    database.upgrade(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def owner(guarded: Engine) -> Engine:
    """The same, without rows."""
    for table in ("pages", "attachments", "arrivals", "attempts", "tasks", "documents", "inbox_scans", "lease_rates"):
        run(guarded, f"DELETE FROM {table}")
    return guarded


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder for commands."""
    for folder in ("inbox", "processed"):
        (tmp_path / folder).mkdir()
    return tmp_path


class Desk:
    """A folder whose commands run as one login after the other."""

    def __init__(self, home: Path, owner: Engine) -> None:
        self.home = home
        self._owner = owner

    def become(self, *kinds: str) -> URL:
        """From now on commands run as a login that has these roles."""
        url = login(self._owner, f"login_{os.getpid()}", *(f"{SCHEMA}_{kind}" for kind in kinds))
        configure(self.home, url, {"schema": SCHEMA})
        return url


@pytest.fixture
def logged_in(owner: Engine) -> Iterator[LogIn]:
    """Opens an engine as a login that has these roles and no other rights."""
    with ExitStack() as stack:

        def log_in(*kinds: str) -> Engine:
            url = login(owner, f"session_{os.getpid()}", *(f"{SCHEMA}_{kind}" for kind in kinds))
            engine = engine_in(url, SCHEMA)
            stack.callback(engine.dispose)
            return engine

        yield log_in


@pytest.fixture
def desk(home: Path, owner: Engine) -> Desk:
    """Where somebody types commands."""
    return Desk(home, owner)

"""One server a session, one database a test process, DELETE between tests: a new one costs a hundred times as much."""

from __future__ import annotations

import datetime as dt
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, Connection, Engine, event, text

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from tests import pooling, postgres
from tests.worker.shop import Shop, open_shop

AGING_MS = 600_000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the suite run on another PostgreSQL, or through a pooler."""
    parser.addoption("--postgres", default="embedded", help="embedded, or the bin folder of another PostgreSQL")
    parser.addoption("--pooler", action="store_true", help="go through a pgbouncer in transaction mode")


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Iterator[URL]:
    """A running PostgreSQL."""
    wanted = request.config.getoption("--postgres")
    with ExitStack() as stack:
        # Not pytest's own folder: its path is private to this user, and the server may run as another.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doclease-tests-")))
        folder.chmod(0o755)
        start = postgres.embedded(folder) if wanted == "embedded" else postgres.installed(Path(wanted), folder)
        yield stack.enter_context(start)


@pytest.fixture(scope="session")
def database_url(request: pytest.FixtureRequest, server: URL) -> Iterator[URL]:
    """A database of this process with the schema in it."""
    url = postgres.create_database(server, f"tests_{os.getpid()}")
    engine = database.open_engine(url, DatabaseSettings(), name="tests")
    database.upgrade(engine)
    engine.dispose()
    if not request.config.getoption("--pooler"):
        yield url
        return
    pooling.prepare(url)
    with tempfile.TemporaryDirectory(prefix="doclease-pooler-") as folder:
        Path(folder).chmod(0o755)  # the pooler runs as the server's user
        with pooling.pooled(url, Path(folder) / "p") as through_pooler:
            yield through_pooler


class Clock:
    """Moves the queue's time, by a session setting or, behind a pooler, by a row that all share; nobody sleeps."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._offset = dt.timedelta()
        self._is_shared = pooling.is_pooled(engine.url)

    def set_on(self, connection: Connection) -> None:
        """Give a connection this clock's time."""
        if not self._is_shared:
            connection.exec_driver_sql(f"SET doclease.clock_offset = '{self._offset.total_seconds()} seconds'")

    def advance(self, *, seconds: float = 0, minutes: float = 0, outage: bool = False) -> None:
        """Let time pass. Unless it is an outage, sweeps went on meanwhile and found nothing."""
        self._offset += dt.timedelta(seconds=seconds, minutes=minutes)
        if self._is_shared:
            self.share()
        if not outage:
            with self._engine.begin() as connection:
                connection.execute(text("UPDATE sweeper_state SET last_ok_at = queue_now()"))

    def share(self) -> None:
        """Tell the row that all share, if there is one."""
        with self._engine.begin() as connection:
            connection.execute(text(f"UPDATE tests_clock SET ahead = '{self._offset.total_seconds()} seconds'"))


@pytest.fixture
def engine(database_url: URL) -> Iterator[Engine]:
    """An engine on an empty database; several connections, since tests play several workers."""
    engine = database.open_engine(database_url, pooling.settings_for(database_url), name="tests", connections=8)
    if pooling.is_pooled(database_url):
        Clock(engine).share()
    empty(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def clock(engine: Engine) -> Clock:
    """The time of every connection of `engine`."""
    clock = Clock(engine)
    event.listen(engine, "begin", clock.set_on)
    return clock


@pytest.fixture
def queue(engine: Engine, clock: Clock) -> Queue:
    """The queue under test, on the movable clock."""
    return Queue(engine, limits=Limits(), aging_ms=AGING_MS)


def empty(engine: Engine) -> None:
    """Delete all rows, and forget that anybody swept before now."""
    with engine.begin() as connection:
        for table in (
            "pages",
            "corrections",
            "attachments",
            "arrivals",
            "attempts",
            "tasks",
            "documents",
            "lease_rates",
            "inbox_scans",
            "workers",
        ):
            connection.execute(text(f"DELETE FROM {table}"))
        connection.execute(
            text("UPDATE sweeper_state SET last_ok_at = now(), braked_at = NULL, graced_at = NULL, swept_by = NULL")
        )


@pytest.fixture
def open_for_business(engine: Engine, database_url: URL, tmp_path: Path) -> Iterator[Callable[..., Shop]]:
    """Opens a shop with settings of its own on the session's database."""
    with ExitStack() as stack:

        def build(**config: Mapping[str, Any]) -> Shop:
            return stack.enter_context(open_shop(tmp_path, database_url, engine, **config))

        yield build


@pytest.fixture
def shop(open_for_business: Callable[..., Shop]) -> Shop:
    """A shop with quick settings."""
    return open_for_business()

"""Queues on a database of their own, the pages that their statements touch, and how long they take.

Pages are counted by the server, hit or read, of tables and indexes, triggers and foreign keys included.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event, text

from bench.peers.servers import Postgres, running
from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.queue.front import Front
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue

_TOUCHED = text("""
    SELECT sum(heap_blks_read + heap_blks_hit + COALESCE(idx_blks_read + idx_blks_hit, 0)
        + COALESCE(toast_blks_read + toast_blks_hit, 0))
    FROM pg_statio_user_tables
""")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call took: pages, and milliseconds from here."""

    pages: float
    p50_ms: float
    p99_ms: float


class Bench:
    """A queue whose one session is watched."""

    def __init__(self, engine: Engine, front: Front | None = None) -> None:
        self.engine = engine
        self.queue = Queue(engine, limits=Limits(), aging_ms=600_000, front=front)
        self._alone = engine.execution_options(isolation_level="AUTOCOMMIT")

    def run(self, statement: str, **values: Any) -> None:
        """Do what no method of the queue does, outside any transaction and without a time limit."""
        with self._alone.connect() as connection:
            connection.execute(text("SET statement_timeout = 0"))
            connection.execute(text(statement), values)

    def ask(self, statement: str, **values: Any) -> Any:
        """One value."""
        with self._alone.connect() as connection:
            return connection.execute(text(statement), values).scalar_one()

    def touched(self) -> int:
        """Pages touched until now."""
        self.run("SELECT pg_stat_force_next_flush()")
        with self._alone.connect() as connection:
            return int(connection.execute(_TOUCHED).scalar_one() or 0)

    def cost(self, act: Callable[[], object], times: int) -> Cost:
        """Call so often, after a first one that fills the caches of the session."""
        act()
        before, taken = self.touched(), []
        for _ in range(times):
            started = time.perf_counter()
            act()
            taken.append((time.perf_counter() - started) * 1000)
        return Cost((self.touched() - before) / times, *percentiles(taken))

    def plan_pages(self, act: Callable[[], object]) -> int:
        """The pages of the last statement of `act` by its plan, without its triggers; it is run once more."""
        plan = self._explained(act, 1)[0]["Plan"]
        return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])

    def server_ms(self, act: Callable[[], object], times: int) -> tuple[float, float]:
        """Percentiles of the server's time for the same, so many times more, without the commit."""
        return percentiles([each["Execution Time"] for each in self._explained(act, times)])

    def _explained(self, act: Callable[[], object], times: int) -> list[dict[str, Any]]:
        asked: list[tuple[str, Any]] = []

        def note(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
            asked.append((statement, parameters))

        event.listen(self.engine, "before_cursor_execute", note)
        act()
        event.remove(self.engine, "before_cursor_execute", note)
        statement, parameters = asked[-1]
        how = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)"
        found = []
        for _ in range(times):
            with self.engine.connect() as connection:
                found.append(connection.exec_driver_sql(f"{how} {statement}", parameters).scalar_one()[0])
                connection.commit()
        return found


def percentiles(values: list[float]) -> tuple[float, float]:
    """The 50th and the 99th."""
    return statistics.median(values), sorted(values)[min(int(len(values) * 0.99), len(values) - 1)]


@contextmanager
def server() -> Iterator[Postgres]:
    """PostgreSQL of this run alone, with its own defaults."""
    with tempfile.TemporaryDirectory(prefix="doclease-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # PostgreSQL may run as another user, and has a private folder in this one
        postgres = Postgres(Path(folder) / "postgres")
        with running(postgres):
            yield postgres


@contextmanager
def installed(postgres: Postgres, name: str) -> Iterator[Engine]:
    """A database with the schema of doclease, and an engine of one connection."""
    postgres.create_database(name)
    with engine_on(postgres, name) as engine:
        database.upgrade(engine)
        yield engine


@contextmanager
def engine_on(postgres: Postgres, name: str, connections: int = 1) -> Iterator[Engine]:
    """An engine as the product opens it."""
    url = database.parse_url(f"postgresql://{postgres.user}@/{name}?host={postgres.host}")
    engine = database.open_engine(url, DatabaseSettings(), name="bench", connections=connections)
    try:
        yield engine
    finally:
        engine.dispose()

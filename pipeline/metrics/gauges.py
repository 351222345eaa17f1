"""The state of the whole in numbers, from statements that read live tasks only, never history.

Looked at when somebody asks, at most every few seconds, by a thread of its own: a database that is away or slow keeps
nobody waiting. A role that may not read a table goes without its numbers.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Row, TextClause, text
from sqlalchemy.exc import SQLAlchemyError

from pipeline.metrics import catalogue
from pipeline.metrics.catalogue import Metric

FRESH_SECONDS = 5.0
# A look that took long is made less often: it may use this share of the time at most.
SHARE_OF_TIME = 0.05
PATIENCE_SECONDS = 2.0
STATEMENT_TIMEOUT = "5s"
REFUSED = "42501"  # SQLSTATE: insufficient privilege

# One pass over each partial index of live tasks. Its end is the number of tasks in line, not of all there ever were.
LIVE = text("""
    SELECT
        waiting.tasks AS enqueued,
        delayed.tasks AS delayed,
        running.tasks AS processing,
        waiting.pages + delayed.pages + running.pages AS pages_left,
        waiting.oldest_seconds,
        running.oldest_seconds AS lease_oldest_seconds,
        running.overdue_seconds
    FROM (
        SELECT
            count(*) AS tasks,
            COALESCE(sum(page_count - LEAST(pages_done, page_count)), 0) AS pages,
            COALESCE(EXTRACT(EPOCH FROM queue_now() - min(enqueued_at)), 0) AS oldest_seconds
        FROM tasks
        WHERE status = 'enqueued'
    ) AS waiting
    CROSS JOIN (
        SELECT count(*) AS tasks, COALESCE(sum(page_count - LEAST(pages_done, page_count)), 0) AS pages
        FROM tasks
        WHERE status = 'delayed'
    ) AS delayed
    CROSS JOIN (
        SELECT
            count(*) AS tasks,
            COALESCE(sum(page_count - LEAST(pages_done, page_count)), 0) AS pages,
            COALESCE(EXTRACT(EPOCH FROM queue_now() - min(progressed_at)), 0) AS oldest_seconds,
            GREATEST(COALESCE(EXTRACT(EPOCH FROM queue_now() - min(lease_expires_at)), 0), 0) AS overdue_seconds
        FROM tasks
        WHERE status = 'processing'
    ) AS running
""")
BADLY = text("""
    SELECT
        count(*) FILTER (WHERE status = 'failed') AS failed,
        count(*) FILTER (WHERE status = 'quarantined') AS quarantined
    FROM tasks
    WHERE status IN ('failed', 'quarantined')
        AND finished_at > queue_now() - INTERVAL '1 day'
""")
SWEEPS = text("""
    SELECT EXTRACT(EPOCH FROM queue_now() - last_ok_at) AS age_seconds, braked_at IS NOT NULL AS braked
    FROM sweeper_state
""")
SCANS = text("""
    SELECT inbox, EXTRACT(EPOCH FROM queue_now() - scanned_at) AS age_seconds, waiting_files, note IS NOT NULL AS paused
    FROM inbox_scans
    ORDER BY inbox
""")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a metric; `label` is the value of its label."""

    metric: Metric
    value: float
    label: str = ""


class Gauges:
    """Looks at the database when asked, by any thread. `close` waits for a look that is under way."""

    def __init__(self, engine: Engine, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._engine = engine
        self._patience_seconds = patience_seconds
        self._lock = threading.Lock()
        self._looking: threading.Thread | None = None
        self._samples: tuple[Sample, ...] = ()
        self._valid_until = 0.0
        self._refused: set[TextClause] = set()

    def read(self) -> tuple[Sample, ...]:
        """What was found last, or now if that is too long ago. Without an answer in time only that there was none."""
        with self._lock:
            if time.monotonic() < self._valid_until:
                return self._samples
            if self._looking is None or not self._looking.is_alive():
                self._looking = threading.Thread(target=self._look, name="gauges", daemon=True)
                self._looking.start()
            looking = self._looking
        looking.join(self._patience_seconds)
        with self._lock:
            return (Sample(catalogue.DATABASE_UP, 0),) if looking.is_alive() else self._samples

    def expire(self) -> None:
        """Look again the next time, however fresh the last look is."""
        with self._lock:
            self._valid_until = 0.0

    def close(self) -> None:
        """Wait for a look that is under way."""
        if self._looking is not None:
            self._looking.join()

    def _look(self) -> None:
        began_at = time.monotonic()
        try:
            samples = (Sample(catalogue.DATABASE_UP, 1), *self._found())
        except SQLAlchemyError as error:
            logger.debug("no gauges: %s", error)
            samples = (Sample(catalogue.DATABASE_UP, 0),)
        now = time.monotonic()
        with self._lock:
            self._samples = samples
            self._valid_until = now + max(FRESH_SECONDS, (now - began_at) / SHARE_OF_TIME)

    def _found(self) -> Iterator[Sample]:
        for statement, samples in _STATEMENTS:
            for row in self._rows(statement):
                yield from samples(row)

    def _rows(self, statement: TextClause) -> list[Row[Any]]:
        if statement in self._refused:
            return []
        try:
            with self._engine.connect() as connection:
                connection.execute(text(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'"))
                return list(connection.execute(statement))
        except SQLAlchemyError as error:
            if getattr(getattr(error, "orig", None), "sqlstate", None) == REFUSED:
                self._refused.add(statement)  # asked once: each refusal is an error in the server's log
                return []
            raise


def _live(row: Row[Any]) -> Iterator[Sample]:
    yield from (Sample(catalogue.TASKS, getattr(row, status), status) for status in catalogue.TASKS.known)
    yield Sample(catalogue.PAGES_LEFT, row.pages_left)
    yield Sample(catalogue.OLDEST_WAITING, row.oldest_seconds)
    yield Sample(catalogue.LEASE_OLDEST, row.lease_oldest_seconds)
    yield Sample(catalogue.LEASE_OVERDUE, row.overdue_seconds)


def _badly(row: Row[Any]) -> Iterator[Sample]:
    yield from (Sample(catalogue.ENDED_BADLY, getattr(row, status), status) for status in catalogue.ENDED_BADLY.known)


def _sweeps(row: Row[Any]) -> Iterator[Sample]:
    yield Sample(catalogue.SWEEP_AGE, row.age_seconds)
    yield Sample(catalogue.SWEEP_BRAKED, row.braked)


def _scans(row: Row[Any]) -> Iterator[Sample]:
    yield Sample(catalogue.SCAN_AGE, row.age_seconds, row.inbox)
    yield Sample(catalogue.WAITING_FILES, row.waiting_files, row.inbox)
    yield Sample(catalogue.PAUSED, row.paused, row.inbox)


_STATEMENTS: tuple[tuple[TextClause, Callable[[Row[Any]], Iterator[Sample]]], ...] = (
    (LIVE, _live),
    (BADLY, _badly),
    (SWEEPS, _sweeps),
    (SCANS, _scans),
)

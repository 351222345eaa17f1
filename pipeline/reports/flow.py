"""Whether documents move: somebody sweeps, somebody works, nothing stands where the next sweep should have taken it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, Row, text

from pipeline.reports.checks import Check, State, judged
from pipeline.reports.durations import duration

SWEEPS_MISSED = 3
# A worker that was just started has this long to come up.
WORKER_SECONDS = 60.0
# A watcher places a file as soon as its document has ended.
PLACED_SECONDS = 900.0
WORKERS = ("doclease work", "doclease run")

_FLOW = text("""
    SELECT
        CAST(EXTRACT(EPOCH FROM queue_now() - sweeper_state.last_ok_at) AS double precision) AS sweep_age_seconds,
        sweeper_state.swept_by,
        EXISTS (SELECT FROM tasks WHERE status = 'enqueued')
            OR EXISTS (SELECT FROM tasks WHERE status = 'delayed')
            OR EXISTS (SELECT FROM tasks WHERE status = 'processing') AS has_live_tasks,
        (SELECT CAST(EXTRACT(EPOCH FROM queue_now() - min(enqueued_at)) AS double precision)
         FROM tasks
         WHERE status = 'enqueued') AS oldest_seconds,
        running.in_time,
        running.overdue,
        running.overdue_seconds,
        waiting.overdue AS late,
        waiting.overdue_seconds AS late_seconds,
        (SELECT count(*)
         FROM pg_stat_activity
         WHERE datname = current_database()
             AND application_name = ANY (CAST(:workers AS text[]))) AS workers
    FROM sweeper_state
    CROSS JOIN (
        SELECT
            count(*) FILTER (WHERE lease_expires_at >= queue_now()) AS in_time,
            count(*) FILTER (WHERE lease_expires_at < queue_now() - make_interval(secs => :patience)) AS overdue,
            CAST(EXTRACT(EPOCH FROM queue_now() - min(lease_expires_at)) AS double precision) AS overdue_seconds
        FROM tasks
        WHERE status = 'processing'
    ) AS running
    CROSS JOIN (
        SELECT
            count(*) AS overdue,
            CAST(EXTRACT(EPOCH FROM queue_now() - min(not_before)) AS double precision) AS overdue_seconds
        FROM tasks
        WHERE status = 'delayed'
            AND not_before < queue_now() - make_interval(secs => :patience)
    ) AS waiting
""")
_UNPLACED = text("""
    SELECT count(*)
    FROM arrivals
    JOIN tasks ON tasks.task_id = arrivals.task_id
    WHERE arrivals.placed_at IS NULL
        AND tasks.finished_at < queue_now() - make_interval(secs => :placed_seconds)
""")


@dataclass(frozen=True, slots=True)
class Expected:
    """What to hold the queue to. Behind a pooler sessions of workers cannot be told from others."""

    sweep_seconds: float
    behind_pooler: bool = False

    @property
    def patience_seconds(self) -> float:
        """How far beyond its end a lease may be found: two sweeps, and another that a brake may wait."""
        return SWEEPS_MISSED * self.sweep_seconds


def flow(connection: Connection, expected: Expected) -> Iterator[Check]:
    """Sweeps, workers and stuck tasks, from one statement over the partial indexes of live tasks."""
    values = {"patience": expected.patience_seconds, "workers": list(WORKERS)}
    row = connection.execute(_FLOW, values).one()
    yield _sweep(row, expected)
    yield _workers(row, expected)
    yield _stuck(row)


def arrivals(connection: Connection) -> Iterator[Check]:
    """Files that nobody put in their place although their document has ended a while ago."""
    unplaced = int(connection.execute(_UNPLACED, {"placed_seconds": PLACED_SECONDS}).scalar_one())
    yield judged(
        "arrivals",
        f"{unplaced} files stand in the inbox although their document has ended" if unplaced else "all placed",
        not unplaced,
        "no watcher puts them into processed/ and failed/: start doclease run or doclease watch",
        otherwise=State.ADVICE,
    )


def _sweep(row: Row[tuple[object, ...]], expected: Expected) -> Check:
    by = f" by {row.swept_by}" if row.swept_by else ""
    is_recent = row.sweep_age_seconds <= SWEEPS_MISSED * expected.sweep_seconds
    idle = "" if is_recent or row.has_live_tasks else "; nothing is unfinished"
    return judged(
        "sweep",
        f"{duration(row.sweep_age_seconds)} ago{by}{idle}",
        is_recent or not row.has_live_tasks,
        "nobody takes back what was lost: start doclease run, doclease work or doclease sweep",
    )


def _workers(row: Row[tuple[object, ...]], expected: Expected) -> Check:
    is_swept = row.sweep_age_seconds <= SWEEPS_MISSED * expected.sweep_seconds
    is_alive = row.workers or row.in_time or (expected.behind_pooler and is_swept)
    is_waiting = row.oldest_seconds is not None and row.oldest_seconds > WORKER_SECONDS
    told = f"{row.workers} connected, {row.in_time} tasks in work"
    waits = f"; the oldest task waits since {duration(row.oldest_seconds)}" if is_waiting else ""
    return judged(
        "workers",
        told + waits,
        bool(is_alive) or not is_waiting,
        "nobody works on what waits: start doclease run or doclease work",
    )


def _stuck(row: Row[tuple[object, ...]]) -> Check:
    found = []
    if row.overdue:
        found.append(f"{row.overdue} leases ran out, the first {duration(row.overdue_seconds)} ago")
    if row.late:
        found.append(f"{row.late} delayed tasks are due, the first since {duration(row.late_seconds)}")
    return judged(
        "stuck tasks",
        "; ".join(found) or "none",
        not found,
        "the next sweep should have moved them: type doclease sweep --once -v, and look at locks in pg_stat_activity",
    )

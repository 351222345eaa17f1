"""The state of the whole at one moment, and whether a condition on it holds: `doclease status` and `--fail-if`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, text

from pipeline.errors import UsageProblem
from pipeline.queue.states import Status
from pipeline.reports.queries import rows

Row = Mapping[str, Any]

_COUNTS = text("""
    SELECT
        status,
        tasks,
        pages_left,
        CAST(EXTRACT(EPOCH FROM queue_now() - oldest_enqueued_at) AS double precision) AS oldest_seconds,
        CAST(EXTRACT(EPOCH FROM next_at - queue_now()) AS double precision) AS next_seconds
    FROM queue_status
""")
_PROCESSING = text("""
    SELECT
        tasks.task_id,
        documents.name,
        tasks.lease_holder AS worker,
        tasks.attempt_no AS attempt,
        LEAST(tasks.pages_done + 1, tasks.page_count) AS page,
        tasks.page_count AS pages,
        CAST(EXTRACT(EPOCH FROM queue_now() - tasks.progressed_at) AS double precision) AS progress_age_seconds,
        CAST(EXTRACT(EPOCH FROM tasks.lease_expires_at - queue_now()) AS double precision) AS lease_left_seconds
    FROM tasks
    JOIN documents ON documents.document_id = tasks.document_id
    WHERE tasks.status = 'processing'
    ORDER BY tasks.task_id
    LIMIT CAST(:limit AS bigint)
""")
_SWEEPS = text("""
    SELECT
        CAST(EXTRACT(EPOCH FROM queue_now() - last_ok_at) AS double precision) AS sweep_age_seconds,
        swept_by,
        braked_at,
        graced_at
    FROM sweeper_state
""")
_SCANS = text("""
    SELECT
        inbox,
        CAST(EXTRACT(EPOCH FROM queue_now() - scanned_at) AS double precision) AS scan_age_seconds,
        waiting_files,
        note
    FROM inbox_scans
    ORDER BY inbox
""")
_RATES = text("""
    SELECT handler, source, seconds_per_page, samples, calibrated_at
    FROM lease_rates
    ORDER BY handler, source
""")
SCANS_MISSED = 3
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "==": operator.eq,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_CONDITION = re.compile(r"\s*([a-z_]+)\s*(>=|<=|!=|==|=|>|<)\s*(\d+(?:\.\d+)?)\s*")
_FIGURES = (*(status.value for status in Status), "pages_left", "oldest", "sweep_age", "scan_age")


def is_watched(scan: Row, rescan_seconds: float) -> bool:
    """Whether the watcher of an inbox is at work: it has not missed three scans in a row."""
    return bool(scan["scan_age_seconds"] <= SCANS_MISSED * rescan_seconds)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Counts by status, tasks in work, the last sweep, the last scan of each inbox. Ages and times left in seconds."""

    counts: Sequence[Row]
    processing: Sequence[Row]
    sweeps: Row
    scans: Sequence[Row]

    def figure(self, name: str) -> float:
        """A figure that conditions may name. Without any scan, `scan_age` is infinite."""
        by_status = {row["status"]: row for row in self.counts}
        if name == "pages_left":
            return float(sum(row["pages_left"] for row in self.counts))
        if name == "oldest":
            return float(by_status["enqueued"]["oldest_seconds"] or 0)
        if name == "sweep_age":
            return float(self.sweeps["sweep_age_seconds"])
        if name == "scan_age":
            return float(max((row["scan_age_seconds"] for row in self.scans), default=math.inf))
        return float(by_status[name]["tasks"])


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of one figure with a number, as in `failed>0` or `sweep_age>60`."""

    figure: str
    comparison: str
    number: float

    def holds(self, snapshot: Snapshot) -> bool:
        """Whether it is true now."""
        return _OPERATORS[self.comparison](snapshot.figure(self.figure), self.number)

    def __str__(self) -> str:
        return f"{self.figure}{self.comparison}{self.number:g}"


def snapshot(engine: Engine, *, limit: int = 50) -> Snapshot:
    """Read it all now; at most `limit` of the tasks in work."""
    return Snapshot(
        rows(engine, _COUNTS), rows(engine, _PROCESSING, limit=limit), rows(engine, _SWEEPS)[0], rows(engine, _SCANS)
    )


def scans(connection: Connection) -> Sequence[Row]:
    """The last scan of each inbox."""
    return [dict(row) for row in connection.execute(_SCANS).mappings()]


def rates(engine: Engine) -> Sequence[Row]:
    """What was learned: the 99th percentile of seconds per page, by handler and kind of page."""
    return rows(engine, _RATES)


def parse_condition(words: str) -> Condition:
    """A condition from the command line. Raises UsageProblem that lists the figures there are."""
    match = _CONDITION.fullmatch(words)
    if match is None or match[1] not in _FIGURES:
        raise UsageProblem(
            f"{words!r} is not a condition. Write FIGURE>NUMBER (or >=, <, <=, =, !=), quoted for the shell;"
            f" figures are: {', '.join(_FIGURES)} (ages in seconds)"
        )
    return Condition(match[1], match[2], float(match[3]))

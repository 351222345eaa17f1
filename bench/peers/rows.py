"""What is compared: each peer as it comes, and as its documentation says to set it up for recovery.

Time-outs of the second kind are scaled down to about ten seconds with the peer's own knobs; `setting` names the knobs
and their defaults, `link` the page that describes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """A peer in one setting. `patience` is how many seconds a cell waits before it calls a task stuck."""

    name: str
    peer: str
    setting: str
    link: str
    settings: Mapping[str, Any]
    patience: float
    server: str = "postgres"  # postgres | redis | redis, lasting


def rows() -> tuple[Row, ...]:
    """All of them, in the order of the table."""
    return (*_doclease(), *_procrastinate(), *_pgqueuer(), *_celery(), *_awa())


def _doclease() -> tuple[Row, Row]:
    link = "docs/how-leases-work.md"
    return (
        Row(
            "doclease",
            "doclease",
            "defaults: a lease of 15 s for a short document, a sweep every 5 s, a look for sessions every 1.5 s",
            link,
            {},
            90,
        ),
        Row(
            "doclease, 10 s",
            "doclease",
            "`lease.base_seconds` 9 and `min_seconds` 1 (10 and 15), `sweep.interval_seconds` 2 (5)",
            link,
            {"lease": {"base_seconds": 9, "min_seconds": 1}, "sweep": {"interval_seconds": 2}},
            60,
        ),
    )


def _procrastinate() -> tuple[Row, Row]:
    link = "https://procrastinate.readthedocs.io/en/stable/howto/production/retry_stalled_jobs.html"
    return (
        Row("procrastinate", "procrastinate", "defaults; nothing retries stalled jobs", link, {}, 120),
        Row(
            "procrastinate, recovery",
            "procrastinate",
            "the documented periodic task that retries stalled jobs, every 10 s (10 min); stalled after 10 s (30 s),"
            " a heartbeat every 3 s (10 s)",
            link,
            {
                "retry_stalled": "* * * * * */10",
                "seconds_since_heartbeat": 10,
                "worker": {"update_heartbeat_interval": 3, "stalled_worker_timeout": 10},
            },
            60,
        ),
    )


def _pgqueuer() -> tuple[Row, Row]:
    link = "https://pgqueuer.readthedocs.io/en/latest/guides/reliability/"
    return (
        Row("PgQueuer", "pgqueuer", "defaults: `--heartbeat-timeout` 30 s, `--dequeue-timeout` 30 s", link, {}, 120),
        Row(
            "PgQueuer, 10 s",
            "pgqueuer",
            "`--heartbeat-timeout` 10 s (30 s), `--dequeue-timeout` 10 s (30 s), `--restart-on-failure`,"
            " `--shutdown-on-listener-failure` (both off)",
            link,
            {
                "heartbeat_timeout": 10,
                "dequeue_timeout": 10,
                "restart_on_failure": True,
                "shutdown_on_listener_failure": True,
            },
            60,
        ),
    )


def _celery() -> tuple[Row, Row]:
    link = "https://docs.celeryq.dev/en/stable/getting-started/backends-and-brokers/redis.html"
    late = {
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "task_time_limit": 8,
        "broker_transport_options": {"visibility_timeout": 12},
    }
    return (
        Row("Celery", "celery", "defaults: acknowledged before the work", link, {}, 120, "redis"),
        Row(
            "Celery, late",
            "celery",
            "`task_acks_late`, `task_reject_on_worker_lost` (both off), `visibility_timeout` 12 s (1 h),"
            " `task_time_limit` 8 s (none), prefetch 1 (4); Redis with `appendonly yes` (no)",
            link,
            late,
            150,
            "redis, lasting",
        ),
    )


def _awa() -> tuple[Row, Row]:
    link = "https://github.com/hardbyte/awa/blob/main/docs/configuration.md"
    quick = {
        "heartbeat_interval_ms": 3_000,
        "heartbeat_staleness_ms": 9_000,
        "heartbeat_rescue_interval_ms": 3_000,
        "deadline_rescue_interval_ms": 3_000,
    }
    return (
        Row("Awa", "awa", "defaults: heartbeat 30 s, stale after 90 s, deadline 5 min, 25 attempts", link, {}, 180),
        Row(
            "Awa, 9 s",
            "awa",
            "heartbeat 3 s (30 s), stale after 9 s (90 s), looked for every 3 s (30 s), deadline 10 s (5 min),"
            " `max_attempts` 3 (25)",
            link,
            {"start": quick, "queue": {"deadline_duration_ms": 10_000}, "max_attempts": 3},
            60,
        ),
    )

"""Looking at the queue's rows from outside, and the plain things that workers do to them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, Row, text

from pipeline.queue.model import Claim, Completion, Usage
from pipeline.queue.settle import Counts, Fault, decide
from pipeline.queue.states import Status
from pipeline.queue.store import Queue

INTERVAL_SECONDS = 5.0
GIVE_UP_SECONDS = 20.0


def task(engine: Engine, task_id: int) -> Row[Any]:
    """The row of a task."""
    with engine.connect() as connection:
        return connection.execute(text("SELECT * FROM tasks WHERE task_id = :id"), {"id": task_id}).one()


def attempts(engine: Engine, task_id: int) -> list[Row[Any]]:
    """The attempts of a task, oldest first."""
    query = text("SELECT * FROM attempts WHERE task_id = :id ORDER BY attempt_no")
    with engine.connect() as connection:
        return list(connection.execute(query, {"id": task_id}))


def outcomes(engine: Engine, task_id: int) -> list[str | None]:
    """How the attempts of a task ended, oldest first."""
    return [attempt.outcome for attempt in attempts(engine, task_id)]


def status(engine: Engine, task_id: int) -> str:
    """Where a task stands."""
    return str(task(engine, task_id).status)


def change(engine: Engine, statement: str, **values: Any) -> None:
    """Set up what no method of the queue would write."""
    with engine.begin() as connection:
        connection.execute(text(statement), values)


def complete(queue: Queue, claim: Claim, result: str = "mine") -> None:
    """Finish an attempt. Raises LeaseLost."""
    with queue.completing(claim, reason="ok", pages_done=claim.page_count, result={"by": result}, usage=Usage()):
        pass


def complete_all(queue: Queue, claims: list[Claim]) -> int:
    """Finish attempts in one transaction; returns how many still held their leases."""
    brought = [Completion(claim, "ok", claim.page_count, {}, Usage()) for claim in claims]
    with queue.completing_all(brought) as (_, tokens):
        return len(tokens)


def checkpoint(queue: Queue, claim: Claim, *, pages_done: int = 1, lease_seconds: float = 15) -> float:
    """Report progress; returns the seconds of the lease. Raises LeaseLost."""
    with queue.checkpointing(claim, pages_done=pages_done, lease_seconds=lease_seconds) as (_, answer):
        return answer.lease_seconds


def fail(queue: Queue, claim: Claim, fault: Fault, *, jitter: float = 0.5) -> Status:
    """End an attempt in one of the ways it can go wrong. Raises LeaseLost."""
    counts = Counts(claim.failure_count, claim.crash_count, claim.release_count)
    return queue.fail(
        claim, decide(fault, counts, queue.limits, jitter=jitter), reason="io_error", error="it went wrong"
    )


def sweep(queue: Queue, *, batch: int = 500) -> dict[int, str]:
    """Take back what expired; returns where each task went."""
    report = queue.sweep(worker="sweeper", interval_seconds=INTERVAL_SECONDS, batch=batch)
    return {swept.task_id: str(swept.status) for swept in report.taken}


def sweep_values(queue: Queue, *, batch: int = 500) -> dict[str, Any]:
    """What Queue.sweep binds, for tests that run the statement in a transaction of their own."""
    return {
        "worker": "sweeper",
        "interval_seconds": INTERVAL_SECONDS,
        "batch": batch,
        "max_crashes": queue.limits.max_crashes,
        "backoff_seconds": queue.limits.backoff_seconds,
        "backoff_cap_seconds": queue.limits.backoff_cap_seconds,
    }


def waiting_sessions(engine: Engine) -> int:
    """How many sessions of this database stand still until another one ends its transaction."""
    query = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    with engine.connect() as connection:
        return int(connection.execute(query).scalar_one())


def terminate(engine: Engine, where: str) -> int:
    """Cut sessions off, chosen by a condition on pg_stat_activity; returns how many."""
    query = text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND {where}")
    with engine.connect() as connection:
        return len(connection.execute(query).all())


def sweep_until_taken(queue: Queue) -> dict[int, str]:
    """Sweep again and again until something is taken back; returns where it went."""
    taken: dict[int, str] = {}

    def found() -> bool:
        taken.update(sweep(queue))
        return bool(taken)

    until(found)
    return taken


def until(condition: Callable[[], bool]) -> None:
    """Look again and again until it is so; fails when it never gets so."""
    give_up = time.monotonic() + GIVE_UP_SECONDS
    while not condition():
        assert time.monotonic() < give_up, "it never came about"
        time.sleep(0.01)

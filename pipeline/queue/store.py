"""The queue: one method, one statement. Every promise lives in the SQL file that the method is named after.

Methods without a connection run in a transaction of their own, a single round trip. Those with one run inside the
caller's: enqueue, so that a task and what it is about are committed together. The two fences open one, so that pages
and results are written only by whoever still holds the lease.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Engine, Row

from pipeline.errors import IllegalMove, LeaseLost, NothingMatched
from pipeline.queue import model
from pipeline.queue.front import FRONT, Front
from pipeline.queue.model import (
    Checkpoint,
    Claim,
    Completion,
    NewTask,
    Outcome,
    Seen,
    Shortened,
    SweepReport,
    Swept,
    TaskState,
    Usage,
)
from pipeline.queue.settle import Decision, Limits
from pipeline.queue.statements import returning, statement
from pipeline.queue.states import Status

# What claim.sql returns: a claim, its fields in their order, and its place in line.
_CLAIMED = (*(each.name for each in fields(Claim)), "rank_ms")


class Queue:
    """Tasks in PostgreSQL, claimed on expiring leases.

    `engine` may be shared with the rest of the process; the queue holds a connection only while a statement runs.
    `aging_ms` is what a level of priority is worth in waiting. Every method may raise sqlalchemy's DBAPIError when the
    database is away: nothing was written then, or it was and the answer was lost; repeating any method is safe.
    """

    def __init__(self, engine: Engine, *, limits: Limits, aging_ms: int, front: Front | None = None) -> None:
        self.limits = limits
        self._engine = engine
        self._single = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._aging_ms = aging_ms
        self._front = front or Front()

    # In the caller's transaction

    def enqueue(self, connection: Connection, task: NewTask) -> int:
        """Put a task in line; returns its id. The document must have no live task (unique index tasks_one_live)."""
        row = connection.execute(statement("enqueue"), {**asdict(task), "aging_ms": self._aging_ms}).one()
        self._front.came(row.rank_ms)
        return int(row.task_id)

    def enqueue_all(self, connection: Connection, tasks: Sequence[NewTask]) -> dict[int, int]:
        """Put tasks of different documents in line, in this order; returns the task of each document. All or none."""
        given = json.dumps([{name: getattr(task, name) for name in NewTask.__slots__} for task in tasks])
        rows = connection.execute(statement("enqueue_all"), {"tasks": given, "aging_ms": self._aging_ms}).all()
        for row in rows:
            self._front.came(row.rank_ms)
        return {row.document_id: row.task_id for row in rows}

    def reject(self, connection: Connection, task: NewTask, *, status: Status, reason: str, error: str) -> int:
        """Record a task that ended before it began, as failed or quarantined, with its reason; returns its id."""
        values = {**asdict(task), "aging_ms": self._aging_ms, "status": status, "reason": reason, "error": error}
        return int(connection.execute(statement("reject"), values).scalar_one())

    def requeue(self, connection: Connection, task_id: int) -> bool:
        """Retry in the caller's transaction; False when the task is in line, in work or succeeded."""
        self._front.forget()
        return connection.execute(statement("retry"), {"task_id": task_id}).one_or_none() is not None

    # Of a worker: fenced by the token of the claim

    def claim(self, worker: str, *, batch: int = 1, suspects: bool = True) -> list[Claim]:
        """Take up to `batch` ready tasks, best rank first. Read your clock before calling: the lease counts from there.

        `worker` names the process and must never be used by another one. `suspects=False` leaves tasks that took a
        worker down to whoever can run them alone.
        """
        start = self._front.start()
        rows = self._claim_from(start, worker=worker, batch=batch, suspects=suspects)
        if not rows and start != FRONT:
            start = FRONT
            rows = self._claim_from(start, worker=worker, batch=batch, suspects=suspects)
        if suspects:
            self._front.took(start, rows[-1].rank_ms if rows else FRONT)
        return [Claim(*row[:-1]) for row in rows]  # type: ignore[call-arg]

    def held(self, worker: str) -> list[Claim]:
        """What the worker holds by the database's word, also what it was never told of. Leases may be nearly over."""
        return [Claim(**row._mapping) for row in self._all("held", worker=worker)]

    @contextmanager
    def checkpointing(
        self, claim: Claim, *, pages_done: int, lease_seconds: float, pages_stored: int = 0
    ) -> Iterator[tuple[Connection, Checkpoint]]:
        """Renew the lease, then write what was finished since: a transaction whose first statement is the fence.

        `pages_stored` is what the caller was told is stored. Commits when the block ends. Raises LeaseLost, with
        nothing written, also when the database knows of fewer pages: a failover forgot them.
        """
        with self._engine.begin() as connection:
            values = {
                **_token(claim),
                "pages_done": pages_done,
                "pages_stored": pages_stored,
                "lease_seconds": lease_seconds,
            }
            row = connection.execute(statement("checkpoint"), values).one_or_none()
            yield connection, Checkpoint(**_held(claim, row)._mapping)

    @contextmanager
    def completing(
        self,
        claim: Claim,
        *,
        reason: str,
        pages_done: int,
        result: Mapping[str, Any],
        usage: Usage,
        pages_stored: int = 0,
    ) -> Iterator[Connection]:
        """Close task and attempt, then write the rest of the result: a transaction whose first statement is the fence.

        `pages_stored` and what is raised are those of `checkpointing`. Commits when the block ends.
        """
        completion = Completion(claim, reason, pages_done, result, usage, pages_stored)
        with self.completing_all([completion]) as (connection, accepted):
            if not accepted:
                raise LeaseLost(claim.task_id, claim.attempt_no)
            yield connection

    @contextmanager
    def completing_all(self, completions: Sequence[Completion]) -> Iterator[tuple[Connection, frozenset[uuid.UUID]]]:
        """As `completing`, many in one transaction: write the rest only for the tokens that are among those yielded.

        A completion whose lease is lost is not among them and changes nothing. All commit when the block ends, or none.
        """
        brought = [_completion(each) for each in completions]
        values = {"completions": json.dumps(sorted(brought, key=itemgetter("task_id")))}
        with self._engine.begin() as connection:
            found = frozenset(connection.execute(statement("complete"), values).scalars().all())
            told = zip(completions, brought, strict=True)
            yield connection, frozenset(each.claim.lease_token for each, row in told if row["lease_token"] in found)

    def fail(
        self,
        claim: Claim,
        decision: Decision,
        *,
        reason: str,
        error: str | None = None,
        page_no: int | None = None,
        usage: Usage | None = None,
    ) -> Status:
        """Close an attempt that did not succeed, as decided; returns where the task went. Raises LeaseLost.

        `page_no` is the page the attempt was on. `error` is told to people: keep it a sentence.
        """
        values = {**asdict(decision), **asdict(usage or Usage()), "reason": reason, "error": error, "page_no": page_no}
        row = _held(claim, self._one("fail", **_token(claim), **values))
        self._front.forget()
        return Status(row.status)

    def late_finish(self, claim: Claim) -> None:
        """Mark that the worker finished after its lease was taken: a false recovery. Writes nothing else."""
        with self._single.connect() as connection:
            connection.execute(statement("late_finish"), _token(claim))

    def outcome(self, claim: Claim) -> Outcome | None:
        """How the attempt ended, None if it has not: for a worker that lost the answer to its commit."""
        row = self._one("outcome", **_token(claim))
        return None if row is None or row.outcome is None else Outcome(row.outcome)

    # Of anybody, any time

    def sweep(self, *, worker: str, interval_seconds: float, batch: int = 500) -> SweepReport:
        """Take back expired leases, at most `batch`. Safe to run anywhere, any time, also twice at once."""
        rows = self._all(
            "sweep",
            worker=worker,
            interval_seconds=interval_seconds,
            batch=batch,
            max_crashes=self.limits.max_crashes,
            backoff_seconds=self.limits.backoff_seconds,
            backoff_cap_seconds=self.limits.backoff_cap_seconds,
        )
        report = _report(rows)
        if report.taken:
            self._front.forget()
        return report

    def look(self) -> Seen:
        """See what there is to do. Changes nothing, and costs a handful of pages at any size."""
        (row,) = self._all("look")
        return Seen(**row._mapping)

    def shorten(
        self, *, worker: str, interval_seconds: float, patience_seconds: float, unrest_seconds: float
    ) -> Shortened:
        """End the leases of workers whose sessions are gone, so that the next sweep judges them. Safe any time.

        `worker` is who asks, and lives. A session has to be missing for so many seconds: in a time of unrest for more.
        """
        (row,) = self._all(
            "shorten",
            worker=worker,
            interval_seconds=interval_seconds,
            patience_seconds=patience_seconds,
            unrest_seconds=unrest_seconds,
        )
        return Shortened(**row._mapping)

    def leave(self, worker: str) -> None:
        """Say that a worker ends: nobody looks for its session any more."""
        with self._single.connect() as connection:
            connection.execute(statement("leave"), {"worker": worker})

    def promote(self, *, batch: int = 500) -> int:
        """Put delayed tasks whose wait is over back in line; returns how many. Safe to run anywhere, any time."""
        promoted = len(self._all("promote", batch=batch))
        if promoted:
            self._front.forget()
        return promoted

    def cancel(self, task_id: int) -> Status:
        """Cancel at once what waits, ask what is in work to stop; returns the status now. Raises IllegalMove."""
        row = self._one("cancel", task_id=task_id)
        if row is None:
            raise IllegalMove(f"task {task_id} has ended ({self.state(task_id).status}); there is nothing to cancel")
        return Status(row.status)

    def retry(self, task_id: int) -> None:
        """Put a task that ended badly, or waits, in line with its counters at zero. Raises IllegalMove."""
        self._front.forget()
        if self._one("retry", task_id=task_id) is None:
            raise IllegalMove(
                f"task {task_id} is {self.state(task_id).status}; only what ended badly or waits is retried"
            )

    def calibrate(self) -> int:
        """Learn seconds per page from finished attempts; returns how many rates are in force. Safe any time."""
        return len(self._all("calibrate"))

    def rates(self, handler: str) -> dict[str, float]:
        """The learned seconds per page of a handler, by source (text, ocr); empty until enough was seen."""
        return {row.source: row.seconds_per_page for row in self._all("rates", handler=handler)}

    def state(self, task_id: int) -> TaskState:
        """The task as it stands. Raises NothingMatched."""
        row = self._one("state", task_id=task_id)
        if row is None:
            raise NothingMatched(f"there is no task {task_id}; `doclease tasks list` shows those there are")
        return TaskState(**{**row._mapping, "status": Status(row.status)})

    def has_live_tasks(self) -> bool:
        """Whether any task waits or is in work anywhere."""
        row = self._one("live")
        return row is not None and bool(row.live)

    def _claim_from(self, start: int, **values: Any) -> list[Row[Any]]:
        """What claim.sql takes from there. Only changed rows is not nothing: then it looks again."""
        while True:
            with self._single.connect() as connection:
                found = connection.execute(returning("claim", *_CLAIMED), {"from_rank": start, **values}).all()
            rows = [row for row in found if row[0] is not None]
            if rows or not found:
                return rows

    def _all(self, name: str, **values: Any) -> list[Row[Any]]:
        with self._single.connect() as connection:
            return list(connection.execute(statement(name), values).all())

    def _one(self, name: str, **values: Any) -> Row[Any] | None:
        with self._single.connect() as connection:
            return connection.execute(statement(name), values).one_or_none()


def _token(claim: Claim) -> dict[str, Any]:
    return {"task_id": claim.task_id, "lease_token": claim.lease_token}


def _completion(completion: Completion) -> dict[str, Any]:
    # Written out: asdict alone would cost as much as all the rest.
    return {
        "task_id": completion.claim.task_id,
        "lease_token": str(completion.claim.lease_token),
        "reason": completion.reason,
        "pages_done": completion.pages_done,
        "pages_stored": completion.pages_stored,
        "result": completion.result,
        "cpu_seconds": completion.usage.cpu_seconds,
        "peak_rss_bytes": completion.usage.peak_rss_bytes,
    }


def _held(claim: Claim, row: Row[Any] | None) -> Row[Any]:
    if row is None:
        raise LeaseLost(claim.task_id, claim.attempt_no)
    return row


def _report(rows: list[Row[Any]]) -> SweepReport:
    names = [each.name for each in fields(model.Swept)]
    taken = tuple(
        Swept(**{**{name: getattr(row, name) for name in names}, "status": Status(row.status)})
        for row in rows
        if row.task_id is not None
    )
    first = rows[0]
    return SweepReport(taken=taken, graced=first.graced, braked=first.braked, judged=first.judged)

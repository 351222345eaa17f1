"""The queue as a reader would write it down: what each task's row must say after what was committed so far.

It knows neither SQL nor sessions. Seconds count from the start of a run. Where the database may choose (the jitter of a
sweep, the moment at which a statement that waited read the clock), a field is open within bounds until it is looked at.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row

from pipeline.queue.model import Claim, NewTask, Outcome
from pipeline.queue.settle import Decision, Limits
from pipeline.queue.states import Status

INTERVAL_SECONDS = 20.0
TOLERANCE = 1e-6
LIVE = frozenset({Status.ENQUEUED, Status.DELAYED, Status.PROCESSING})
WAITING = frozenset({Status.ENQUEUED, Status.DELAYED})
RETRIABLE = frozenset({Status.FAILED, Status.QUARANTINED, Status.CANCELLED, Status.DELAYED})


@dataclass(frozen=True, slots=True)
class Between:
    """A time that the database chose within bounds, in seconds."""

    lowest: float
    highest: float


Time = float | Between | None


@dataclass(slots=True)
class Attempt:
    """An attempt of a task, as its row must be."""

    number: int
    token: uuid.UUID
    worker: str
    pages_done: int
    outcome: Outcome | None = None
    renewals: int = 0
    finished_late: bool = False
    result: str | None = None

    def as_row(self) -> list[Any]:
        """What the database must show."""
        ended = self.outcome and str(self.outcome)
        shown = [self.number, str(self.token), self.worker, ended, self.pages_done, self.renewals, self.finished_late]
        return [*shown, self.result]


@dataclass(slots=True)
class Task:
    """A task, as its row must be, with its attempts and the attempt that wrote each page."""

    task_id: int
    document_id: int
    page_count: int
    lease_seconds: float
    deadline_seconds: float
    rank: float
    status: Status = Status.ENQUEUED
    failures: int = 0
    crashes: int = 0
    releases: int = 0
    pages_done: int = 0
    cancel_requested: bool = False
    expires: Time = None
    deadline: Time = None
    not_before: Time = None
    attempts: list[Attempt] = field(default_factory=list)
    pages: dict[int, int] = field(default_factory=dict)

    @property
    def holder(self) -> Attempt | None:
        """The attempt that has the task."""
        return self.attempts[-1] if self.status is Status.PROCESSING else None

    def expired(self, judged_at: float) -> bool:
        """Whether it is in work on a lease that was over then."""
        return self.holder is not None and known(self.expires) < judged_at

    def as_row(self) -> list[Any]:
        """What the database must show, times apart."""
        holder = self.holder
        lease = [holder and holder.token, holder and holder.worker]
        counts = [self.failures, self.crashes, self.releases, self.pages_done]
        inside = [[each.as_row() for each in self.attempts], [list(item) for item in sorted(self.pages.items())]]
        return [self.task_id, str(self.status), len(self.attempts), *lease, *counts, self.cancel_requested, *inside]

    # What statements do to it

    def claimed(self, claim: Claim, worker: str, at: float) -> None:
        """A worker has it, on a fresh lease."""
        self.status = Status.PROCESSING
        self.expires, self.deadline = at + self.lease_seconds, at + self.deadline_seconds
        self.attempts.append(Attempt(claim.attempt_no, claim.lease_token, worker, self.pages_done))

    def renewed(self, pages: Collection[int], pages_done: int, expires: Time) -> None:
        """Its holder stored pages and has more time."""
        attempt = self.attempts[-1]
        self.pages_done = attempt.pages_done = max(self.pages_done, pages_done)
        self.pages.update(dict.fromkeys(pages, attempt.number))
        self.expires = expires
        attempt.renewals += 1

    def completed(self, pages: Collection[int], pages_done: int, result: str) -> None:
        """Its holder finished it."""
        attempt = self.attempts[-1]
        self.pages_done = attempt.pages_done = pages_done
        self.pages.update(dict.fromkeys(pages, attempt.number))
        attempt.result = result
        self.cancel_requested = False
        self._close(Status.SUCCEEDED, Outcome.SUCCEEDED)

    def ended(self, decision: Decision, status: Status, not_before: Time) -> None:
        """Its holder did not finish it."""
        self.failures += decision.failures
        self.crashes += decision.crashes
        self.releases += decision.releases
        self._close(status, decision.outcome)
        self.not_before = not_before if status is Status.DELAYED else None

    def swept(self, status: Status, *, charged: bool, not_before: Time) -> None:
        """It was taken from its holder."""
        self.crashes += charged
        self._close(status, Outcome.EXPIRED)
        self.not_before = not_before if status is Status.DELAYED else None

    def cancelled(self) -> None:
        """Somebody asked that it ends."""
        self.cancel_requested = True
        if self.status in WAITING:
            self.status, self.not_before = Status.CANCELLED, None

    def retried(self) -> None:
        """It is in line again with a clean record."""
        self.status, self.not_before, self.cancel_requested = Status.ENQUEUED, None, False
        self.failures = self.crashes = self.releases = 0

    def promoted(self) -> None:
        """Its wait is over."""
        self.status, self.not_before = Status.ENQUEUED, None

    def _close(self, status: Status, outcome: Outcome) -> None:
        self.attempts[-1].outcome = outcome
        self.status, self.expires, self.deadline = status, None, None


@dataclass(slots=True)
class Model:
    """All tasks, the state of the sweeper, and what open transactions keep locked."""

    limits: Limits
    now: float = 0
    last_ok: float = 0
    braked_at: float | None = None
    looked_at: float = 0  # when a claim last began to look, at the front or where the one before it had ended
    tasks: dict[int, Task] = field(default_factory=dict)
    locked: frozenset[int] = frozenset()
    sweeper_locked: bool = False

    def add(self, task_id: int, new: NewTask, *, at: float, aging_ms: int) -> None:
        """A task stands in line from now on."""
        rank = at * 1000 - new.priority * aging_ms
        given = (new.document_id, new.page_count, new.lease_seconds, new.deadline_seconds)
        self.tasks[task_id] = Task(task_id, *given, rank)

    def held_with(self, claim: Claim) -> Task | None:
        """The task, if the claim's token is the one that holds it."""
        task = self.tasks.get(claim.task_id)
        return task if task and task.holder and task.holder.token == claim.lease_token else None

    def attempt_of(self, claim: Claim) -> Attempt | None:
        """The attempt that the claim opened, None if its transaction was never committed."""
        task = self.tasks.get(claim.task_id)
        return next((each for each in task.attempts if each.token == claim.lease_token), None) if task else None

    def live_task_of(self, document_id: int) -> Task | None:
        """The task of a document that waits or is in work."""
        return next((each for each in self.tasks.values() if self._is_live(each, document_id)), None)

    def in_line(self, *, suspects: bool) -> list[int]:
        """What a claim may take, best rank first."""
        ready = [
            task
            for task in self.tasks.values()
            if task.status is Status.ENQUEUED and (suspects or not task.crashes) and task.task_id not in self.locked
        ]
        return [task.task_id for task in sorted(ready, key=lambda task: (task.rank, task.task_id))]

    @staticmethod
    def _is_live(task: Task, document_id: int) -> bool:
        return task.document_id == document_id and task.status in LIVE


def known(time: Time) -> float:
    """A time that was looked at."""
    assert isinstance(time, int | float), "looked at before it was known"
    return time


def bounds(time: Time) -> Between:
    """What is known of a time."""
    assert time is not None
    return time if isinstance(time, Between) else Between(time, time)


def compare(model: Model, rows: list[Row[Any]]) -> None:
    """The rows are as the model says; times that were open are known from now on."""
    tasks = [model.tasks[task_id] for task_id in sorted(model.tasks)]
    assert [row.task_id for row in rows] == [task.task_id for task in tasks]
    for row, task in zip(rows, tasks, strict=True):
        shown, expected = [*row[:10], *row[13:]], task.as_row()
        assert shown == expected, f"a task is\n{shown}\nand must be\n{expected}"
        task.expires = _looked_at(task.task_id, "expires", task.expires, row.expires)
        task.deadline = _looked_at(task.task_id, "deadline", task.deadline, row.deadline)
        task.not_before = _looked_at(task.task_id, "not_before", task.not_before, row.not_before)


def _looked_at(task_id: int, name: str, expected: Time, found: float | None) -> float | None:
    if expected is None or found is None:
        assert expected is found, f"{name} of task {task_id} is {found}, not {expected}"
        return None
    within = bounds(expected)
    fits = within.lowest - TOLERANCE <= found <= within.highest + TOLERANCE
    assert fits, f"{name} of task {task_id} is {found}, not {expected}"
    return found

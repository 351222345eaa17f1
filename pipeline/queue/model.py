"""The values that pass between the queue and whoever uses it. All frozen; durations are seconds."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.queue.states import Status


class Outcome(enum.StrEnum):
    """How an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CRASHED = "crashed"  # the parent saw the child die, or killed it
    EXPIRED = "expired"  # the sweeper took it back
    RELEASED = "released"  # the worker gave it back
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class NewTask:
    """What to enqueue. `lease_seconds` and `deadline_seconds` come from LeasePolicy and are never recomputed."""

    document_id: int
    handler: str
    page_count: int
    lease_seconds: float
    deadline_seconds: float
    ocr_page_count: int = 0
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A task in hand, until its lease is over.

    `pages_done` pages were stored by earlier attempts: go on at the next one. `lease_seconds` counts from before the
    claim was asked for, on a clock that the holder must read itself; the database's clock is never compared with it.
    `crash_count` above 0 makes it a suspect: run it alone, a page a checkpoint.
    """

    task_id: int
    document_id: int
    attempt_no: int
    lease_token: uuid.UUID
    handler: str
    page_count: int
    ocr_page_count: int
    pages_done: int
    lease_seconds: float
    deadline_seconds: float
    failure_count: int
    crash_count: int
    release_count: int

    @property
    def is_suspect(self) -> bool:
        """Whether an earlier attempt of this task took its worker down."""
        return self.crash_count > 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The answer to a checkpoint: the lease as it is now, and whether somebody asked to stop."""

    lease_seconds: float
    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """What an attempt used: processor seconds of the child, and its largest resident size in bytes."""

    cpu_seconds: float | None = None
    peak_rss_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """The result of an attempt, handed in. `pages_stored` is what the holder was told is stored."""

    claim: Claim
    reason: str
    pages_done: int
    result: Mapping[str, Any]
    usage: Usage
    pages_stored: int = 0


@dataclass(frozen=True, slots=True)
class Swept:
    """One task that a sweep took back, and where it went."""

    task_id: int
    attempt_no: int
    status: Status
    charged: bool


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep did. `judged` is False when another sweep was under way and this one did nothing.

    `graced` leases were extended after an outage; `braked` says that too many would have been taken back at once, so
    this sweep took none and the next one looks again.
    """

    taken: tuple[Swept, ...] = ()
    graced: int = 0
    braked: bool = False
    judged: bool = True


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look saw: tasks that are ready, delayed ones that are due, and how many workers are on record.

    `absent` of them have no session any more.
    """

    ready: bool
    due: bool
    workers: int
    absent: int


@dataclass(frozen=True, slots=True)
class Shortened:
    """How many leases of workers that are gone were shortened; `again` asks for the second look, soon."""

    shortened: int
    again: bool


@dataclass(frozen=True, slots=True)
class TaskState:
    """A task as it stands, for those who wait for it or explain it."""

    task_id: int
    document_id: int
    status: Status
    reason: str | None
    attempt_no: int
    pages_done: int
    page_count: int
    not_before: dt.datetime | None

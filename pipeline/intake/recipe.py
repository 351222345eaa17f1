"""Taking a file in: its bytes durable in the store, then document, arrival and task in one transaction.

Two promises hold whoever dies and whenever: what has a row has its bytes, and the same bytes make one document with
one task. An arrival has a token, so that a step that is repeated after a crash finds what it did before. The bytes are
never parsed here: `inspect` runs elsewhere and only on the stored copy, which nobody can change any more.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

from pipeline.config import LimitSettings
from pipeline.documents.archive import Archive, Stored
from pipeline.documents.formats import Inspection
from pipeline.documents.opening import opened
from pipeline.documents.text import clean, display_name
from pipeline.errors import DocumentError, StoreUnavailable
from pipeline.handling import AUTO
from pipeline.intake.arrivals import Arrivals, Arrived, Identity, Newest, State
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.model import NewTask
from pipeline.queue.store import Queue
from pipeline.reasons import Reason

UNKNOWN_MEDIA_TYPE = "application/octet-stream"
MEGABYTE = 1_000_000
_MOST_PAGES = 2**31 - 1  # what a column holds; a file may claim more


@dataclass(frozen=True, slots=True)
class Source:
    """A file to take in.

    `path` is where it is now, `raw_path` the path it came by, whose last part names the document. `stays` says that it
    is left where it is, so that its arrival has its last place at once. `follow` allows a symbolic link.
    """

    path: Path
    raw_path: bytes
    stays: bool = True
    follow: bool = False

    @classmethod
    def at(cls, path: Path) -> Source:
        """A file that is taken from where it is and left there."""
        return cls(path, os.fsencode(path.absolute()))

    @property
    def name(self) -> str:
        """The document's name, fit to be shown."""
        return display_name(self.raw_name)

    @property
    def raw_name(self) -> bytes:
        """The document's name as the file system has it."""
        return self.raw_path.rpartition(b"/")[2]


@dataclass(frozen=True, slots=True)
class Order:
    """How a file is to be worked on, and by which token its arrival is known."""

    handler: str
    priority: int
    batch: str | None
    origin: str
    token: uuid.UUID


@dataclass(frozen=True, slots=True)
class Triage:
    """What is known of the bytes before work: an inspection, or why they are refused.

    Neither when the same bytes are in line, in work or done: nobody needs to look into them again.
    """

    inspection: Inspection | None = None
    reason: Reason | str | None = None
    error: str = ""


class Intake:
    """The recipe of one file. Holds a connection only while a statement or its one transaction runs.

    `inspect` gets the stored copy and the document's name and raises DocumentError for what cannot be worked on.
    `policy` gives the lease policy of a handler. `notify` is called after a commit that put a task in line.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        queue: Queue,
        archive: Archive,
        inspect: Callable[[Path, str], Inspection],
        policy: Callable[[str], LeasePolicy],
        limits: LimitSettings,
        notify: Callable[[], None],
    ) -> None:
        self.arrivals = Arrivals(engine)
        self._engine = engine
        self._queue = queue
        self._archive = archive
        self._inspect = inspect
        self._policy = policy
        self._limits = limits
        self._notify = notify

    def take(
        self,
        source: Source,
        *,
        handler: str = AUTO,
        priority: int = 0,
        batch: str | None = None,
        origin: str = "command",
        token: uuid.UUID,
    ) -> Arrived:
        """Take a file in and say what became of it. Repeating it with the same token repeats the answer.

        Raises DocumentError (nothing is on record) for what is no regular file, OSError when the file cannot be read,
        StoreUnavailable, and sqlalchemy's DBAPIError; after any of them the same call may be made again.
        """
        known = self.arrivals.find(token)
        if known is not None:
            return known
        order = Order(handler, priority, batch, origin, token)
        stored, identity = self.store(source)
        triage = self.triage(stored, source.name)
        arrived = self.record(source, order, stored, identity, triage)
        if arrived.state in (State.ENQUEUED, State.RETRIED):
            self._notify()
        return arrived

    def holds(self, path: Path, sha256: str) -> bool:
        """Whether the file still has exactly those bytes. Raises OSError, DocumentError when it is a file no more."""
        with opened(path) as (file, _):
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256

    # The steps of take, in this order. A crash before, between or after them loses and doubles nothing.

    def store(self, source: Source) -> tuple[Stored, Identity]:
        """Copy the bytes into the store, but those of a file that is too large: it is only hashed."""
        with opened(source.path, follow=source.follow) as (file, status):
            identity = identity_of(status)
            if status.st_size > self._max_bytes:
                return Stored(hashlib.file_digest(file, "sha256").hexdigest(), status.st_size), identity
            return self._archive.keep(file), identity

    def triage(self, stored: Stored, name: str) -> Triage:
        """Inspect the stored copy and hold it against the limits."""
        if stored.byte_count > self._max_bytes:
            return Triage(None, Reason.TOO_LARGE, self._too_large(stored.byte_count))
        if self.arrivals.has_no_need(stored.sha256):
            return Triage()
        try:
            inspection = self._inspect(self._archive.path_of(stored.sha256), name)
        except DocumentError as error:
            if error.reason in (Reason.IO_ERROR, Reason.DISK_FULL):
                raise StoreUnavailable(f"the store cannot be read: {error}") from error
            return Triage(None, error.reason, clean(str(error)))
        if inspection.page_count > self._limits.max_pages:
            return Triage(inspection, Reason.TOO_MANY_PAGES, self._too_many_pages(inspection.page_count))
        return Triage(inspection)

    def record(self, source: Source, order: Order, stored: Stored, identity: Identity, triage: Triage) -> Arrived:
        """Document, arrival and task, in one transaction whose first statement holds back the same bytes elsewhere."""
        facts = _facts(source, order, stored, triage)
        # Asks the database, so before the transaction: a process has one connection for both.
        policy = self._policy(order.handler)
        with self._engine.begin() as connection:
            document_id = self.arrivals.document(connection, facts)
            known = self.arrivals.found(connection, order.token)
            if known is not None:
                return known
            newest = self.arrivals.newest_task(connection, document_id)
            state = decide(newest, triage)
            if state is not State.DUPLICATE and newest is not None and triage.inspection is not None:
                self.arrivals.inspected_again(connection, facts)
            task = _task(document_id, order, facts, policy)
            task_id = self._task_for(connection, state, task, newest, triage)
            duplicate = state is not State.RETRIED and newest is not None and newest.task_id == task_id
            whose = {"document_id": document_id, "task_id": task_id, "duplicate": duplicate}
            self.arrivals.add(connection, _arrival(source, order, identity) | whose)
            arrived = self.arrivals.found(connection, order.token)
        assert arrived is not None, "it was added just now"
        return replace(arrived, state=state)

    def _task_for(
        self, connection: Connection, state: State, task: NewTask, newest: Newest | None, triage: Triage
    ) -> int:
        if newest is not None and state is State.DUPLICATE:
            return newest.task_id
        if state is State.REJECTED:
            reason = str(triage.reason)
            if newest is not None and (newest.status, newest.reason) == ("failed", reason):
                return newest.task_id
            return self._queue.reject(connection, task, reason=reason, error=triage.error)
        if newest is not None and _is_the_same_work(newest, task, triage):
            self._queue.requeue(connection, newest.task_id)
            return newest.task_id
        return self._queue.enqueue(connection, task)

    @property
    def _max_bytes(self) -> float:
        return self._limits.max_megabytes * MEGABYTE

    def _too_large(self, byte_count: int) -> str:
        return (
            f"the file has {byte_count / MEGABYTE:,.1f} MB, limits.max_megabytes is {self._limits.max_megabytes:g};"
            " its bytes were not kept: raise the key, then send the file again"
        )

    def _too_many_pages(self, page_count: int) -> str:
        return f"the file claims {page_count:,} pages, limits.max_pages is {self._limits.max_pages:,}"


def decide(newest: Newest | None, triage: Triage) -> State:
    """What becomes of an arrival, by its document's newest task and what triage says of the bytes. Pure."""
    if newest is not None and newest.status not in ("failed", "quarantined", "cancelled"):
        return State.DUPLICATE
    if triage.reason is not None:
        return State.REJECTED
    return State.ENQUEUED if newest is None else State.RETRIED


def identity_of(status: os.stat_result) -> Identity:
    """The version of a file that a status tells of."""
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _is_the_same_work(newest: Newest, task: NewTask, triage: Triage) -> bool:
    """Whether to go on with the old task and the pages it has, rather than to start another one."""
    same_type = task.handler in (AUTO, newest.handler)
    same_size = (newest.page_count, newest.ocr_page_count) == (task.page_count, task.ocr_page_count)
    return same_type and (triage.inspection is None or same_size)


def _facts(source: Source, order: Order, stored: Stored, triage: Triage) -> dict[str, Any]:
    found = triage.inspection or Inspection(UNKNOWN_MEDIA_TYPE, 0)
    pages = min(found.page_count, _MOST_PAGES)
    return {
        "sha256": stored.sha256,
        "name": source.name,
        "raw_name": source.raw_name,
        "media_type": clean(found.media_type),
        "byte_count": stored.byte_count,
        "page_count": pages,
        "ocr_page_count": min(found.ocr_page_count, pages),
        "restricted": found.restricted,
        "batch": order.batch,
    }


def _task(document_id: int, order: Order, facts: dict[str, Any], policy: LeasePolicy) -> NewTask:
    pages, ocr_pages = facts["page_count"], facts["ocr_page_count"]
    return NewTask(
        document_id=document_id,
        handler=order.handler,
        page_count=pages,
        lease_seconds=policy.lease_seconds(pages, ocr_pages),
        deadline_seconds=policy.deadline_seconds(pages, ocr_pages),
        ocr_page_count=ocr_pages,
        priority=order.priority,
    )


def _arrival(source: Source, order: Order, identity: Identity) -> dict[str, Any]:
    return {
        "token": order.token,
        "origin": order.origin,
        "name": source.name,
        "raw_path": source.raw_path,
        "device": identity.device,
        "inode": identity.inode,
        "byte_count": identity.byte_count,
        "mtime_ns": identity.mtime_ns,
        "stays": source.stays,
    }

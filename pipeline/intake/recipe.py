"""Taking a file in: its bytes durable in the store, then document, arrival and task in one transaction.

Two promises hold whoever dies and whenever: what has a row has its bytes, and the same bytes make one document with
one task. An arrival has a token, so that a step that is repeated after a crash finds what it did before. The bytes are
never parsed here: `inspect` runs elsewhere and only on the stored copy, which nobody can change any more.

`take` is for one file. Its steps are there for many as well (`grouping`), in the same order.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from pipeline.config import MEGABYTE, LimitSettings
from pipeline.documents.archive import Archive, Stored
from pipeline.documents.contract import Inspection
from pipeline.documents.opening import opened
from pipeline.documents.text import clean, display_name
from pipeline.entering import Entered, Entry, enter
from pipeline.errors import DocumentError, StoreUnavailable
from pipeline.handling import AUTO
from pipeline.intake.arrivals import Arrivals, Arrived, Identity
from pipeline.intake.outages import is_outage
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.store import Queue
from pipeline.reasons import Reason
from pipeline.registering import Origin, Registry, State, Triage, limited


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
class Ready:
    """A file whose bytes are in the store and were looked into: what is left is its rows."""

    source: Source
    order: Order
    stored: Stored
    identity: Identity
    triage: Triage


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
        self._registry = Registry(queue)
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
        triage = self.triage(stored, source.name, self.arrivals.without_need([stored.sha256]))
        arrived = self.record(Ready(source, order, stored, identity, triage))
        self.tell_of([arrived])
        return arrived

    def holds(self, path: Path, sha256: str) -> bool:
        """Whether the file still has exactly those bytes. Raises OSError, DocumentError when it is a file no more."""
        with opened(path) as (file, _):
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256

    # The steps of take, in this order. A crash before, between or after them loses and doubles nothing.

    def store(self, source: Source) -> tuple[Stored, Identity]:
        """Copy the bytes into the store, but those of a file that is too large: it is only hashed."""
        return self._read(source, self._archive.keep)

    def put(
        self, source: Source, *, through: Callable[[BufferedReader], BufferedReader] = lambda file: file
    ) -> tuple[Stored, Identity]:
        """The same, but for the name in the store: it is durable only after `sync`. Threads may put at once.

        The file is read through what `through` makes of it.
        """
        return self._read(source, self._archive.put, through)

    def sync(self, ready: Iterable[Ready], run: Callable[..., Iterable[None]]) -> None:
        """Make durable what was put; before there is a row of any of it. `run` may be the map of a pool."""
        self._archive.sync((each.stored for each in ready if not self._is_too_large(each.stored)), run=run)

    def triage(self, stored: Stored, name: str, without_need: Collection[str]) -> Triage:
        """Inspect the stored copy, if its hash is not among those without need, and hold it against the limits."""
        if self._is_too_large(stored):
            return Triage(None, Reason.TOO_LARGE, self._too_large(stored.byte_count))
        if stored.sha256 in without_need:
            return Triage()
        try:
            inspection = self._inspect(self._archive.path_of(stored.sha256), name)
        except DocumentError as error:
            if error.reason in (Reason.IO_ERROR, Reason.DISK_FULL):
                raise StoreUnavailable(f"the store cannot be read: {error}") from error
            return Triage(None, Reason(error.reason), clean(str(error)))
        return limited(inspection, self._limits)

    def record(self, ready: Ready) -> Arrived:
        """Document, arrival and task, in one transaction whose first statement holds back the same bytes elsewhere."""
        order, triage, origin = ready.order, ready.triage, _origin(ready)
        # Asks the database, so before the transaction: a process has one connection for both.
        policy = self._policy(order.handler)
        with self._engine.begin() as connection:
            document_id = self._registry.document(connection, origin, triage)
            known = self.arrivals.found(connection, order.token)
            if known is not None:
                return known
            found = self._registry.put_in_line(
                connection, document_id, origin, triage, handler=order.handler, priority=order.priority, policy=policy
            )
            whose = {"document_id": document_id, "task_id": found.task_id, "duplicate": found.duplicate}
            self.arrivals.add(connection, _arrival(ready, origin) | whose)
            arrived = self.arrivals.found(connection, order.token)
        assert arrived is not None, "it was added just now"
        return replace(arrived, state=found.state)

    def record_all(self, many: Sequence[Ready]) -> list[Arrived | DBAPIError]:
        """The same for many, in one transaction, but for those that need one of their own.

        An error stands for what cannot be written, whose cause is in no other's way. Raises DBAPIError in an outage.
        """
        try:
            together = self._record_together(many)
        except DBAPIError:
            together = [None] * len(many)
        return [arrived or self._record_alone(ready) for arrived, ready in zip(together, many, strict=True)]

    def tell_of(self, arrived: Iterable[Arrived | Exception]) -> None:
        """Wake workers if there is something to do for them. Call it after the commit."""
        if any(isinstance(each, Arrived) and each.state in (State.ENQUEUED, State.RETRIED) for each in arrived):
            self._notify()

    def _read(
        self,
        source: Source,
        keep: Callable[[BinaryIO], Stored],
        through: Callable[[BufferedReader], BufferedReader] = lambda file: file,
    ) -> tuple[Stored, Identity]:
        with opened(source.path, follow=source.follow) as (file, status):
            identity, read = identity_of(status), through(file)
            if status.st_size > self._max_bytes:
                return Stored(hashlib.file_digest(read, "sha256").hexdigest(), status.st_size), identity
            return keep(read), identity

    def _record_together(self, many: Sequence[Ready]) -> list[Arrived | None]:
        policies = {handler: self._policy(handler) for handler in {each.order.handler for each in many}}
        entries = [_entry(each, policies[each.order.handler]) for each in many]
        with self._engine.begin() as connection:
            entered = enter(connection, self._queue, entries)
            every = list(zip(many, entries, entered, strict=True))
            arrivals = [_arrival(ready, entry.origin) | _whose(found) for ready, entry, found in every if found]
            if arrivals:
                self.arrivals.add_all(connection, arrivals)
            duplicates = [ready.order.token for ready, _, found in every if found and found.task is None]
            known = self.arrivals.found_all(connection, duplicates) if duplicates else {}
        return [known.get(ready.order.token) or _arrived(entry.origin, found) for ready, entry, found in every]

    def _record_alone(self, ready: Ready) -> Arrived | DBAPIError:
        try:
            return self.record(ready)
        except DBAPIError as error:
            if is_outage(error):
                raise
            return error

    def _is_too_large(self, stored: Stored) -> bool:
        return stored.byte_count > self._max_bytes

    @property
    def _max_bytes(self) -> float:
        return self._limits.max_megabytes * MEGABYTE

    def _too_large(self, byte_count: int) -> str:
        return (
            f"the file has {byte_count / MEGABYTE:,.1f} MB, limits.max_megabytes is {self._limits.max_megabytes:g};"
            " its bytes were not kept: raise the key, then send the file again"
        )


def identity_of(status: os.stat_result) -> Identity:
    """The version of a file that a status tells of."""
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _origin(ready: Ready) -> Origin:
    source, stored = ready.source, ready.stored
    return Origin(source.name, source.raw_name, stored.sha256, stored.byte_count, ready.order.batch)


def _entry(ready: Ready, policy: LeasePolicy) -> Entry:
    return Entry(_origin(ready), ready.triage, ready.order.handler, ready.order.priority, policy)


def _arrival(ready: Ready, origin: Origin) -> dict[str, Any]:
    return {
        "token": ready.order.token,
        "origin": ready.order.origin,
        "name": origin.name,
        "raw_path": ready.source.raw_path,
        "device": ready.identity.device,
        "inode": ready.identity.inode,
        "byte_count": ready.identity.byte_count,
        "mtime_ns": ready.identity.mtime_ns,
        "stays": ready.source.stays,
    }


def _whose(found: Entered) -> dict[str, Any]:
    return {"document_id": found.document_id, "task_id": found.task_id, "duplicate": found.task is None}


def _arrived(origin: Origin, found: Entered | None) -> Arrived | None:
    """What a fresh task's rows would say; None when there is none."""
    if found is None or found.task is None:
        return None
    return Arrived(
        document_id=found.document_id,
        task_id=found.task_id,
        name=origin.name,
        page_count=found.task.page_count,
        priority=found.task.priority,
        lease_seconds=found.task.lease_seconds,
        state=State.ENQUEUED,
        reason=None,
        error=None,
        sha256=origin.sha256,
        byte_count=origin.byte_count,
    )

"""Documents on record: the same bytes are one document with one live task, whichever way they came.

Everything here runs inside the caller's transaction, whose first statement locks the document: the same bytes that
arrive elsewhere at the same time wait.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from pipeline.config import LimitSettings
from pipeline.documents.contract import Inspection
from pipeline.documents.text import clean
from pipeline.errors import IllegalMove
from pipeline.handling import AUTO
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.model import NewTask
from pipeline.queue.states import FINAL, Status
from pipeline.queue.store import Queue
from pipeline.reasons import Reason, Retry

UNKNOWN_MEDIA_TYPE = "application/octet-stream"
_MOST_PAGES = 2**31 - 1  # what a column holds; a file may claim more
_ENDED_BADLY = (Status.FAILED, Status.QUARANTINED, Status.CANCELLED)


class State(enum.StrEnum):
    """What became of bytes that came in."""

    ENQUEUED = "enqueued"
    DUPLICATE = "duplicate"  # the same bytes are in line, in work or done
    RETRIED = "retried"  # the same bytes had ended badly; they are in line again
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Origin:
    """What names a document and where it hangs.

    `depth` counts from 0, for what came in by itself; anything else has a parent and, at the top of the tree, a root.
    """

    name: str
    raw_name: bytes
    sha256: str
    byte_count: int
    batch: str | None = None
    parent_document_id: int | None = None
    root_document_id: int | None = None
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Triage:
    """What is known of the bytes before work: an inspection, or why they are refused.

    Neither when the same bytes are in line, in work or done: nobody needs to look into them again.
    """

    inspection: Inspection | None = None
    reason: Reason | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """The document's newest task, and what became of the bytes. `duplicate`: that task was there already."""

    task_id: int
    state: State
    duplicate: bool


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest task of a document."""

    task_id: int
    status: str
    handler: str
    page_count: int
    ocr_page_count: int
    reason: str | None


class Registry:
    """Documents and the tasks they get. Stateless; `queue` is where the tasks go."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    def document(self, connection: Connection, origin: Origin, triage: Triage) -> int:
        """The document of those bytes, made if it is new, and locked.

        Looks before it inserts, so that a duplicate costs no number.
        """
        values = columns_of(origin, triage)
        for statement in (_LOCK, _ADD, _LOCK):
            row = connection.execute(statement, values).one_or_none()
            if row is not None:
                return int(row.document_id)
        raise AssertionError("documents are never deleted, so one that is in the way of another can be found")

    def put_in_line(
        self,
        connection: Connection,
        document_id: int,
        origin: Origin,
        triage: Triage,
        *,
        handler: str,
        priority: int,
        policy: LeasePolicy,
    ) -> Registered:
        """Give a locked document its task: a new one, the old one again, or none beside the one it has."""
        columns = columns_of(origin, triage)
        newest = self._newest(connection, document_id)
        state = decide(newest, triage)
        if state is not State.DUPLICATE and newest is not None and triage.inspection is not None:
            connection.execute(_INSPECTED_AGAIN, columns)
        task = task_of(document_id, columns, handler, priority, policy)
        task_id = self._task_for(connection, state, task, newest, triage)
        duplicate = state is not State.RETRIED and newest is not None and newest.task_id == task_id
        return Registered(task_id, state, duplicate)

    def start_over(
        self,
        connection: Connection,
        document_id: int,
        origin: Origin,
        inspection: Inspection,
        *,
        handler: str,
        priority: int,
        policy: LeasePolicy,
    ) -> int:
        """Give a locked document a fresh task, also after a success. Raises IllegalMove for one in line or in work."""
        newest = self._newest(connection, document_id)
        if newest is not None and Status(newest.status) not in FINAL:
            raise IllegalMove(f"document {document_id} is {newest.status} already (task {newest.task_id})")
        columns = columns_of(origin, Triage(inspection))
        connection.execute(_INSPECTED_AGAIN, columns)
        return self._queue.enqueue(connection, task_of(document_id, columns, handler, priority, policy))

    def _newest(self, connection: Connection, document_id: int) -> Newest | None:
        row = connection.execute(_NEWEST_TASK, {"document_id": document_id}).one_or_none()
        return None if row is None else Newest(**row._mapping)

    def _task_for(
        self, connection: Connection, state: State, task: NewTask, newest: Newest | None, triage: Triage
    ) -> int:
        if newest is not None and state is State.DUPLICATE:
            return newest.task_id
        if state is State.REJECTED:
            return self._rejected(connection, task, newest, triage)
        if newest is not None and _is_the_same_work(newest, task, triage):
            self._queue.requeue(connection, newest.task_id)
            return newest.task_id
        return self._queue.enqueue(connection, task)

    def _rejected(self, connection: Connection, task: NewTask, newest: Newest | None, triage: Triage) -> int:
        assert triage.reason is not None
        is_dangerous = triage.reason is Reason.BOMB or triage.reason.retry is Retry.SUSPECT
        status = Status.QUARANTINED if is_dangerous else Status.FAILED
        if newest is not None and (newest.status, newest.reason) == (status, triage.reason):
            return newest.task_id
        return self._queue.reject(connection, task, status=status, reason=triage.reason, error=triage.error)


def limited(inspection: Inspection, limits: LimitSettings) -> Triage:
    """An inspection held against the limits."""
    if inspection.page_count <= limits.max_pages:
        return Triage(inspection)
    found = f"the file claims {inspection.page_count:,} pages, limits.max_pages is {limits.max_pages:,}"
    return Triage(inspection, Reason.TOO_MANY_PAGES, found)


def decide(newest: Newest | None, triage: Triage) -> State:
    """What becomes of bytes that came in, by their document's newest task and what triage says of them. Pure."""
    if newest is not None and newest.status not in _ENDED_BADLY:
        return State.DUPLICATE
    if triage.reason is not None:
        return State.REJECTED
    return State.ENQUEUED if newest is None else State.RETRIED


def _is_the_same_work(newest: Newest, task: NewTask, triage: Triage) -> bool:
    """Whether to go on with the old task and the pages it has, rather than to start another one."""
    same_type = task.handler in (AUTO, newest.handler)
    same_size = (newest.page_count, newest.ocr_page_count) == (task.page_count, task.ocr_page_count)
    return same_type and (triage.inspection is None or same_size)


def columns_of(origin: Origin, triage: Triage) -> dict[str, Any]:
    """The row of a document."""
    found = triage.inspection or Inspection(UNKNOWN_MEDIA_TYPE, 0)
    pages = min(found.page_count, _MOST_PAGES)
    return {
        "sha256": origin.sha256,
        "name": origin.name,
        "raw_name": origin.raw_name,
        "media_type": clean(found.media_type),
        "byte_count": origin.byte_count,
        "page_count": pages,
        "ocr_page_count": min(found.ocr_page_count, pages),
        "restricted": found.restricted,
        "batch": origin.batch,
        "parent_document_id": origin.parent_document_id,
        "root_document_id": origin.root_document_id,
        "depth": origin.depth,
    }


def task_of(document_id: int, columns: dict[str, Any], handler: str, priority: int, policy: LeasePolicy) -> NewTask:
    """The task of a document, by the columns of its row."""
    pages, ocr_pages = columns["page_count"], columns["ocr_page_count"]
    return NewTask(
        document_id=document_id,
        handler=handler,
        page_count=pages,
        lease_seconds=policy.lease_seconds(pages, ocr_pages),
        deadline_seconds=policy.deadline_seconds(pages, ocr_pages),
        ocr_page_count=ocr_pages,
        priority=priority,
    )


# Weaker than FOR UPDATE: a worker that writes rows which refer to the document is not held up.
_LOCK = text("SELECT document_id FROM documents WHERE sha256 = :sha256 FOR NO KEY UPDATE")

_ADD = text("""
    INSERT INTO documents
        (sha256, name, raw_name, media_type, byte_count, page_count, ocr_page_count, restricted, batch,
         parent_document_id, root_document_id, depth)
    VALUES
        (:sha256, :name, :raw_name, :media_type, :byte_count, :page_count, :ocr_page_count, :restricted, :batch,
         :parent_document_id, :root_document_id, :depth)
    ON CONFLICT (sha256) DO NOTHING
    RETURNING document_id
""")

_INSPECTED_AGAIN = text("""
    UPDATE documents
    SET media_type = :media_type,
        page_count = :page_count,
        ocr_page_count = :ocr_page_count,
        restricted = :restricted
    WHERE sha256 = :sha256
""")

_NEWEST_TASK = text("""
    SELECT task_id, status, handler, page_count, ocr_page_count, reason
    FROM tasks
    WHERE document_id = :document_id
    ORDER BY task_id DESC
    LIMIT 1
""")

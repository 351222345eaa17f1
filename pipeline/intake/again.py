"""A document on record worked on once more: with a password that opens it, or read anew as it is.

Nothing is sent again; the bytes are in the store.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, text

from pipeline.config import LimitSettings
from pipeline.documents.archive import Archive
from pipeline.documents.contract import Inspection
from pipeline.errors import DocumentError, IllegalMove, NothingMatched, UsageProblem
from pipeline.passwords import remember
from pipeline.queue.lease import LeasePolicy
from pipeline.reasons import Reason
from pipeline.registering import Origin, Registry, Triage, limited

Opener = Callable[[Path, str, str], Inspection]


@dataclass(frozen=True, slots=True)
class Known:
    """A document on record and its newest task."""

    document_id: int
    origin: Origin
    status: str
    reason: str | None
    handler: str
    priority: int


class Again:
    """Puts documents in line again.

    `open_with` inspects the bytes at a path, under a name, with a password of their own; it raises DocumentError.
    `notify` is called after a commit that put a task in line.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        registry: Registry,
        archive: Archive,
        policy: Callable[[str], LeasePolicy],
        limits: LimitSettings,
        open_with: Opener,
        notify: Callable[[], None],
    ) -> None:
        self._engine = engine
        self._registry = registry
        self._archive = archive
        self._policy = policy
        self._limits = limits
        self._open_with = open_with
        self._notify = notify

    def unlock(self, document_id: int, password: str, passwords: Path) -> int:
        """Try a password; if it opens the document, remember it in the file and retry. Returns the task.

        Raises NothingMatched, UsageProblem for a wrong password, IllegalMove for a document that needs none.
        """
        known = self._known(document_id)
        if known.reason != Reason.NEEDS_PASSWORD:
            state = known.reason or known.status
            raise IllegalMove(f"document {document_id} is {state}; only one that needs a password is unlocked")
        try:
            inspection = self._open_with(self._archive.path_of(known.origin.sha256), known.origin.name, password)
        except DocumentError as error:
            if error.reason != Reason.NEEDS_PASSWORD:
                raise
            raise UsageProblem(f"that password does not open document {document_id}; nothing was changed") from error
        remember(passwords, password)
        return self._put_in_line(known, limited(inspection, self._limits))

    def reprocess(self, document_id: int, *, handler: str | None = None, priority: int | None = None) -> int:
        """Read a document anew, as if it had come for the first time. Returns the new task.

        The result it has stays in force until the new one is accepted. Raises NothingMatched, IllegalMove for one that
        is in line or in work, DocumentError for one that is refused as it was.
        """
        known = self._known(document_id)
        policy = self._policy(handler or known.handler)
        try:
            inspection = self._open_with(self._archive.path_of(known.origin.sha256), known.origin.name, "")
        except DocumentError as error:
            raise UsageProblem(f"document {document_id} cannot be read: {error}") from error
        with self._engine.begin() as connection:
            self._registry.document(connection, known.origin, Triage(inspection))
            task_id = self._registry.start_over(
                connection,
                document_id,
                known.origin,
                inspection,
                handler=handler or known.handler,
                priority=known.priority if priority is None else priority,
                policy=policy,
            )
        self._notify()
        return task_id

    def _put_in_line(self, known: Known, triage: Triage) -> int:
        policy = self._policy(known.handler)
        with self._engine.begin() as connection:
            self._registry.document(connection, known.origin, triage)
            found = self._registry.put_in_line(
                connection,
                known.document_id,
                known.origin,
                triage,
                handler=known.handler,
                priority=known.priority,
                policy=policy,
            )
        self._notify()
        return found.task_id

    def _known(self, document_id: int) -> Known:
        with self._engine.connect() as connection:
            return _known(connection, document_id)


def _known(connection: Connection, document_id: int) -> Known:
    row = connection.execute(_KNOWN, {"document_id": document_id}).one_or_none()
    if row is None:
        raise NothingMatched(f"there is no document {document_id}; `doclease documents list` shows those there are")
    return Known(document_id, _origin(row), row.status, row.reason, row.handler, row.priority)


def _origin(row: Any) -> Origin:
    return Origin(row.name, bytes(row.raw_name), row.sha256, row.byte_count, row.batch)


_KNOWN = text("""
    SELECT
        documents.name,
        documents.raw_name,
        documents.sha256,
        documents.byte_count,
        documents.batch,
        tasks.status,
        tasks.reason,
        tasks.handler,
        tasks.priority
    FROM documents
    JOIN tasks ON tasks.document_id = documents.document_id
    WHERE documents.document_id = :document_id
    ORDER BY tasks.task_id DESC
    LIMIT 1
""")

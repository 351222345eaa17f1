"""The rows of intake: how often bytes came, and where each file went. One method, one statement.

Methods with a connection run inside the caller's transaction; the others in one of their own. Nothing here decides.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Row, text

from pipeline.registering import State


@dataclass(frozen=True, slots=True)
class Arrived:
    """A file that is on record. For a duplicate, document and task are those of the first arrival.

    `page_count`, `priority` and `lease_seconds` are the task's. `reason` and `error` are set once the task has ended.
    """

    document_id: int
    task_id: int
    name: str
    page_count: int
    priority: int
    lease_seconds: float
    state: State
    reason: str | None
    error: str | None
    sha256: str
    byte_count: int


@dataclass(frozen=True, slots=True)
class Identity:
    """A version of a file as the file system tells it: another version has another one."""

    device: int
    inode: int
    byte_count: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A file in a private folder whose turn it is.

    `arrival_id` and all that follows it are None when the file was never taken: whoever had it died before. `ended`
    is the status of the task. `placed` says that the file had its last place already, `placed_path` which one was
    chosen for it.
    """

    token: uuid.UUID
    arrival_id: int | None = None
    document_id: int | None = None
    task_id: int | None = None
    ended: str | None = None
    reason: str | None = None
    error: str | None = None
    attempts: int | None = None
    duplicate: bool | None = None
    sha256: str | None = None
    byte_count: int | None = None
    mtime_ns: int | None = None
    placed: bool | None = None
    placed_path: bytes | None = None


class Arrivals:
    """Arrivals in PostgreSQL. Holds a connection only while a statement runs.

    Every method may raise sqlalchemy's DBAPIError when the database is away; repeating any of them is safe.
    """

    def __init__(self, engine: Engine) -> None:
        self._single = engine.execution_options(isolation_level="AUTOCOMMIT")

    # In the caller's transaction

    def add(self, connection: Connection, values: dict[str, Any]) -> None:
        """Record an arrival. A token that is on record already is an IntegrityError."""
        connection.execute(_ADD, values)

    def add_all(self, connection: Connection, arrivals: Sequence[dict[str, Any]]) -> None:
        """Record many, in this order."""
        given = [each | {"token": str(each["token"]), "raw_path": each["raw_path"].hex()} for each in arrivals]
        connection.execute(_ADD_ALL, {"arrivals": json.dumps(given)})

    def found(self, connection: Connection, token: uuid.UUID) -> Arrived | None:
        """The arrival of that token."""
        return next(iter(self.found_all(connection, [token]).values()), None)

    def found_all(self, connection: Connection, tokens: Collection[uuid.UUID]) -> dict[uuid.UUID, Arrived]:
        """Those of the tokens that arrived."""
        return _by_token(connection.execute(_FIND, {"tokens": list(tokens)}).all())

    # On their own

    def find(self, token: uuid.UUID) -> Arrived | None:
        """The arrival of that token."""
        return _by_token(self._rows(_FIND, tokens=[token])).get(token)

    def without_need(self, hashes: Collection[str]) -> set[str]:
        """Those of the hashes whose bytes are in line, in work or done: nobody needs to look into them again."""
        return {row.sha256 for row in self._rows(_WITHOUT_NEED, hashes=list(hashes))} if hashes else set()

    def knows(self, identity: Identity) -> bool:
        """Whether that version of a file that stays where it is was taken."""
        values = {name: getattr(identity, name) for name in Identity.__slots__}
        return self._rows(_KNOWS, **values, first=True) is not None

    def due(self, tokens: Collection[uuid.UUID]) -> list[Unplaced]:
        """Those of the tokens that were never taken, whose task has ended, or whose file had its place already."""
        rows = self._rows(_DUE, tokens=list(tokens)) if tokens else []
        return [Unplaced(**{**row._mapping, "placed_path": _raw(row.placed_path)}) for row in rows]

    def choose_place(self, token: uuid.UUID, path: bytes, *, instead_of: bytes | None) -> bytes | None:
        """Record where a file is going to be; returns the path in force, another one if somebody else chose first."""
        row = self._rows(_CHOOSE_PLACE, token=token, path=path, instead_of=instead_of, first=True)
        if row is None:
            row = self._rows(_CHOSEN_PLACE, token=token, first=True)
        return None if row is None else _raw(row.placed_path)

    def placed(self, token: uuid.UUID) -> None:
        """Record that a file has its last place."""
        self._rows(_PLACED, token=token)

    def earlier_places(self, document_id: int, arrival_id: int) -> list[bytes]:
        """Where the files of earlier arrivals of a document were put."""
        rows = self._rows(_EARLIER_PLACES, document_id=document_id, arrival_id=arrival_id)
        return [bytes(row.placed_path) for row in rows]

    def scanned(self, inbox: str, waiting_files: int, note: str | None) -> None:
        """Record that an inbox was looked through just now."""
        self._rows(_SCANNED, inbox=inbox, waiting_files=waiting_files, note=note)

    def statuses(self, task_ids: Collection[int]) -> dict[int, tuple[str, str | None]]:
        """Status and reason of each of the tasks."""
        rows = self._rows(_STATUSES, task_ids=list(task_ids)) if task_ids else []
        return {row.task_id: (row.status, row.reason) for row in rows}

    def inside(self, task_ids: Collection[int]) -> dict[int, list[tuple[str, str | None]]]:
        """Status and reason of each document that came inside those of the tasks, at any depth."""
        found: dict[int, list[tuple[str, str | None]]] = {task_id: [] for task_id in task_ids}
        for row in self._rows(_INSIDE, task_ids=list(task_ids)) if task_ids else []:
            found[row.top].append((row.status, row.reason))
        return found

    def _rows(self, statement: Any, *, first: bool = False, **values: Any) -> Any:
        with self._single.connect() as connection:
            result = connection.execute(statement, values)
            rows: Sequence[Row[Any]] = result.all() if result.returns_rows else []
        return (rows[0] if rows else None) if first else rows


def _by_token(rows: Sequence[Row[Any]]) -> dict[uuid.UUID, Arrived]:
    found = (row._asdict() for row in rows)
    return {row.pop("token"): Arrived(**row | {"state": State(row["state"])}) for row in found}


def _raw(value: Any) -> bytes | None:
    return None if value is None else bytes(value)


_ADD = text("""
    INSERT INTO arrivals
        (token, document_id, task_id, origin, name, raw_path, device, inode, byte_count, mtime_ns, duplicate,
         placed_at, placed_path)
    VALUES
        (:token, :document_id, :task_id, :origin, :name, :raw_path, :device, :inode, :byte_count, :mtime_ns, :duplicate,
         CASE WHEN CAST(:stays AS boolean) THEN queue_now() END,
         CASE WHEN CAST(:stays AS boolean) THEN CAST(:raw_path AS bytea) END)
""")

_ADD_ALL = text("""
    INSERT INTO arrivals
        (token, document_id, task_id, origin, name, raw_path, device, inode, byte_count, mtime_ns, duplicate,
         placed_at, placed_path)
    SELECT
        token, document_id, task_id, origin, name, decode(raw_path, 'hex'), device, inode, byte_count, mtime_ns,
        duplicate,
        CASE WHEN stays THEN queue_now() END,
        CASE WHEN stays THEN decode(raw_path, 'hex') END
    FROM json_to_recordset(CAST(:arrivals AS json)) AS given (
        token uuid,
        document_id bigint,
        task_id bigint,
        origin text,
        name text,
        raw_path text,
        device numeric,
        inode numeric,
        byte_count bigint,
        mtime_ns bigint,
        duplicate boolean,
        stays boolean
    )
""")

# A task that ended before any attempt was refused at the door.
_FIND = text("""
    SELECT
        arrivals.token,
        arrivals.document_id,
        arrivals.task_id,
        arrivals.name,
        tasks.page_count,
        tasks.priority,
        tasks.lease_seconds,
        CASE
            WHEN tasks.status IN ('failed', 'quarantined') AND tasks.attempt_no = 0 THEN 'rejected'
            WHEN arrivals.duplicate THEN 'duplicate'
            ELSE 'enqueued'
        END AS state,
        tasks.reason,
        tasks.error,
        documents.sha256,
        documents.byte_count
    FROM arrivals
    JOIN documents USING (document_id)
    JOIN tasks USING (task_id)
    WHERE arrivals.token = ANY(CAST(:tokens AS uuid[]))
""")

_WITHOUT_NEED = text("""
    SELECT documents.sha256
    FROM documents
    JOIN LATERAL (
        SELECT status
        FROM tasks
        WHERE tasks.document_id = documents.document_id
        ORDER BY task_id DESC
        LIMIT 1
    ) AS tasks ON tasks.status IN ('enqueued', 'delayed', 'processing', 'succeeded')
    WHERE documents.sha256 = ANY(CAST(:hashes AS text[]))
""")

_KNOWS = text("""
    SELECT arrival_id
    FROM arrivals
    WHERE device = :device
        AND inode = :inode
        AND byte_count = :byte_count
        AND mtime_ns = :mtime_ns
        AND placed_at IS NOT NULL
    LIMIT 1
""")

_DUE = text("""
    SELECT
        asked.token,
        arrivals.arrival_id,
        arrivals.document_id,
        arrivals.task_id,
        tasks.status AS ended,
        tasks.reason,
        tasks.error,
        tasks.attempt_no AS attempts,
        arrivals.duplicate,
        documents.sha256,
        arrivals.byte_count,
        arrivals.mtime_ns,
        arrivals.placed_at IS NOT NULL AS placed,
        arrivals.placed_path
    FROM unnest(CAST(:tokens AS uuid[])) AS asked (token)
    LEFT JOIN arrivals ON arrivals.token = asked.token
    LEFT JOIN tasks ON tasks.task_id = arrivals.task_id
    LEFT JOIN documents ON documents.document_id = arrivals.document_id
    WHERE arrivals.arrival_id IS NULL
        OR arrivals.placed_at IS NOT NULL
        OR tasks.finished_at IS NOT NULL
    ORDER BY arrivals.arrival_id
""")

# Two watchers may choose at once: the second one's condition no longer holds, and it goes by what the first wrote.
_CHOOSE_PLACE = text("""
    UPDATE arrivals
    SET placed_path = :path
    WHERE token = :token
        AND placed_path IS NOT DISTINCT FROM CAST(:instead_of AS bytea)
        AND placed_at IS NULL
    RETURNING placed_path
""")

_CHOSEN_PLACE = text("SELECT placed_path FROM arrivals WHERE token = :token")

_PLACED = text("UPDATE arrivals SET placed_at = queue_now() WHERE token = :token AND placed_at IS NULL")

_EARLIER_PLACES = text("""
    SELECT placed_path
    FROM arrivals
    WHERE document_id = :document_id
        AND arrival_id < :arrival_id
        AND origin = 'inbox'
        AND placed_path IS NOT NULL
""")

_SCANNED = text("""
    INSERT INTO inbox_scans (inbox, scanned_at, waiting_files, note)
    VALUES (:inbox, queue_now(), :waiting_files, :note)
    ON CONFLICT (inbox) DO UPDATE
    SET scanned_at = excluded.scanned_at,
        waiting_files = excluded.waiting_files,
        note = excluded.note
""")

_STATUSES = text("SELECT task_id, status, reason FROM tasks WHERE task_id = ANY(CAST(:task_ids AS bigint[]))")

_INSIDE = text("""
    WITH RECURSIVE tree AS (
        SELECT task_id AS top, document_id
        FROM tasks
        WHERE task_id = ANY(CAST(:task_ids AS bigint[]))
        UNION
        SELECT tree.top, attachments.document_id
        FROM tree
        JOIN attachments ON attachments.parent_document_id = tree.document_id
        WHERE attachments.document_id IS NOT NULL
    )
    SELECT tree.top, newest.status, newest.reason
    FROM tree
    JOIN LATERAL (
        SELECT task_id, status, reason
        FROM tasks
        WHERE tasks.document_id = tree.document_id
        ORDER BY task_id DESC
        LIMIT 1
    ) AS newest ON newest.task_id <> tree.top
""")

"""Many documents on record at once: new ones with a task each, and known ones that are duplicates.

The promises are those of `registering`, and what is neither new nor a duplicate goes its way, by itself. A group waits
for nobody, so that it is never one of two transactions that wait for each other's documents.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from pipeline.queue.lease import LeasePolicy
from pipeline.queue.model import NewTask
from pipeline.queue.store import Queue
from pipeline.registering import Newest, Origin, State, Triage, columns_of, decide, task_of


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes that came in by themselves, and how they are to be worked on."""

    origin: Origin
    triage: Triage
    handler: str
    priority: int
    policy: LeasePolicy


@dataclass(frozen=True, slots=True)
class Entered:
    """A document and its newest task, made just now (`task` says how) or, of a duplicate, there already."""

    document_id: int
    task_id: int
    task: NewTask | None = None

    @property
    def state(self) -> State:
        """What became of the bytes."""
        return State.DUPLICATE if self.task is None else State.ENQUEUED


def enter(connection: Connection, queue: Queue, entries: Sequence[Entry]) -> list[Entered | None]:
    """Put on record and in line what is new, and tell what is a duplicate. None for what has to come by itself.

    Inside the caller's transaction, as its first statements. Raises sqlalchemy's DBAPIError, with nothing written, also
    when another transaction has one of the documents in hand, or when one of the rows cannot be written.
    """
    connection.execute(_WAIT_FOR_NOBODY)
    new = dict(_add(connection, entries))
    tasks = queue.enqueue_all(connection, list(new.values())) if new else {}
    known = _known(connection, {each.origin.sha256 for place, each in enumerate(entries) if place not in new})
    return [
        Entered(new[place].document_id, tasks[new[place].document_id], new[place])
        if place in new
        else _duplicate(known.get(entry.origin.sha256), entry)
        for place, entry in enumerate(entries)
    ]


def _add(connection: Connection, entries: Sequence[Entry]) -> Iterator[tuple[int, NewTask]]:
    """Insert the documents that may be worked on and are not there; the places of those, and their tasks-to-be."""
    first: dict[str, int] = {}
    for place, entry in enumerate(entries):
        if entry.triage.inspection is not None and entry.triage.reason is None:
            first.setdefault(entry.origin.sha256, place)
    if not first:
        return
    rows = {place: columns_of(entries[place].origin, entries[place].triage) for place in first.values()}
    given = json.dumps([row | {"raw_name": row["raw_name"].hex()} for row in rows.values()])
    for added in connection.execute(_ADD_ALL, {"documents": given}):
        place = first[added.sha256]
        entry = entries[place]
        yield place, task_of(added.document_id, rows[place], entry.handler, entry.priority, entry.policy)


def _known(connection: Connection, hashes: Collection[str]) -> dict[str, tuple[int, Newest]]:
    """Documents that were there, locked, each with its newest task."""
    if not hashes:
        return {}
    values = {"hashes": list(hashes)}
    connection.execute(_LOCK_ALL, values)
    found = (row._asdict() for row in connection.execute(_NEWEST_OF_ALL, values))
    return {row.pop("sha256"): (row.pop("document_id"), Newest(**row)) for row in found}


def _duplicate(known: tuple[int, Newest] | None, entry: Entry) -> Entered | None:
    if known is None or decide(known[1], entry.triage) is not State.DUPLICATE:
        return None
    return Entered(known[0], known[1].task_id)


# Well below any deadlock_timeout, so that of two that wait for each other it is never a worker who has to begin again.
_WAIT_FOR_NOBODY = text("SET LOCAL lock_timeout = 200")

_ADD_ALL = text("""
    INSERT INTO documents
        (sha256, name, raw_name, media_type, byte_count, page_count, ocr_page_count, restricted, batch)
    SELECT
        sha256, name, decode(raw_name, 'hex'), media_type, byte_count, page_count, ocr_page_count, restricted, batch
    FROM ROWS FROM (
        json_to_recordset(CAST(:documents AS json)) AS (
            sha256 text,
            name text,
            raw_name text,
            media_type text,
            byte_count bigint,
            page_count integer,
            ocr_page_count integer,
            restricted boolean,
            batch text
        )
    ) WITH ORDINALITY AS given (
        sha256, name, raw_name, media_type, byte_count, page_count, ocr_page_count, restricted, batch, place
    )
    ORDER BY place
    ON CONFLICT (sha256) DO NOTHING
    RETURNING document_id, sha256
""")

_LOCK_ALL = text("""
    SELECT document_id
    FROM documents
    WHERE sha256 = ANY(CAST(:hashes AS text[]))
    ORDER BY sha256
    FOR NO KEY UPDATE
""")

_NEWEST_OF_ALL = text("""
    SELECT
        documents.sha256,
        documents.document_id,
        newest.task_id,
        newest.status,
        newest.handler,
        newest.page_count,
        newest.ocr_page_count,
        newest.reason
    FROM documents
    JOIN LATERAL (
        SELECT *
        FROM tasks
        WHERE tasks.document_id = documents.document_id
        ORDER BY task_id DESC
        LIMIT 1
    ) AS newest ON true
    WHERE documents.sha256 = ANY(CAST(:hashes AS text[]))
""")

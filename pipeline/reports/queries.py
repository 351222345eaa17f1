"""Lists and details of tasks and documents: the reading side behind `doclease tasks` and `doclease documents`.

Filters are optional parameters of one statement each. Every function reads in a short transaction of its own; none
locks anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, TextClause, text

from pipeline.errors import NothingMatched

Row = Mapping[str, Any]

_TASKS = text("""
    SELECT
        tasks.task_id,
        tasks.document_id,
        documents.name,
        tasks.status,
        tasks.reason,
        tasks.pages_done,
        tasks.page_count,
        tasks.attempt_no AS attempts,
        tasks.priority,
        documents.batch,
        tasks.lease_holder AS worker,
        tasks.enqueued_at,
        tasks.finished_at
    FROM tasks
    JOIN documents ON documents.document_id = tasks.document_id
    WHERE (CAST(:status AS text) IS NULL OR tasks.status = :status)
        AND (CAST(:batch AS text) IS NULL OR documents.batch = :batch)
    ORDER BY tasks.task_id DESC
    LIMIT CAST(:limit AS bigint)
""")
_TASK = text("""
    SELECT tasks.*, documents.name, documents.batch, queue_now() AS read_at
    FROM tasks
    JOIN documents ON documents.document_id = tasks.document_id
    WHERE tasks.task_id = :task_id
""")
_ATTEMPTS = text("""
    SELECT
        attempt_no, worker, outcome, reason, error, page_no, pages_done, pages_reused, renewals, lease_seconds,
        started_at, progressed_at, ended_at, late_finish_at, cpu_seconds, peak_rss_bytes
    FROM attempts
    WHERE task_id = :task_id
    ORDER BY attempt_no
""")
_PLACE = text("""
    SELECT
        count(*) FILTER (WHERE (tasks.rank_ms, tasks.task_id) < (mine.rank_ms, mine.task_id)) AS tasks_ahead,
        COALESCE(sum(tasks.page_count - LEAST(tasks.pages_done, tasks.page_count))
            FILTER (WHERE (tasks.rank_ms, tasks.task_id) < (mine.rank_ms, mine.task_id)), 0) AS pages_ahead,
        (SELECT count(*) FROM tasks WHERE status = 'processing') AS in_work,
        (SELECT EXTRACT(EPOCH FROM queue_now() - last_ok_at) FROM sweeper_state) AS sweep_age_seconds
    FROM tasks
    CROSS JOIN (SELECT rank_ms, task_id FROM tasks WHERE task_id = :task_id) AS mine
    WHERE tasks.status = 'enqueued'
""")
_CHOSEN = text("""
    SELECT tasks.task_id
    FROM tasks
    JOIN documents ON documents.document_id = tasks.document_id
    WHERE (CAST(:status AS text) IS NULL OR tasks.status = :status)
        AND (CAST(:reason AS text) IS NULL OR tasks.reason = :reason)
        AND (CAST(:batch AS text) IS NULL OR documents.batch = :batch)
        AND ((CAST(:ended AS boolean) AND tasks.status IN ('failed', 'quarantined', 'cancelled'))
            OR (NOT CAST(:ended AS boolean) AND tasks.status IN ('enqueued', 'delayed', 'processing')))
    ORDER BY tasks.task_id
""")
_DOCUMENTS = text("""
    SELECT
        document_id, name, status, reason, document_type, page_count, media_type, batch, attempts, received_at,
        finished_at
    FROM documents_v
    WHERE (CAST(:status AS text) IS NULL OR status = :status)
        AND (CAST(:type AS text) IS NULL OR document_type = :type)
        AND (CAST(:batch AS text) IS NULL OR batch = :batch)
        AND (CAST(:reason AS text) IS NULL OR reason = :reason)
    ORDER BY document_id DESC
    LIMIT CAST(:limit AS bigint)
""")
_DOCUMENT = text("""
    SELECT documents_v.*, tasks.error, reasons.help
    FROM documents_v
    JOIN tasks ON tasks.task_id = documents_v.task_id
    LEFT JOIN reasons ON reasons.reason = documents_v.reason
    WHERE documents_v.document_id = :document_id
""")
_FIELDS = text("""
    SELECT
        field,
        value,
        page,
        round(CAST(confidence AS numeric), 2) AS confidence,
        method,
        snippet,
        reviewed_by
    FROM fields_v
    WHERE document_id = :document_id
        AND group_name = ''
    ORDER BY field, ordinal
""")
_LINES = text("""
    SELECT line_no AS line, item_name AS item, quantity, unit, price, net_amount, tax_rate
    FROM invoice_lines
    WHERE document_id = :document_id
    ORDER BY line_no
""")
_PARTIES = text("""
    SELECT party_no AS number, party, alias, kind
    FROM contract_parties
    WHERE document_id = :document_id
    ORDER BY party_no
""")
_CHECKS = text("""
    SELECT "check", passed, message, settled
    FROM checks_v
    WHERE document_id = :document_id
    ORDER BY passed, "check"
""")
_ATTACHMENTS = text("""
    SELECT
        number,
        name,
        document_id,
        COALESCE(status, 'left out') AS state,
        COALESCE(left_out, reason) AS why,
        rendition_of
    FROM attachments_v
    WHERE parent_document_id = :document_id
    ORDER BY number
""")
_ARRIVALS = text("""
    SELECT arrived_at, origin, name, duplicate
    FROM arrivals
    WHERE document_id = :document_id
    ORDER BY arrival_id
""")
_PAGES = text("""
    SELECT page_no, text, source, error
    FROM pages_v
    WHERE task_id = (SELECT max(task_id) FROM tasks WHERE document_id = :document_id)
        AND (CAST(:page_no AS integer) IS NULL OR page_no = :page_no)
    ORDER BY page_no
""")


@dataclass(frozen=True, slots=True)
class TaskStory:
    """A task with its document's name, its attempts in order, and what is before it in line."""

    task: Row
    attempts: Sequence[Row]
    line: Row


@dataclass(frozen=True, slots=True)
class DocumentStory:
    """A document with what is in force of it, the files inside, and each time its bytes came."""

    document: Row
    fields: Sequence[Row]
    lines: Sequence[Row]
    parties: Sequence[Row]
    checks: Sequence[Row]
    attachments: Sequence[Row]
    arrivals: Sequence[Row]


def tasks(engine: Engine, *, status: str | None = None, batch: str | None = None, limit: int = 50) -> Sequence[Row]:
    """The newest tasks, newest first."""
    return rows(engine, _TASKS, status=status, batch=batch, limit=limit)


def task(engine: Engine, task_id: int) -> TaskStory:
    """All there is to know of a task. Raises NothingMatched."""
    found = rows(engine, _TASK, task_id=task_id)
    if not found:
        raise NothingMatched(f"there is no task {task_id}; `doclease tasks list` shows those there are")
    attempts = rows(engine, _ATTEMPTS, task_id=task_id)
    return TaskStory(found[0], attempts, rows(engine, _PLACE, task_id=task_id)[0])


def ended_badly(engine: Engine, *, status: str | None = None, reason: str | None = None) -> list[int]:
    """The ids of tasks that ended without a result and match, oldest first."""
    return [row["task_id"] for row in rows(engine, _CHOSEN, status=status, reason=reason, batch=None, ended=True)]


def unfinished(engine: Engine, *, batch: str) -> list[int]:
    """The ids of the batch's tasks that have not ended, oldest first."""
    return [row["task_id"] for row in rows(engine, _CHOSEN, status=None, reason=None, batch=batch, ended=False)]


def documents(
    engine: Engine,
    *,
    status: str | None = None,
    document_type: str | None = None,
    batch: str | None = None,
    reason: str | None = None,
    limit: int = 50,
) -> Sequence[Row]:
    """The newest documents, newest first."""
    return rows(engine, _DOCUMENTS, status=status, type=document_type, batch=batch, reason=reason, limit=limit)


def document(engine: Engine, document_id: int) -> DocumentStory:
    """All there is to know of a document but its text. Raises NothingMatched."""
    found = rows(engine, _DOCUMENT, document_id=document_id)
    if not found:
        raise NothingMatched(f"there is no document {document_id}; `doclease documents list` shows those there are")
    return DocumentStory(
        found[0],
        rows(engine, _FIELDS, document_id=document_id),
        rows(engine, _LINES, document_id=document_id),
        rows(engine, _PARTIES, document_id=document_id),
        rows(engine, _CHECKS, document_id=document_id),
        rows(engine, _ATTACHMENTS, document_id=document_id),
        rows(engine, _ARRIVALS, document_id=document_id),
    )


def pages(engine: Engine, document_id: int, *, page_no: int | None = None) -> Sequence[Row]:
    """The pages of a document's newest task that are stored, in order. Raises NothingMatched when none is."""
    found = rows(engine, _PAGES, document_id=document_id, page_no=page_no)
    if not found:
        of = document(engine, document_id).document
        what = "no page" if page_no is None else f"no page {page_no}"
        raise NothingMatched(
            f"{what} of document {document_id} is stored; pages: {of['page_count']}, status: {of['status']}"
        )
    return found


def rows(engine: Engine, statement: TextClause, **values: Any) -> list[dict[str, Any]]:
    """All rows of a statement, read in a transaction of its own."""
    with engine.connect() as connection:
        return [dict(row._mapping) for row in connection.execute(statement, values)]

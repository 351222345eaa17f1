"""Tasks for tests: a document row of its own and a task in line."""

from __future__ import annotations

import os

from sqlalchemy import Connection, Engine, text

from pipeline.queue.model import NewTask
from pipeline.queue.store import Queue

_documents = iter(range(10**9))


def add_task(
    engine: Engine,
    queue: Queue,
    *,
    pages: int = 2,
    lease_seconds: float = 15,
    deadline_seconds: float = 3600,
    priority: int = 0,
    handler: str = "auto",
) -> int:
    """A document of its own with a task in line; returns the task's id."""
    with engine.begin() as connection:
        return insert_task(
            connection,
            queue,
            pages=pages,
            lease_seconds=lease_seconds,
            deadline_seconds=deadline_seconds,
            priority=priority,
            handler=handler,
        )


def insert_task(
    connection: Connection,
    queue: Queue,
    *,
    pages: int = 2,
    lease_seconds: float = 15,
    deadline_seconds: float = 3600,
    priority: int = 0,
    handler: str = "auto",
) -> int:
    """The same in the caller's transaction."""
    number = next(_documents)
    document_id = connection.execute(
        text(
            "INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count)"
            " VALUES (:sha256, :name, :raw, 'text/plain', 1, :pages) RETURNING document_id"
        ),
        {
            "sha256": f"{os.getpid():032x}{number:032x}",
            "name": f"document-{number}.txt",
            "raw": b"document.txt",
            "pages": pages,
        },
    ).scalar_one()
    return queue.enqueue(
        connection,
        NewTask(
            document_id=document_id,
            handler=handler,
            page_count=pages,
            lease_seconds=lease_seconds,
            deadline_seconds=deadline_seconds,
            priority=priority,
        ),
    )

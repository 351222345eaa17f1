"""Documents with a past, for tests that read: everything happens through the queue and the results, as it would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, text

from pipeline.documents.text import Page, Source
from pipeline.queue.model import Claim, NewTask, Usage
from pipeline.queue.store import Queue
from pipeline.results import Results
from tests.tasks import add_task


def page(number: int, words: str) -> Page:
    """A page that was read."""
    return Page(number=number, text=words, layout=words, source=Source.TEXT_LAYER, engine="test 1.0", seconds=0.01)


def gap(number: int, error: str) -> Page:
    """A page that could not be read."""
    return Page(number=number, text="", source=Source.NONE, engine="test 1.0", error=error)


def value(words: str, *, on_page: int = 1, snippet: str = "", confidence: float = 0.9) -> dict[str, Any]:
    """A field's value as a handler finds it."""
    return {"value": words, "page": on_page, "snippet": snippet, "method": "label", "confidence": confidence}


def claim(queue: Queue, task_id: int, *, worker: str = "host/1/aa") -> Claim:
    """Claim the only task in line."""
    (found,) = queue.claim(worker)
    assert found.task_id == task_id
    return found


def checkpoint(engine: Engine, queue: Queue, held: Claim, pages: Sequence[Page], *, lease_seconds: float = 15) -> None:
    """Store finished pages under the lease."""
    done = max(each.number for each in pages)
    with queue.checkpointing(held, pages_done=done, lease_seconds=lease_seconds) as (connection, _):
        Results(engine).write_pages(connection, held, pages)


def finish(
    engine: Engine,
    queue: Queue,
    pages: Sequence[str | Page],
    *,
    name: str = "document.txt",
    document_type: str = "general",
    fields: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    checks: Mapping[str, bool] | None = None,
    batch: str | None = None,
) -> int:
    """A document that was read to its end, in one attempt; returns its id."""
    task_id = add_task(engine, queue, pages=len(pages))
    document_id = document_of(engine, task_id, name=name, batch=batch)
    read(engine, queue, task_id, pages, document_type=document_type, fields=fields, checks=checks)
    return document_id


def read(
    engine: Engine,
    queue: Queue,
    task_id: int,
    pages: Sequence[str | Page],
    *,
    document_type: str = "general",
    fields: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    checks: Mapping[str, bool] | None = None,
) -> None:
    """Claim the only task in line and read it to its end."""
    held = claim(queue, task_id)
    found = [each if isinstance(each, Page) else page(number, each) for number, each in enumerate(pages, 1)]
    result = {"document_type": document_type, "fields": fields or {}, "checks": checks or {}}
    with queue.completing(held, reason="ok", pages_done=len(found), result=result, usage=Usage()) as connection:
        Results(engine).write_pages(connection, held, found)


def enqueue_again(engine: Engine, queue: Queue, document_id: int, *, pages: int = 1) -> int:
    """A further task of a document; returns the task's id."""
    task = NewTask(document_id=document_id, handler="auto", page_count=pages, lease_seconds=15, deadline_seconds=60)
    with engine.begin() as connection:
        return queue.enqueue(connection, task)


def document_of(engine: Engine, task_id: int, *, name: str | None = None, batch: str | None = None) -> int:
    """The document of a task, renamed or put into a batch if asked; returns its id."""
    with engine.begin() as connection:
        update = text(
            "UPDATE documents SET name = COALESCE(:name, name), batch = COALESCE(:batch, batch)"
            " WHERE document_id = (SELECT document_id FROM tasks WHERE task_id = :task_id) RETURNING document_id"
        )
        return int(connection.execute(update, {"name": name, "batch": batch, "task_id": task_id}).scalar_one())

"""Retry or cancel several tasks: what can be moved is, and what could not is told, each with its own sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError

from pipeline.errors import IllegalMove, NothingMatched
from pipeline.queue.store import Queue


@dataclass(frozen=True, slots=True)
class Moved:
    """One task: its status now, or why it could not be moved; `is_missing` if there is no such task."""

    task_id: int
    status: str | None
    problem: str | None = None
    is_missing: bool = False


def retry(queue: Queue, task_ids: Iterable[int]) -> list[Moved]:
    """Put tasks that ended without a result, or wait, in line again. Safe to repeat."""
    return [_move(_retry, queue, task_id) for task_id in task_ids]


def cancel(queue: Queue, task_ids: Iterable[int]) -> list[Moved]:
    """Cancel tasks that wait, ask those in work to stop at their next checkpoint. Safe to repeat."""
    return [_move(_cancel, queue, task_id) for task_id in task_ids]


def _move(act: Callable[[Queue, int], str], queue: Queue, task_id: int) -> Moved:
    try:
        return Moved(task_id, act(queue, task_id))
    except (IllegalMove, NothingMatched) as error:
        return Moved(task_id, None, str(error), is_missing=isinstance(error, NothingMatched))


def _retry(queue: Queue, task_id: int) -> str:
    try:
        queue.retry(task_id)
    except IntegrityError as error:
        # The unique index tasks_one_live: the document was enqueued anew after this task ended.
        raise IllegalMove(f"task {task_id} stays as it is: its document has a newer task in line or in work") from error
    return "enqueued"


def _cancel(queue: Queue, task_id: int) -> str:
    return queue.cancel(task_id).value

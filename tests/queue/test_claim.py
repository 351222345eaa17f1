"""A claim gives each task to exactly one worker, best rank first, on a fresh lease."""

from __future__ import annotations

from sqlalchemy import Engine

from pipeline.queue.store import Queue
from tests.tasks import add_task


def test_a_claim_takes_exactly_what_it_asked_for(engine: Engine, queue: Queue) -> None:
    tasks = {add_task(engine, queue) for _ in range(5)}
    first = queue.claim("worker-1", batch=2)
    second = queue.claim("worker-2", batch=10)
    assert len(first) == 2
    assert {claim.task_id for claim in first + second} == tasks
    assert queue.claim("worker-3") == []

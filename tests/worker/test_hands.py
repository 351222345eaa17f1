"""A claim whose answer was lost is given back, uncharged, and never somebody's who works on it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from pipeline.queue.model import Claim
from pipeline.queue.store import Queue
from pipeline.worker.hands import Hands
from tests.tasks import add_task

WORKER = "worker-1"


def _asking(queue: Queue) -> Callable[[], list[Claim]]:
    return lambda: queue.claim(WORKER)


def _losing(queue: Queue) -> Callable[[], list[Claim]]:
    def ask() -> list[Claim]:
        queue.claim(WORKER)
        raise OperationalError("claim", {}, Exception("server closed the connection unexpectedly"))

    return ask


def _counts(engine: Engine, task_id: int) -> tuple[str, int, int, int]:
    query = text("SELECT status, failure_count, crash_count, release_count FROM tasks WHERE task_id = :id")
    with engine.connect() as connection:
        row = connection.execute(query, {"id": task_id}).one()
    return row.status, row.failure_count, row.crash_count, row.release_count


def test_a_claim_without_an_answer_is_given_back_before_the_next_one(engine: Engine, queue: Queue) -> None:
    in_hand, lost = add_task(engine, queue, priority=10), add_task(engine, queue)
    hands = Hands()
    (claim,) = hands.claim(queue, WORKER, _asking(queue))
    with pytest.raises(OperationalError):
        hands.claim(queue, WORKER, _losing(queue))
    assert _counts(engine, lost) == ("processing", 0, 0, 0)
    (again,) = hands.claim(queue, WORKER, _asking(queue))
    assert (again.task_id, again.attempt_no) == (lost, 2)
    assert _counts(engine, lost) == ("processing", 0, 0, 1)
    assert (claim.task_id, _counts(engine, in_hand)) == (in_hand, ("processing", 0, 0, 0))


def test_a_worker_that_leaves_gives_back_what_it_was_never_told_of(engine: Engine, queue: Queue) -> None:
    lost = add_task(engine, queue)
    hands = Hands()
    with pytest.raises(OperationalError):
        hands.claim(queue, WORKER, _losing(queue))
    hands.leave(queue, WORKER)
    assert _counts(engine, lost) == ("enqueued", 0, 0, 1)


def test_what_others_hold_is_left_alone(engine: Engine, queue: Queue) -> None:
    theirs = add_task(engine, queue)
    queue.claim("worker-2")
    hands = Hands()
    with pytest.raises(OperationalError):
        hands.claim(queue, WORKER, _losing(queue))
    hands.leave(queue, WORKER)
    assert _counts(engine, theirs) == ("processing", 0, 0, 0)


def test_what_could_not_be_given_back_is_given_back_before_the_next_claim(engine: Engine, queue: Queue) -> None:
    kept = add_task(engine, queue)
    hands = Hands()
    claims = hands.claim(queue, WORKER, _asking(queue))
    hands.done(claims, in_doubt=True)
    (again,) = hands.claim(queue, WORKER, _asking(queue))
    assert (again.task_id, again.attempt_no) == (kept, 2)
    hands.done([again])
    assert hands.claim(queue, WORKER, _asking(queue)) == []
    assert _counts(engine, kept)[0] == "processing"

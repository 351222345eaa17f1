"""P3: a slow but progressing document is never taken away, however long it is. A hung one always is."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from pipeline.errors import LeaseLost
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import rows
from tests.tasks import add_task


def test_progress_keeps_a_document_of_ten_times_its_lease(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue, pages=200, lease_seconds=15, deadline_seconds=7200)
    (claim,) = queue.claim("slow")
    for page in range(1, 201):
        clock.advance(seconds=14)
        assert rows.sweep(queue) == {}
        rows.checkpoint(queue, claim, pages_done=page)
    rows.complete(queue, claim)
    (attempt,) = rows.attempts(engine, task_id)
    assert (attempt.outcome, attempt.renewals, attempt.pages_done) == ("succeeded", 200, 200)


def test_a_hung_document_is_taken_one_lease_after_its_last_page(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue, pages=200, lease_seconds=15)
    (claim,) = queue.claim("hung")
    clock.advance(seconds=10)
    rows.checkpoint(queue, claim, pages_done=7, lease_seconds=30)
    clock.advance(seconds=29)
    assert rows.sweep(queue) == {}
    clock.advance(seconds=2)
    assert rows.sweep(queue) == {task_id: "enqueued"}
    (attempt,) = rows.attempts(engine, task_id)
    assert (attempt.pages_done, attempt.page_no) == (7, 8), "it hung on the page after the last one it finished"


def test_no_renewal_goes_past_the_deadline(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue, lease_seconds=15, deadline_seconds=100)
    (claim,) = queue.claim("crawling")
    for _ in range(9):
        clock.advance(seconds=10)
        assert rows.checkpoint(queue, claim, lease_seconds=60) <= 60
    task = rows.task(engine, task_id)
    assert task.lease_expires_at == task.deadline_at
    clock.advance(seconds=11)
    assert rows.checkpoint(queue, claim, lease_seconds=60) < 0, "a renewal past the deadline grants nothing"
    assert list(rows.sweep(queue)) == [task_id]
    with pytest.raises(LeaseLost):
        rows.checkpoint(queue, claim)


def test_each_attempt_has_a_deadline_of_its_own(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue, lease_seconds=15, deadline_seconds=100)
    queue.claim("dead")
    first = rows.task(engine, task_id).deadline_at
    clock.advance(seconds=200)
    rows.sweep(queue)
    queue.claim("other")
    assert (rows.task(engine, task_id).deadline_at - first).total_seconds() >= 200


def test_an_expired_lease_that_nobody_swept_is_renewed(engine: Engine, queue: Queue, clock: Clock) -> None:
    add_task(engine, queue, lease_seconds=15)
    (claim,) = queue.claim("frozen for a while")
    clock.advance(seconds=40)
    assert 14 < rows.checkpoint(queue, claim, lease_seconds=15) <= 15
    assert rows.sweep(queue) == {}


def test_a_late_checkpoint_never_counts_pages_back(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue, pages=9)
    (claim,) = queue.claim("worker-1")
    rows.checkpoint(queue, claim, pages_done=5)
    rows.checkpoint(queue, claim, pages_done=3)
    assert rows.task(engine, task_id).pages_done == 5

"""Many results in one transaction: each is judged by itself, and all that are accepted are there, or none."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, Engine, text

from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim, Completion, Usage
from pipeline.queue.settle import Fault
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import rows
from tests.queue.races import Beside
from tests.tasks import add_task


def claimed(engine: Engine, queue: Queue, number: int, worker: str = "worker-1") -> list[Claim]:
    """That many tasks in hand."""
    for _ in range(number):
        add_task(engine, queue)
    return queue.claim(worker, batch=number)


def completion(claim: Claim, *, pages_stored: int = 0) -> Completion:
    """A result that names its attempt."""
    result = {"by": str(claim.lease_token)}
    return Completion(claim, "ok", claim.page_count, result, Usage(1.5, 4096), pages_stored)


def accepted(queue: Queue, claims: list[Claim]) -> set[int]:
    """The tasks whose results were taken."""
    with queue.completing_all([completion(claim) for claim in claims]) as (_, tokens):
        return {claim.task_id for claim in claims if claim.lease_token in tokens}


def test_each_task_gets_the_result_of_its_own_attempt(engine: Engine, queue: Queue) -> None:
    claims = claimed(engine, queue, 5)
    assert accepted(queue, claims[::-1]) == {claim.task_id for claim in claims}
    for claim in claims:
        assert rows.status(engine, claim.task_id) == "succeeded"
        (attempt,) = rows.attempts(engine, claim.task_id)
        assert attempt.result == {"by": str(claim.lease_token)}
        assert (attempt.outcome, attempt.reason, attempt.pages_done) == ("succeeded", "ok", claim.page_count)
        assert (attempt.cpu_seconds, attempt.peak_rss_bytes) == (1.5, 4096)
        assert attempt.ended_at == attempt.progressed_at == rows.task(engine, claim.task_id).finished_at


def test_a_stale_result_among_good_ones_is_left_out_and_takes_none_with_it(
    engine: Engine, queue: Queue, clock: Clock
) -> None:
    stale, retried = claimed(engine, queue, 2)
    clock.advance(minutes=1)
    rows.sweep(queue)
    (again,) = queue.claim("worker-2")
    assert again.task_id == stale.task_id
    good = claimed(engine, queue, 2, "worker-3")
    assert accepted(queue, [stale, *good, retried]) == {claim.task_id for claim in good}
    assert rows.status(engine, stale.task_id) == "processing"
    assert [attempt.result for attempt in rows.attempts(engine, stale.task_id)] == [None, None]
    rows.complete(queue, again)


def test_a_page_that_a_failover_forgot_keeps_only_its_own_document_back(engine: Engine, queue: Queue) -> None:
    gap, whole = claimed(engine, queue, 2)
    brought = [completion(gap, pages_stored=1), completion(whole)]
    with queue.completing_all(brought) as (_, tokens):
        assert tokens == {whole.lease_token}
    assert rows.status(engine, gap.task_id) == "processing"


def test_an_error_while_they_are_written_leaves_every_attempt_open(engine: Engine, queue: Queue) -> None:
    claims = claimed(engine, queue, 3)
    together = queue.completing_all([completion(claim) for claim in claims])
    with pytest.raises(ZeroDivisionError), together:
        raise ZeroDivisionError
    assert {rows.status(engine, claim.task_id) for claim in claims} == {"processing"}
    assert [queue.outcome(claim) for claim in claims] == [None, None, None]
    assert len(accepted(queue, claims)) == 3


def test_what_is_brought_twice_is_accepted_once(engine: Engine, queue: Queue) -> None:
    (claim,) = claimed(engine, queue, 1)
    assert accepted(queue, [claim, claim]) == {claim.task_id}
    assert accepted(queue, [claim]) == set()


def test_nothing_brought_is_nothing_accepted(queue: Queue) -> None:
    assert accepted(queue, []) == set()


def _ask_to_stop(engine: Engine, task_id: int) -> Connection:
    """A cancellation that is not committed yet."""
    connection = engine.connect()
    connection.execute(text("UPDATE tasks SET cancel_requested = true WHERE task_id = :id"), {"id": task_id})
    return connection


def test_a_result_is_accepted_also_when_the_row_changes_before_it_is_locked(engine: Engine, queue: Queue) -> None:
    claims = claimed(engine, queue, 2)
    beside = Beside(engine, lambda _: accepted(queue, claims))
    with _ask_to_stop(engine, claims[1].task_id) as asking:
        beside.start()
        asking.commit()
    assert beside.result() == {claim.task_id for claim in claims}


def test_a_result_is_refused_when_the_task_is_taken_before_its_row_is_locked(engine: Engine, queue: Queue) -> None:
    kept, taken = claimed(engine, queue, 2)
    beside = Beside(engine, lambda _: accepted(queue, [kept, taken]))
    with engine.connect() as other:
        other.execute(
            text(
                "UPDATE tasks SET status = 'enqueued', lease_token = NULL, lease_holder = NULL,"
                " lease_expires_at = NULL, deadline_at = NULL WHERE task_id = :id"
            ),
            {"id": taken.task_id},
        )
        beside.start()
        other.commit()
    assert beside.result() == {kept.task_id}
    with pytest.raises(LeaseLost):
        rows.fail(queue, taken, Fault.TRANSIENT)


def test_tasks_are_locked_in_one_order_whatever_order_they_are_brought_in(engine: Engine, queue: Queue) -> None:
    """Nobody who does the same can wait for this one while this one waits for him."""
    claims = claimed(engine, queue, 3)
    beside = Beside(engine, lambda _: accepted(queue, claims[::-1]))
    free = text("SELECT task_id FROM tasks ORDER BY task_id FOR UPDATE SKIP LOCKED")
    with _ask_to_stop(engine, claims[1].task_id) as asking:
        beside.start()
        with engine.connect() as other:
            assert list(other.execute(free).scalars()) == [claims[2].task_id]
        asking.commit()
    assert len(beside.result()) == 3  # type: ignore[arg-type]

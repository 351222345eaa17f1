"""Failures, crashes and returns are counted apart, and an expiry is charged only to a document that is to blame."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine

from pipeline.errors import IllegalMove
from pipeline.queue.backoff import backoff_seconds
from pipeline.queue.model import Usage
from pipeline.queue.settle import Counts, Fault, decide
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import rows
from tests.tasks import add_task


def _counts(engine: Engine, task_id: int) -> tuple[int, int, int]:
    task = rows.task(engine, task_id)
    return task.failure_count, task.crash_count, task.release_count


def _charged(queue: Queue) -> dict[int, bool]:
    report = queue.sweep(worker="sweeper", interval_seconds=rows.INTERVAL_SECONDS)
    return {swept.task_id: swept.charged for swept in report.taken}


def test_failures_crashes_and_returns_are_counted_apart(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue)
    for fault in (Fault.RELEASE, Fault.CRASH, Fault.TRANSIENT, Fault.RELEASE, Fault.TRANSIENT):
        (claim,) = queue.claim("worker-1")
        rows.fail(queue, claim, fault)
        clock.advance(minutes=30)
        queue.promote()
    assert _counts(engine, task_id) == (2, 1, 2)
    assert rows.outcomes(engine, task_id) == ["released", "crashed", "failed", "released", "failed"]
    assert rows.task(engine, task_id).attempt_no == 5


def test_a_document_that_keeps_failing_fails_for_good_after_its_limit(
    engine: Engine, queue: Queue, clock: Clock
) -> None:
    add_task(engine, queue)
    ends = []
    for _ in range(queue.limits.max_failures):
        (claim,) = queue.claim("worker-1")
        ends.append(str(rows.fail(queue, claim, Fault.TRANSIENT)))
        clock.advance(minutes=30)
        queue.promote()
    assert ends == ["delayed"] * 4 + ["failed"]
    assert queue.claim("worker-1") == []


def test_a_document_that_outlasts_every_drain_is_not_given_back_for_ever(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    ends = []
    for _ in range(queue.limits.max_releases):
        (claim,) = queue.claim("worker-1")
        ends.append(str(rows.fail(queue, claim, Fault.RELEASE)))
    assert ends == ["enqueued"] * 19 + ["quarantined"]
    assert _counts(engine, task_id) == (0, 0, 20)


def test_an_attempt_is_closed_with_its_cause(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    decision = decide(Fault.CRASH, Counts(), queue.limits, jitter=0)
    usage = Usage(cpu_seconds=1.5, peak_rss_bytes=2**33)
    queue.fail(claim, decision, reason="out_of_memory", error="it needed more", page_no=3, usage=usage)
    (attempt,) = rows.attempts(engine, task_id)
    assert (attempt.outcome, attempt.reason, attempt.error, attempt.page_no) == (
        "crashed",
        "out_of_memory",
        "it needed more",
        3,
    )
    assert (attempt.cpu_seconds, attempt.peak_rss_bytes) == (1.5, 2**33)
    assert attempt.ended_at is not None


def test_a_wait_after_a_failure_is_as_long_as_decided(engine: Engine, queue: Queue, clock: Clock) -> None:
    add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    rows.fail(queue, claim, Fault.TRANSIENT, jitter=0.5)
    clock.advance(seconds=4)
    assert queue.promote() == 0
    clock.advance(seconds=2)
    assert queue.promote() == 1


def test_the_sweep_waits_within_the_bounds_of_the_backoff(engine: Engine, queue: Queue, clock: Clock) -> None:
    """sweep.sql has the formula a second time; thirty draws each must lie within what backoff.py can say."""
    limits = queue.limits
    for crashes in (1, 3, 8, 40):
        patient = Queue(engine, limits=replace(limits, max_crashes=99), aging_ms=1)
        tasks = [add_task(engine, patient) for _ in range(9)]
        rows.change(engine, "UPDATE tasks SET crash_count = :crashes WHERE status = 'enqueued'", crashes=crashes)
        for number in range(9):
            patient.claim(f"host-{number}")
        clock.advance(minutes=1)
        assert rows.sweep(patient) == dict.fromkeys(tasks, "delayed")
        swept = [rows.task(engine, task_id) for task_id in tasks]
        ended = [rows.attempts(engine, task_id)[-1].ended_at for task_id in tasks]
        waits = [(task.not_before - end).total_seconds() for task, end in zip(swept, ended, strict=True)]
        shortest, longest = (
            backoff_seconds(
                crashes, base_seconds=limits.backoff_seconds, cap_seconds=limits.backoff_cap_seconds, jitter=jitter
            )
            for jitter in (0, 1)
        )
        assert all(shortest - 1 <= wait <= longest + 1 for wait in waits)
        assert len({round(wait, 3) for wait in waits}) > 1, "they must not all come back at once"


def test_an_expiry_of_a_worker_that_held_nothing_else_is_charged(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue)
    queue.claim("alone")
    clock.advance(minutes=1)
    assert _charged(queue) == {task_id: True}


def test_a_worker_that_fell_silent_with_all_it_held_charges_none(engine: Engine, queue: Queue, clock: Clock) -> None:
    tasks = [add_task(engine, queue, lease_seconds=seconds) for seconds in (15, 15, 100, 400)]
    queue.claim("silent", batch=4)
    found: dict[int, bool] = {}
    for _ in range(10):
        clock.advance(minutes=1)
        found |= _charged(queue)
    assert found == dict.fromkeys(tasks, False)
    assert {rows.status(engine, task_id) for task_id in tasks} == {"enqueued"}


def test_a_worker_that_went_on_with_others_charges_the_one_it_lost(engine: Engine, queue: Queue, clock: Clock) -> None:
    hung, good = (add_task(engine, queue) for _ in range(2))
    _, alive = queue.claim("worker-1", batch=2)
    assert alive.task_id == good
    for _ in range(3):
        clock.advance(seconds=10)
        rows.checkpoint(queue, alive)
    assert _charged(queue) == {hung: True}


def test_a_sign_of_life_before_the_expiry_proves_nothing(engine: Engine, queue: Queue, clock: Clock) -> None:
    first, second = (add_task(engine, queue) for _ in range(2))
    _, other = queue.claim("worker-1", batch=2)
    clock.advance(seconds=10)
    rows.checkpoint(queue, other)
    clock.advance(seconds=10)
    assert _charged(queue) == {first: False}
    clock.advance(seconds=10)
    assert _charged(queue) == {second: False}


def test_another_workers_life_charges_nobody(engine: Engine, queue: Queue, clock: Clock) -> None:
    tasks = [add_task(engine, queue) for _ in range(2)]
    queue.claim("silent", batch=2)
    add_task(engine, queue, lease_seconds=600)
    (alive,) = queue.claim("alive")
    clock.advance(minutes=1)
    rows.checkpoint(queue, alive, lease_seconds=600)
    assert _charged(queue) == dict.fromkeys(tasks, False)


def test_a_document_found_in_every_wreck_is_charged_in_the_end(engine: Engine, queue: Queue, clock: Clock) -> None:
    killer = add_task(engine, queue, priority=10)
    charges, stations = [], []
    for number in range(6):
        neighbour = add_task(engine, queue)
        claims = queue.claim(f"host-{number}", batch=9)
        assert {claim.task_id for claim in claims} >= {killer, neighbour}
        clock.advance(minutes=1)
        charges.append(_charged(queue)[killer])
        stations.append(rows.status(engine, killer))
        clock.advance(minutes=60)
        queue.promote()
    assert charges == [False] * 3 + [True] * 3
    assert stations[3:] == ["enqueued", "delayed", "quarantined"]


def test_uncharged_neighbours_keep_a_clean_record(engine: Engine, queue: Queue, clock: Clock) -> None:
    tasks = [add_task(engine, queue) for _ in range(3)]
    queue.claim("silent", batch=3)
    clock.advance(minutes=1)
    rows.sweep(queue)
    assert [_counts(engine, task_id) for task_id in tasks] == [(0, 0, 0)] * 3
    assert len(queue.claim("other", batch=3, suspects=False)) == 3


def test_a_task_in_work_hears_of_its_cancellation_at_its_checkpoint(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    with queue.checkpointing(claim, pages_done=1, lease_seconds=15) as (_, answer):
        assert not answer.cancel_requested
    assert queue.cancel(task_id) == "processing"
    with queue.checkpointing(claim, pages_done=1, lease_seconds=15) as (_, answer):
        assert answer.cancel_requested
    assert rows.fail(queue, claim, Fault.CANCEL) == "cancelled"


@pytest.mark.parametrize("fault", [Fault.TRANSIENT, Fault.RELEASE, Fault.CRASH])
def test_a_cancelled_task_does_not_come_back_however_its_attempt_ends(
    engine: Engine, queue: Queue, fault: Fault
) -> None:
    task_id = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    queue.cancel(task_id)
    assert rows.fail(queue, claim, fault) == "cancelled"
    task = rows.task(engine, task_id)
    assert (task.status, task.reason) == ("cancelled", "cancelled")
    assert rows.attempts(engine, task_id)[0].reason == "io_error", "the attempt keeps its own cause"


def test_a_cancelled_task_of_a_dead_worker_ends_at_the_sweep(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue)
    queue.claim("dead")
    queue.cancel(task_id)
    clock.advance(minutes=1)
    assert rows.sweep(queue) == {task_id: "cancelled"}
    assert rows.task(engine, task_id).reason == "cancelled"


def test_a_result_that_comes_before_the_cancellation_is_heard_counts(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    queue.cancel(task_id)
    rows.complete(queue, claim)
    assert rows.status(engine, task_id) == "succeeded"


def test_a_task_that_waits_is_cancelled_at_once(engine: Engine, queue: Queue) -> None:
    waiting = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    rows.fail(queue, claim, Fault.TRANSIENT)
    ready = add_task(engine, queue)
    assert (queue.cancel(waiting), queue.cancel(ready)) == ("cancelled", "cancelled")
    assert queue.claim("worker-1") == []
    with pytest.raises(IllegalMove, match="has ended"):
        queue.cancel(waiting)


def test_a_retry_starts_with_a_clean_record_and_the_next_number(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    rows.fail(queue, claim, Fault.PERMANENT)
    queue.retry(task_id)
    assert _counts(engine, task_id) == (0, 0, 0)
    (again,) = queue.claim("worker-1")
    assert again.attempt_no == 2
    with pytest.raises(IllegalMove, match="is processing"):
        queue.retry(task_id)
    rows.complete(queue, again)
    with pytest.raises(IllegalMove, match="is succeeded"):
        queue.retry(task_id)


def test_a_retry_after_a_cancellation_is_not_cancelled_again(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    queue.cancel(task_id)
    queue.retry(task_id)
    (claim,) = queue.claim("worker-1")
    assert rows.fail(queue, claim, Fault.RELEASE) == "enqueued"

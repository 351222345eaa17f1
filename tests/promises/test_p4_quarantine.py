"""P4: a document that kills its worker is quarantined after max_crashes, and delays nobody else."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from pipeline.queue.settle import Fault, Limits
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import rows
from tests.tasks import add_task


def test_three_crashes_end_in_quarantine(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue)
    stations = []
    for _ in range(3):
        (claim,) = queue.claim("worker-1")
        stations.append(str(rows.fail(queue, claim, Fault.CRASH)))
        clock.advance(minutes=30)
        queue.promote()
    assert stations == ["enqueued", "delayed", "quarantined"]
    assert queue.claim("worker-1") == []
    assert rows.task(engine, task_id).crash_count == 3


def test_three_lost_workers_end_in_quarantine(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue)
    stations = []
    for number in range(3):
        queue.claim(f"host-{number}")
        clock.advance(minutes=1)
        stations.append(rows.sweep(queue)[task_id])
        clock.advance(minutes=30)
        queue.promote()
    assert stations == ["enqueued", "delayed", "quarantined"]
    task = rows.task(engine, task_id)
    assert (task.reason, task.crash_count, task.finished_at is None) == ("lost_lease", 3, False)


def test_crashes_seen_by_the_parent_and_by_the_sweep_add_up(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    rows.fail(queue, claim, Fault.CRASH)
    queue.claim("worker-2")
    clock.advance(minutes=1)
    assert rows.sweep(queue) == {task_id: "delayed"}
    clock.advance(minutes=30)
    queue.promote()
    (claim,) = queue.claim("worker-3")
    assert rows.fail(queue, claim, Fault.CRASH) == "quarantined"


def test_a_document_that_crashed_is_left_to_whoever_can_run_it_alone(engine: Engine, queue: Queue) -> None:
    suspect = add_task(engine, queue, priority=10)
    (claim,) = queue.claim("worker-1")
    assert not claim.is_suspect
    rows.fail(queue, claim, Fault.CRASH)
    others = [add_task(engine, queue) for _ in range(2)]
    assert [each.task_id for each in queue.claim("worker-1", batch=9, suspects=False)] == others
    (alone,) = queue.claim("worker-1", batch=9)
    assert (alone.task_id, alone.is_suspect, alone.crash_count) == (suspect, True, 1)


def test_a_waiting_document_delays_nobody(engine: Engine, queue: Queue) -> None:
    add_task(engine, queue, priority=10)
    (claim,) = queue.claim("worker-1")
    rows.fail(queue, claim, Fault.TRANSIENT)
    good = add_task(engine, queue, priority=-10)
    assert queue.promote() == 0
    assert [each.task_id for each in queue.claim("worker-1", batch=9)] == [good]


def test_no_attempt_after_quarantine_until_an_operator_says_so(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue)
    rows.change(engine, "UPDATE tasks SET crash_count = 2")
    (claim,) = queue.claim("worker-1")
    rows.fail(queue, claim, Fault.CRASH)
    clock.advance(minutes=600)
    assert (queue.promote(), rows.sweep(queue), queue.claim("worker-1")) == (0, {}, [])
    queue.retry(task_id)
    (again,) = queue.claim("worker-1")
    assert (again.crash_count, again.attempt_no) == (0, 2)


@pytest.mark.parametrize("max_crashes", [1, 2, 5])
def test_the_sweep_obeys_the_configured_limit(engine: Engine, queue: Queue, clock: Clock, max_crashes: int) -> None:
    patient = Queue(engine, limits=Limits(max_crashes=max_crashes), aging_ms=1)
    task_id = add_task(engine, patient)
    stations: list[str] = []
    while not stations or stations[-1] != "quarantined":
        patient.claim(f"host-{len(stations)}")
        clock.advance(minutes=1)
        stations.append(rows.sweep(patient)[task_id])
        clock.advance(minutes=60)
        patient.promote()
    assert len(stations) == max_crashes

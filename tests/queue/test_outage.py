"""Leases do not run out while nobody could renew, and what looks like the network is not blamed on the workers."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text

from pipeline.queue.model import SweepReport
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import rows
from tests.tasks import add_task


def _sweep(queue: Queue) -> SweepReport:
    return queue.sweep(worker="sweeper", interval_seconds=rows.INTERVAL_SECONDS)


def _state(engine: Engine) -> dict[str, object]:
    with engine.connect() as connection:
        return dict(connection.execute(text("SELECT * FROM sweeper_state")).one()._mapping)


def _running(engine: Engine, queue: Queue, *, tasks: int, holders: int) -> None:
    for number in range(tasks):
        add_task(engine, queue)
        queue.claim(f"host-{number % holders}")


def test_after_an_outage_what_was_valid_gets_one_more_lease_once(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue, lease_seconds=30)
    queue.claim("worker-1")
    clock.advance(seconds=600, outage=True)
    assert _sweep(queue) == SweepReport(graced=1)
    clock.advance(seconds=29, outage=False)
    assert _sweep(queue) == SweepReport()
    clock.advance(seconds=2, outage=False)
    report = _sweep(queue)
    assert ([swept.task_id for swept in report.taken], report.graced) == ([task_id], 0)


def test_the_worker_that_lived_through_an_outage_goes_on(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue, lease_seconds=30, deadline_seconds=100)
    (claim,) = queue.claim("worker-1")
    clock.advance(seconds=10)
    before = rows.task(engine, task_id).deadline_at
    clock.advance(seconds=600, outage=True)
    _sweep(queue)
    shift = (rows.task(engine, task_id).deadline_at - before).total_seconds()
    assert 590 < shift < 620, "the deadline does not run during an outage either"
    assert rows.checkpoint(queue, claim) > 14
    rows.complete(queue, claim)


def test_a_deadline_is_shifted_only_by_what_the_task_lived_through(engine: Engine, queue: Queue, clock: Clock) -> None:
    """Nobody swept for an hour, but the workers worked: no reason to let a hung one hang an hour longer."""
    clock.advance(seconds=3600, outage=True)
    task_id = add_task(engine, queue, lease_seconds=30, deadline_seconds=100)
    queue.claim("worker-1")
    before = rows.task(engine, task_id).deadline_at
    assert _sweep(queue).graced == 1
    assert (rows.task(engine, task_id).deadline_at - before).total_seconds() < 10


def test_what_had_expired_before_the_outage_is_taken_all_the_same(engine: Engine, queue: Queue, clock: Clock) -> None:
    dead = add_task(engine, queue, lease_seconds=15)
    queue.claim("dead")
    clock.advance(seconds=20)
    alive = add_task(engine, queue, lease_seconds=60)
    queue.claim("alive")
    clock.advance(seconds=600, outage=True)
    report = _sweep(queue)
    assert ([swept.task_id for swept in report.taken], report.graced) == ([dead], 1)
    assert rows.status(engine, alive) == "processing"


def test_three_missed_sweeps_are_no_outage_yet(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue, lease_seconds=5)
    queue.claim("dead")
    _sweep(queue)
    clock.advance(seconds=3 * rows.INTERVAL_SECONDS - 1, outage=True)
    report = _sweep(queue)
    assert ([swept.task_id for swept in report.taken], report.graced) == ([task_id], 0)


def test_a_restart_of_the_server_is_an_outage_however_short(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue, lease_seconds=15)
    queue.claim("worker-1")
    last_sweep = "pg_postmaster_start_time() - interval '1 second'"
    rows.change(engine, f"UPDATE sweeper_state SET last_ok_at = {last_sweep}")
    rows.change(engine, f"UPDATE tasks SET lease_expires_at = {last_sweep} + interval '0.5 seconds'")
    # An interval so long that the time since the last sweep alone would not be an outage.
    report = queue.sweep(worker="sweeper", interval_seconds=10**6)
    assert report == SweepReport(graced=1)
    assert rows.status(engine, task_id) == "processing"
    assert queue.sweep(worker="sweeper", interval_seconds=10**6) == SweepReport()


def test_grace_never_shortens_a_lease(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue, lease_seconds=15)
    (claim,) = queue.claim("worker-1")
    rows.checkpoint(queue, claim, lease_seconds=900)
    before = rows.task(engine, task_id).lease_expires_at
    clock.advance(seconds=60, outage=True)
    assert _sweep(queue).graced == 1
    assert rows.task(engine, task_id).lease_expires_at == before


def test_a_sweep_leaves_word_of_itself(engine: Engine, queue: Queue, clock: Clock) -> None:
    clock.advance(seconds=600, outage=True)
    _sweep(queue)
    state = _state(engine)
    assert state["swept_by"] == "sweeper"
    assert state["graced_at"] == state["last_ok_at"]


def test_a_mass_expiry_of_several_holders_waits_one_interval(engine: Engine, queue: Queue, clock: Clock) -> None:
    _running(engine, queue, tasks=10, holders=2)
    clock.advance(minutes=1)
    assert _sweep(queue) == SweepReport(braked=True)
    clock.advance(seconds=rows.INTERVAL_SECONDS - 1)
    assert _sweep(queue) == SweepReport(braked=True)
    clock.advance(seconds=2)
    report = _sweep(queue)
    assert (len(report.taken), report.braked) == (10, False)
    assert _sweep(queue) == SweepReport()
    assert _state(engine)["braked_at"] is None


def test_workers_that_come_back_during_the_wait_keep_their_tasks(engine: Engine, queue: Queue, clock: Clock) -> None:
    _running(engine, queue, tasks=9, holders=3)
    add_task(engine, queue)
    (claim,) = queue.claim("host-1")
    clock.advance(minutes=1)
    assert _sweep(queue).braked
    rows.checkpoint(queue, claim)
    clock.advance(seconds=6)
    assert claim.task_id not in {swept.task_id for swept in _sweep(queue).taken}
    assert rows.status(engine, claim.task_id) == "processing"


@pytest.mark.parametrize(("tasks", "holders"), [(9, 3), (12, 1)], ids=["too few tasks", "one holder"])
def test_a_loss_that_workers_explain_is_not_braked(
    engine: Engine, queue: Queue, clock: Clock, tasks: int, holders: int
) -> None:
    _running(engine, queue, tasks=tasks, holders=holders)
    clock.advance(minutes=1)
    report = _sweep(queue)
    assert (len(report.taken), report.braked) == (tasks, False)


@pytest.mark.parametrize(("expired", "braked"), [(5, False), (6, True)])
def test_half_is_not_yet_too_many(engine: Engine, queue: Queue, clock: Clock, expired: int, braked: bool) -> None:
    for number in range(10):
        add_task(engine, queue, lease_seconds=15 if number < expired else 600)
        queue.claim(f"host-{number}")
    clock.advance(minutes=1)
    assert _sweep(queue).braked is braked


def test_a_brake_that_has_waited_lets_go_for_every_batch(engine: Engine, queue: Queue, clock: Clock) -> None:
    _running(engine, queue, tasks=24, holders=4)
    clock.advance(minutes=1)
    assert _sweep(queue).braked
    clock.advance(seconds=6)
    assert [len(rows.sweep(queue, batch=8)) for _ in range(4)] == [8, 8, 8, 0]


def test_a_second_mass_expiry_waits_again(engine: Engine, queue: Queue, clock: Clock) -> None:
    for _ in range(2):
        _running(engine, queue, tasks=10, holders=5)
        clock.advance(minutes=1)
        assert _sweep(queue).braked
        clock.advance(seconds=6)
        assert len(_sweep(queue).taken) == 10
        rows.change(engine, "DELETE FROM attempts")
        rows.change(engine, "DELETE FROM tasks")

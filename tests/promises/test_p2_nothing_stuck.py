"""P2: no task is ever lost or stuck. Whoever dies, in whatever transaction, the task is claimable again."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, text

from pipeline.queue.front import FRONT
from pipeline.queue.model import SweepReport
from pipeline.queue.settle import Fault
from pipeline.queue.statements import statement
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import races, rows
from tests.tasks import add_task

# Together they make the planner run an inner SELECT once for every row: `IN (SELECT … LIMIT 2)` then takes all tasks.
BAD_PLANS = (
    "SET LOCAL enable_hashagg = off",
    "SET LOCAL enable_sort = off",
    "SET LOCAL enable_indexscan = off",
    "SET LOCAL enable_bitmapscan = off",
    "SET LOCAL enable_hashjoin = off",
    "SET LOCAL enable_mergejoin = off",
    "SET LOCAL enable_material = off",
    "SET LOCAL enable_memoize = off",
)


@pytest.fixture
def world(engine: Engine, queue: Queue, clock: Clock) -> races.World:
    """What a race needs."""
    return races.World(engine, queue, clock)


def test_a_dead_workers_task_is_claimable_after_its_lease(engine: Engine, queue: Queue, clock: Clock) -> None:
    task_id = add_task(engine, queue, lease_seconds=15)
    queue.claim("dead")
    clock.advance(seconds=14)
    assert rows.sweep(queue) == {}
    assert queue.claim("other") == []
    clock.advance(seconds=2)
    assert rows.sweep(queue) == {task_id: "enqueued"}
    (claim,) = queue.claim("other")
    assert (claim.task_id, claim.attempt_no) == (task_id, 2)


@pytest.mark.parametrize("fault", [Fault.TRANSIENT, Fault.CRASH, Fault.RELEASE])
def test_a_task_that_goes_wrong_comes_back_by_itself(engine: Engine, queue: Queue, clock: Clock, fault: Fault) -> None:
    task_id = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    rows.fail(queue, claim, fault)
    clock.advance(minutes=30)
    queue.promote()
    (again,) = queue.claim("worker-2")
    assert (again.task_id, again.attempt_no) == (task_id, 2)


def test_a_child_row_being_inserted_does_not_hide_an_expired_task(world: races.World) -> None:
    claim = world.expired()
    insert = text(
        "INSERT INTO attempts (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at)"
        " VALUES (:task_id, 99, :token, 'somebody', 1, now(), now())"
    )
    with world.engine.connect() as connection:
        connection.execute(insert, {"task_id": claim.task_id, "token": uuid.uuid4()})
        assert rows.sweep(world.queue) == {claim.task_id: "enqueued"}
        connection.rollback()


def test_a_session_that_stopped_inside_a_transaction_hides_its_task_only_until_the_timeout(world: races.World) -> None:
    claim = world.expired()
    with world.engine.connect() as stopped:
        stopped.execute(text("SET idle_in_transaction_session_timeout = '150ms'"))
        values = {
            "task_id": claim.task_id,
            "lease_token": claim.lease_token,
            "pages_done": 1,
            "pages_stored": 0,
            "lease_seconds": 900,
        }
        stopped.execute(statement("checkpoint"), values)
        found = rows.sweep_until_taken(world.queue)
        stopped.invalidate()
    assert found == {claim.task_id: "enqueued"}
    assert rows.task(world.engine, claim.task_id).pages_done == 0


def test_a_session_that_stopped_inside_a_transaction_hides_no_other_task(world: races.World) -> None:
    hidden, other = world.expired("worker-1"), world.expired("worker-2")
    with world.queue.checkpointing(hidden, pages_done=1, lease_seconds=15):
        assert rows.sweep(world.queue) == {other.task_id: "enqueued"}


def test_a_stopped_session_does_not_hold_up_the_sweep_after_an_outage(world: races.World) -> None:
    add_task(world.engine, world.queue, lease_seconds=600)
    add_task(world.engine, world.queue, lease_seconds=600)
    hidden, other = world.queue.claim("worker-1", batch=2)
    world.clock.advance(seconds=60, outage=True)
    with world.queue.checkpointing(hidden, pages_done=1, lease_seconds=15):
        report = world.queue.sweep(worker="sweeper", interval_seconds=rows.INTERVAL_SECONDS)
    assert report.graced == 1
    assert (
        rows.task(world.engine, other.task_id).lease_expires_at
        > rows.task(world.engine, hidden.task_id).lease_expires_at
    )


@pytest.mark.parametrize("committed", [True, False])
def test_two_sweeps_at_once_take_each_task_once(world: races.World, *, committed: bool) -> None:
    claims = [world.expired(f"worker-{number}") for number in range(3)]
    with world.engine.connect() as first:
        taken = first.execute(statement("sweep"), rows.sweep_values(world.queue)).all()
        second = world.queue.sweep(worker="second", interval_seconds=rows.INTERVAL_SECONDS)
        assert second == SweepReport(judged=False)
        if committed:
            first.commit()
    assert len(taken) == 3
    third = rows.sweep(world.queue)
    assert third == ({} if committed else {claim.task_id: "enqueued" for claim in claims})
    for claim in claims:
        assert rows.outcomes(world.engine, claim.task_id) == ["expired"]


def test_a_sweep_takes_no_more_than_its_batch_and_the_next_one_the_rest(world: races.World) -> None:
    for number in range(5):
        world.expired(f"worker-{number}")
    sizes = [len(rows.sweep(world.queue, batch=2)) for _ in range(4)]
    assert sizes == [2, 2, 1, 0]


def _claim(world: races.World) -> tuple[str, dict[str, object]]:
    for _ in range(20):
        add_task(world.engine, world.queue)
    return "claim", {"worker": "worker-1", "batch": 2, "suspects": True, "from_rank": FRONT}


def _sweep(world: races.World) -> tuple[str, dict[str, object]]:
    for number in range(9):
        world.expired(f"worker-{number}")
    return "sweep", rows.sweep_values(world.queue, batch=2)


def _promote(world: races.World) -> tuple[str, dict[str, object]]:
    for _ in range(20):
        add_task(world.engine, world.queue)
    for claim in world.queue.claim("worker-1", batch=20):
        rows.fail(world.queue, claim, Fault.TRANSIENT)
    world.clock.advance(minutes=30)
    return "promote", {"batch": 2}


@pytest.mark.parametrize("prepare", [_claim, _sweep, _promote])
def test_a_bad_plan_takes_no_more_than_was_asked_for(
    world: races.World, prepare: Callable[[races.World], tuple[str, dict[str, object]]]
) -> None:
    name, values = prepare(world)
    with world.engine.begin() as connection:
        for setting in BAD_PLANS:
            connection.execute(text(setting))
        taken = connection.execute(statement(name), values).all()
    assert len(taken) == 2


def test_a_sweep_that_dies_halfway_leaves_everything_to_the_next(world: races.World) -> None:
    claim = world.expired()
    connection = world.engine.connect()
    connection.execute(statement("sweep"), rows.sweep_values(world.queue))
    pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    rows.terminate(world.engine, f"pid = {pid}")
    connection.invalidate()
    connection.close()
    assert rows.sweep_until_taken(world.queue) == {claim.task_id: "enqueued"}

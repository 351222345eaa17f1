"""P1: at most one attempt's result is ever accepted. A worker that lost its lease can write nothing."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine, text
from sqlalchemy.exc import IntegrityError, OperationalError

from pipeline import database
from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim, Outcome, Usage
from pipeline.queue.settle import Fault
from pipeline.queue.statements import statement
from pipeline.queue.store import Queue
from tests import pooling
from tests.conftest import Clock
from tests.queue import races, rows
from tests.queue.losing_proxy import losing_proxy
from tests.tasks import add_task

WRITES: dict[str, Callable[[Queue, Claim], object]] = {
    "completes": rows.complete,
    "renews": rows.checkpoint,
    "fails": lambda queue, claim: rows.fail(queue, claim, Fault.TRANSIENT),
    "fails for good": lambda queue, claim: rows.fail(queue, claim, Fault.PERMANENT),
    "reports a crash": lambda queue, claim: rows.fail(queue, claim, Fault.CRASH),
    "gives it back": lambda queue, claim: rows.fail(queue, claim, Fault.RELEASE),
    "cancels": lambda queue, claim: rows.fail(queue, claim, Fault.CANCEL),
}
every_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())


@pytest.fixture
def world(engine: Engine, queue: Queue, clock: Clock) -> races.World:
    """What a race needs."""
    return races.World(engine, queue, clock)


def assert_refused(world: races.World, write: Callable[[Queue, Claim], object], claim: Claim) -> None:
    """The write raises, and not a column of task or attempts changed."""
    before = rows.task(world.engine, claim.task_id), rows.attempts(world.engine, claim.task_id)
    with pytest.raises(LeaseLost):
        write(world.queue, claim)
    assert (rows.task(world.engine, claim.task_id), rows.attempts(world.engine, claim.task_id)) == before


@every_write
def test_a_lost_worker_writes_nothing_after_a_sweep(
    world: races.World, write: Callable[[Queue, Claim], object]
) -> None:
    claim = world.expired()
    rows.sweep(world.queue)
    assert_refused(world, write, claim)


@every_write
def test_a_lost_worker_writes_nothing_into_the_next_attempt(
    world: races.World, write: Callable[[Queue, Claim], object]
) -> None:
    claim = world.expired()
    rows.sweep(world.queue)
    assert len(world.queue.claim("worker-2")) == 1
    assert_refused(world, write, claim)


@every_write
def test_a_lost_worker_writes_nothing_into_its_own_next_attempt(
    world: races.World, write: Callable[[Queue, Claim], object]
) -> None:
    claim = world.expired()
    rows.sweep(world.queue)
    assert len(world.queue.claim("worker-1")) == 1, "two containers may share a name, a frozen thread may wake up"
    assert_refused(world, write, claim)


@every_write
def test_a_lost_worker_writes_nothing_after_an_operators_retry(
    world: races.World, write: Callable[[Queue, Claim], object]
) -> None:
    claim = world.expired()
    world.queue.cancel(claim.task_id)
    rows.sweep(world.queue)
    world.queue.retry(claim.task_id)
    assert_refused(world, write, claim)
    (again,) = world.queue.claim("worker-2")
    assert again.attempt_no == claim.attempt_no + 1
    assert_refused(world, write, claim)


@every_write
def test_nothing_is_written_after_the_result(world: races.World, write: Callable[[Queue, Claim], object]) -> None:
    add_task(world.engine, world.queue)
    (claim,) = world.queue.claim("worker-1")
    rows.complete(world.queue, claim)
    assert_refused(world, write, claim)


@every_write
def test_the_number_of_an_attempt_is_not_enough_to_write(
    world: races.World, write: Callable[[Queue, Claim], object]
) -> None:
    add_task(world.engine, world.queue)
    (claim,) = world.queue.claim("worker-1")
    assert_refused(world, write, replace(claim, lease_token=uuid.uuid4()))


def test_a_lost_lease_takes_the_whole_transaction_with_it(world: races.World) -> None:
    claim = world.expired()
    rows.sweep(world.queue)
    with pytest.raises(LeaseLost), world.queue.checkpointing(claim, pages_done=1, lease_seconds=9) as (connection, _):
        connection.execute(text("UPDATE sweeper_state SET swept_by = 'the stale worker'"))
    with world.engine.connect() as connection:
        assert connection.execute(text("SELECT swept_by FROM sweeper_state")).scalar_one() == "sweeper"


def test_an_error_while_the_result_is_written_leaves_the_attempt_open(world: races.World) -> None:
    add_task(world.engine, world.queue)
    (claim,) = world.queue.claim("worker-1")
    completing = world.queue.completing(claim, reason="ok", pages_done=2, result={}, usage=Usage())
    with pytest.raises(ZeroDivisionError), completing:
        raise ZeroDivisionError
    assert world.queue.outcome(claim) is None
    rows.complete(world.queue, claim)
    assert world.queue.outcome(claim) is Outcome.SUCCEEDED


@pytest.mark.parametrize(
    "race",
    [
        races.a_swept_worker_completes_while_another_works,
        races.a_swept_worker_completes_while_nobody_works,
        races.a_swept_worker_renews,
        races.a_swept_worker_fails,
        races.a_sweep_meets_an_open_completion,
        races.a_completion_commits_inside_a_sweep,
        races.a_renewal_commits_inside_a_sweep,
        races.a_cancellation_commits_inside_a_sweep,
    ],
)
def test_a_race_has_one_winner(world: races.World, race: Callable[[races.World], None]) -> None:
    race(world)


@pytest.mark.parametrize("committed", [True, False], ids=["the sweep commits", "the sweep is rolled back"])
def test_a_completion_that_meets_an_open_sweep_waits_and_obeys(world: races.World, *, committed: bool) -> None:
    claim = world.expired()
    with world.engine.connect() as connection:
        connection.execute(statement("sweep"), rows.sweep_values(world.queue))
        completion = races.Beside(world.engine, lambda _: rows.complete(world.queue, claim))
        completion.start()
        if committed:
            connection.commit()
        else:
            connection.rollback()
    if committed:
        with pytest.raises(LeaseLost):
            completion.result()
    else:
        completion.result()
    assert rows.status(world.engine, claim.task_id) == ("enqueued" if committed else "succeeded")


def test_a_completion_after_expiry_but_before_any_sweep_is_accepted(world: races.World) -> None:
    claim = world.expired()
    rows.complete(world.queue, claim)
    assert rows.outcomes(world.engine, claim.task_id) == ["succeeded"]
    assert rows.sweep(world.queue) == {}


def test_a_worker_that_finishes_late_leaves_a_mark_and_nothing_else(world: races.World) -> None:
    claim = world.expired()
    rows.sweep(world.queue)
    before = rows.task(world.engine, claim.task_id)
    world.queue.late_finish(claim)
    (attempt,) = rows.attempts(world.engine, claim.task_id)
    assert attempt.late_finish_at is not None
    assert (attempt.outcome, attempt.result) == ("expired", None)
    assert rows.task(world.engine, claim.task_id) == before
    world.clock.advance(minutes=5)
    world.queue.late_finish(claim)
    assert rows.attempts(world.engine, claim.task_id) == [attempt], "the first late finish is the one that counts"


def test_a_finish_in_time_is_never_marked_late(world: races.World) -> None:
    add_task(world.engine, world.queue)
    (claim,) = world.queue.claim("worker-1")
    rows.complete(world.queue, claim)
    world.queue.late_finish(claim)
    (attempt,) = rows.attempts(world.engine, claim.task_id)
    assert attempt.late_finish_at is None


def test_the_schema_refuses_a_second_result_whatever_a_statement_says(world: races.World) -> None:
    claim = world.expired()
    rows.sweep(world.queue)
    (current,) = world.queue.claim("worker-2")
    rows.complete(world.queue, current)
    force = "UPDATE attempts SET outcome = 'succeeded', ended_at = now() WHERE lease_token = :token"
    with pytest.raises(IntegrityError, match="attempts_one_result"):
        rows.change(world.engine, force, token=claim.lease_token)


def test_a_lost_answer_to_a_commit_is_found_out_and_a_repeat_is_refused(world: races.World, database_url: URL) -> None:
    add_task(world.engine, world.queue)
    with (
        tempfile.TemporaryDirectory(prefix="doclease-") as folder,
        losing_proxy(database_url, Path(folder)) as (through_proxy, proxy),
    ):
        engine = database.open_engine(through_proxy, pooling.settings_for(database_url), name="behind the proxy")
        queue = Queue(engine, limits=world.queue.limits, aging_ms=1)
        (claim,) = queue.claim("worker-1")
        proxy.lose_the_next_commit()
        with pytest.raises(OperationalError):
            rows.complete(queue, claim)
        rows.until(lambda: world.queue.outcome(claim) is not None)
        assert queue.outcome(claim) is Outcome.SUCCEEDED
        with pytest.raises(LeaseLost):
            rows.complete(queue, claim, "again")
        engine.dispose()
    assert [attempt.result for attempt in rows.attempts(world.engine, claim.task_id)] == [{"by": "mine"}]

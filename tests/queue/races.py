"""Races between real sessions, each a function that fails when a stale writer gets through.

The promise tests run them on the statements as they are; test_mutants.py runs them on statements with a guard removed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, Engine, text

from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim, Usage
from pipeline.queue.settle import Fault
from pipeline.queue.statements import statement
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import rows
from tests.tasks import add_task

PAUSE = 4711  # the advisory lock that a paused statement waits for


class World:
    """What a race needs: the database, the queue on it, and its time."""

    def __init__(self, engine: Engine, queue: Queue, clock: Clock) -> None:
        self.engine = engine
        self.queue = queue
        self.clock = clock

    def expired(self, worker: str = "worker-1") -> Claim:
        """A claim whose lease has run out, and that nobody has swept yet."""
        add_task(self.engine, self.queue)
        (claim,) = self.queue.claim(worker)
        self.clock.advance(minutes=1)
        return claim


def a_swept_worker_completes_while_another_works(world: World) -> None:
    """The first holder wakes up after the sweep and a new claim, and tries to write its result."""
    stale = world.expired()
    rows.sweep(world.queue)
    (current,) = world.queue.claim("worker-2")
    with pytest.raises(LeaseLost):
        rows.complete(world.queue, stale, "stale")
    rows.complete(world.queue, current, "current")
    assert [each.result for each in rows.attempts(world.engine, stale.task_id)] == [None, {"by": "current"}]


def a_swept_worker_completes_while_nobody_works(world: World) -> None:
    """The first holder wakes up after the sweep, before anybody claimed the task again."""
    stale = world.expired()
    rows.sweep(world.queue)
    with pytest.raises(LeaseLost):
        rows.complete(world.queue, stale, "stale")
    assert rows.status(world.engine, stale.task_id) == "enqueued"


def a_swept_worker_renews(world: World) -> None:
    """The first holder wakes up after a new claim, and tries to keep the lease alive."""
    stale = world.expired()
    rows.sweep(world.queue)
    (current,) = world.queue.claim("worker-2")
    before = rows.task(world.engine, stale.task_id)
    with pytest.raises(LeaseLost):
        rows.checkpoint(world.queue, stale, pages_done=2, lease_seconds=3600)
    assert rows.task(world.engine, current.task_id) == before


def a_swept_worker_fails(world: World) -> None:
    """The first holder wakes up after a new claim, and tries to report a failure."""
    stale = world.expired()
    rows.sweep(world.queue)
    world.queue.claim("worker-2")
    before = rows.task(world.engine, stale.task_id)
    with pytest.raises(LeaseLost):
        rows.fail(world.queue, stale, Fault.PERMANENT)
    assert rows.task(world.engine, stale.task_id) == before


def a_sweep_meets_an_open_completion(world: World) -> None:
    """The sweep runs while the completing transaction is open, and ends before or after its commit."""
    claim = world.expired()
    with world.queue.completing(claim, reason="ok", pages_done=2, result={"by": "mine"}, usage=Usage()):
        sweeper = _paused_sweep(world)
    assert sweeper.result() == []
    assert rows.status(world.engine, claim.task_id) == "succeeded"


def a_completion_commits_inside_a_sweep(world: World) -> None:
    """The sweep has its snapshot, in which the lease is expired; the worker completes; the sweep goes on."""
    claim = world.expired()
    with paused_statement(world.engine) as resume:
        sweeper = _paused_sweep(world)
        rows.complete(world.queue, claim)
        resume()
        assert sweeper.result() == []
    assert rows.status(world.engine, claim.task_id) == "succeeded"


def a_renewal_commits_inside_a_sweep(world: World) -> None:
    """The sweep has its snapshot, in which the lease is expired; the worker renews; the sweep goes on."""
    claim = world.expired()
    with paused_statement(world.engine) as resume:
        sweeper = _paused_sweep(world)
        rows.checkpoint(world.queue, claim)
        resume()
        assert sweeper.result() == []
    assert rows.status(world.engine, claim.task_id) == "processing"


def a_cancellation_commits_inside_a_sweep(world: World) -> None:
    """The sweep has its snapshot; somebody cancels the task of the dead worker; the sweep goes on."""
    claim = world.expired()
    with paused_statement(world.engine) as resume:
        sweeper = _paused_sweep(world)
        world.queue.cancel(claim.task_id)
        resume()
        assert sweeper.result() == [claim.task_id]
    assert rows.status(world.engine, claim.task_id) == "cancelled"


@contextmanager
def paused_statement(engine: Engine) -> Iterator[Callable[[], None]]:
    """Statements of a paused sweep stop where they first read the time: after their snapshot, before their locks.

    Yields what lets them go on. A function of the same name, found first on their search path, waits for a lock.
    """
    with engine.connect() as holder:
        # Held by a transaction: behind a pooler no session is the holder's own.
        holder.execute(text(f"SELECT pg_advisory_xact_lock({PAUSE})"))
        rows.change(engine, "CREATE SCHEMA paused")
        rows.change(
            engine,
            "CREATE FUNCTION paused.queue_now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN"
            f" PERFORM pg_advisory_xact_lock_shared({PAUSE}); RETURN public.queue_now(); END $$",
        )
        try:
            yield holder.commit
        finally:
            holder.rollback()
            rows.change(engine, "DROP SCHEMA paused CASCADE")


class Beside:
    """Work in a session and a thread of its own."""

    def __init__(self, engine: Engine, work: Callable[[Connection], object]) -> None:
        self._engine = engine
        self._work = work
        self._found: object = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start, and return once the work has ended or some session of it waits for another."""
        self._thread.start()
        rows.until(lambda: not self._thread.is_alive() or rows.waiting_sessions(self._engine) > 0)

    def result(self) -> object:
        """What the work returned, or its error."""
        self._thread.join(rows.GIVE_UP_SECONDS)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error
        return self._found

    def _run(self) -> None:
        try:
            with self._engine.begin() as connection:
                self._found = self._work(connection)
        except Exception as error:  # noqa: BLE001 - handed to whoever asks for the result
            self._error = error


def _paused_sweep(world: World) -> Beside:
    """A sweep of its own that has ended, or stands still at a lock."""

    def sweep(connection: Connection) -> list[int]:
        connection.execute(text("SET LOCAL search_path = paused, public"))
        found = connection.execute(statement("sweep"), rows.sweep_values(world.queue))
        return [row.task_id for row in found if row.task_id is not None]

    sweeper = Beside(world.engine, sweep)
    sweeper.start()
    return sweeper

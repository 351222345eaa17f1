"""Presence: the end of a worker's session shortens what it held, and nothing that a living worker meets does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import URL, Connection, Engine, text

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.queue.model import Claim, Shortened
from pipeline.queue.presence import Presence
from pipeline.queue.settle import Fault
from pipeline.queue.statements import statement
from pipeline.queue.store import Queue
from pipeline.queue.sweeper import PATIENCE_SECONDS, UNREST_SECONDS, Rhythm, Sweeper
from pipeline.queue.wakeup import Bell, Listener
from tests import pooling
from tests.conftest import Clock
from tests.faults.hosts import forwarded
from tests.faults.servers import public_folder
from tests.queue import races, rows
from tests.tasks import add_task

Session = psycopg.Connection[tuple[object, ...]]
LONG = 600.0


class Floor:
    """Workers with their sessions, and somebody who looks for them."""

    def __init__(self, url: URL, engine: Engine, queue: Queue, clock: Clock, stack: ExitStack) -> None:
        self._url, self._engine, self._clock, self._stack = url, engine, clock, stack
        self.queue = queue
        self.presences: dict[str, Presence] = {}
        for worker in ("one", "two", "three"):
            self.attend(worker)

    def attend(self, worker: str) -> Session:
        """A session of the worker's, on record."""
        connect = database.listening_connection(self._url, DatabaseSettings())
        session = self._stack.enter_context(connect)
        self.presences.setdefault(worker, Presence(worker)).attend(session)
        return session

    def end(self, session: Session) -> None:
        """Close a session, and wait until the server knows."""
        pid = session.info.backend_pid
        session.close()
        query = text("SELECT FROM pg_stat_activity WHERE pid = :pid")

        def is_gone() -> bool:
            with self._engine.connect() as connection:
                return not connection.execute(query, {"pid": pid}).all()

        rows.until(is_gone)

    def lose(self, worker: str, *, tasks: int = 1) -> list[int]:
        """A worker with so many tasks in hand, whose session has just ended."""
        session = self.attend(worker)
        held = self.hold(worker, tasks=tasks)
        self.end(session)
        # The session was not the worker's first one, which is no sign of unrest in this test.
        rows.change(self._engine, "UPDATE workers SET returned_at = NULL")
        return held

    def hold(self, worker: str, *, tasks: int = 1) -> list[int]:
        """Tasks in the hands of a worker, whose leases are long."""
        for _ in range(tasks):
            add_task(self._engine, self.queue, lease_seconds=LONG)
        return [claim.task_id for claim in self.queue.claim(worker, batch=tasks)]

    def look(self, by: str = "two") -> Shortened:
        """What a look that found somebody absent does next."""
        return self.queue.shorten(**self.values(by))

    def values(self, by: str) -> dict[str, Any]:
        """What such a look passes."""
        return {
            "worker": by,
            "interval_seconds": rows.INTERVAL_SECONDS,
            "patience_seconds": PATIENCE_SECONDS,
            "unrest_seconds": UNREST_SECONDS,
        }

    def look_twice(self, by: str = "two") -> int:
        """Two looks, far enough from each other; how many leases the second one shortened."""
        self.look(by)
        self._clock.advance(seconds=PATIENCE_SECONDS)
        return self.look(by).shortened

    def workers(self) -> set[str]:
        """Who is on record."""
        with self._engine.connect() as connection:
            return set(connection.execute(text("SELECT worker FROM workers")).scalars())


@pytest.fixture
def floor(database_url: URL, engine: Engine, queue: Queue, clock: Clock) -> Iterator[Floor]:
    """Three workers, each with a session."""
    if pooling.is_pooled(database_url):
        pytest.skip("behind a pooler no worker is on record")
    with ExitStack() as stack:
        yield Floor(database_url, engine, queue, clock, stack)


def _sweep(floor: Floor, engine: Engine, clock: Clock) -> dict[int, str]:
    clock.advance(seconds=0.1)
    return rows.sweep(floor.queue)


def test_two_looks_end_the_leases_of_a_worker_whose_session_is_gone_and_no_others(
    floor: Floor, engine: Engine, clock: Clock
) -> None:
    (kept,) = floor.hold("two")
    lost = floor.lose("one", tasks=2)
    assert floor.look() == Shortened(0, again=True)
    assert rows.sweep(floor.queue) == {}, "one look is none"
    clock.advance(seconds=PATIENCE_SECONDS - 0.5)
    assert floor.look() == Shortened(0, again=False)
    clock.advance(seconds=0.5)
    assert floor.look() == Shortened(2, again=False)
    assert _sweep(floor, engine, clock) == dict.fromkeys(lost, "enqueued")
    assert rows.status(engine, kept) == "processing"
    assert [rows.task(engine, task_id).crash_count for task_id in lost] == [0, 0], "it fell silent with all it held"


@pytest.mark.parametrize("tasks", [0, 2])
def test_a_worker_that_is_gone_is_forgotten_with_its_leases(floor: Floor, clock: Clock, tasks: int) -> None:
    floor.lose("one", tasks=tasks)
    floor.look()
    assert floor.workers() == {"one", "two", "three"}
    clock.advance(seconds=PATIENCE_SECONDS)
    floor.look()
    assert floor.workers() == {"two", "three"}
    assert floor.queue.look().absent == 0


def test_workers_that_die_one_after_the_other_are_missed_one_by_one(floor: Floor, clock: Clock) -> None:
    """Nobody of the first counts when it is judged whether most are missing."""
    floor.lose("one")
    assert floor.look_twice() == 1
    floor.lose("three")
    assert floor.look_twice() == 1


def test_a_look_sees_who_is_absent_and_what_waits(floor: Floor, engine: Engine, clock: Clock) -> None:
    assert (floor.queue.look().workers, floor.queue.look().absent) == (3, 0)
    floor.lose("one")
    assert floor.queue.look().absent == 1
    assert not floor.queue.look().ready
    add_task(engine, floor.queue)
    assert floor.queue.look().ready
    (claim,) = floor.queue.claim("two")
    rows.fail(floor.queue, claim, Fault.TRANSIENT)
    assert (floor.queue.look().ready, floor.queue.look().due) == (False, False)
    clock.advance(minutes=1)
    assert (floor.queue.look().ready, floor.queue.look().due) == (False, True)


def test_a_session_that_comes_back_between_two_looks_costs_nothing(floor: Floor, engine: Engine, clock: Clock) -> None:
    (held,) = floor.lose("one")
    floor.look()
    floor.attend("one")
    clock.advance(seconds=PATIENCE_SECONDS)
    assert floor.look() == Shortened(0, again=False)
    assert rows.task(engine, held).lease_expires_at is not None
    assert floor.queue.look().absent == 0
    assert _sweep(floor, engine, clock) == {}


def test_two_looks_in_a_row_are_at_one_session(floor: Floor, clock: Clock) -> None:
    """What was missing before says nothing of the session that stands for the worker now."""
    floor.lose("one")
    floor.look()
    floor.end(floor.attend("one"))
    clock.advance(seconds=PATIENCE_SECONDS)
    assert floor.look() == Shortened(0, again=True)


def test_a_worker_that_made_progress_between_two_looks_lives(floor: Floor, engine: Engine, clock: Clock) -> None:
    add_task(engine, floor.queue, lease_seconds=LONG)
    add_task(engine, floor.queue, lease_seconds=LONG)
    claim, _ = floor.queue.claim("one", batch=2)
    floor.lose("one", tasks=0)
    floor.look()
    clock.advance(seconds=0.5)
    rows.checkpoint(floor.queue, claim, lease_seconds=LONG)
    clock.advance(seconds=0.5)
    assert floor.look() == Shortened(0, again=False)


def test_a_task_renewed_inside_the_second_look_keeps_its_lease(floor: Floor, engine: Engine, clock: Clock) -> None:
    add_task(engine, floor.queue, lease_seconds=LONG)
    (claim,) = floor.queue.claim("one")
    floor.lose("one", tasks=0)
    floor.look()
    clock.advance(seconds=PATIENCE_SECONDS)
    with floor.queue.checkpointing(claim, pages_done=1, lease_seconds=LONG):
        assert floor.look() == Shortened(0, again=False), "whoever holds the row is not waited for"
        assert "one" in floor.workers(), "nor forgotten"
    assert floor.look() == Shortened(0, again=False)


def _renew(floor: Floor, claim: Claim) -> None:
    rows.checkpoint(floor.queue, claim, lease_seconds=LONG)


def _hand_over(floor: Floor, claim: Claim) -> None:
    rows.fail(floor.queue, claim, Fault.RELEASE)
    assert floor.queue.claim("three")


@pytest.mark.parametrize("act", [_renew, _hand_over])
def test_what_is_committed_while_a_look_is_under_way_counts(
    floor: Floor, engine: Engine, clock: Clock, act: Callable[[Floor, Claim], None]
) -> None:
    """The look has its snapshot, in which the worker is silent; something happens; the look goes on."""
    add_task(engine, floor.queue, lease_seconds=LONG)
    (claim,) = floor.queue.claim("one")
    floor.lose("one", tasks=0)
    floor.look()
    clock.advance(seconds=PATIENCE_SECONDS)

    def shorten(connection: Connection) -> int:
        connection.execute(text("SET LOCAL search_path = paused, public"))
        return int(connection.execute(statement("shorten"), floor.values("two")).one().shortened)

    with races.paused_statement(engine) as resume:
        look = races.Beside(engine, shorten)
        look.start()
        act(floor, claim)
        resume()
        assert look.result() == 0
    assert _sweep(floor, engine, clock) == {}


@pytest.mark.parametrize(
    "restart",
    [
        "UPDATE workers SET server_started_at = server_started_at - INTERVAL '1 s'",
        "UPDATE workers SET returned_at = queue_now() WHERE worker = 'three'",
        "UPDATE sweeper_state SET graced_at = queue_now()",
        "UPDATE sweeper_state SET last_ok_at = queue_now() - INTERVAL '16 s'",
    ],
    ids=["written before a restart", "somebody just came back", "leases just graced", "nobody swept for long"],
)
def test_what_looks_like_the_server_shortens_nothing_yet(
    floor: Floor, engine: Engine, clock: Clock, restart: str
) -> None:
    floor.lose("one")
    rows.change(engine, restart)
    floor.look()
    clock.advance(seconds=PATIENCE_SECONDS, outage=True)
    assert floor.look().shortened == 0


def test_when_most_are_missing_they_get_the_time_to_come_back(floor: Floor, clock: Clock) -> None:
    floor.lose("one")
    floor.lose("three")
    assert floor.look_twice() == 0
    clock.advance(seconds=UNREST_SECONDS)
    assert floor.look().shortened == 2, "and no longer"


def test_whoever_looks_is_not_gone_itself(floor: Floor, clock: Clock) -> None:
    floor.lose("two")
    floor.look(by="one")
    clock.advance(seconds=PATIENCE_SECONDS)
    assert floor.look(by="two").shortened == 0
    assert "two" not in floor.workers(), "its leases alone decide, until it attends anew"
    assert floor.look(by="one").shortened == 0
    floor.attend("two")
    assert "two" in floor.workers()


def test_a_lease_that_ends_sooner_is_not_lengthened(floor: Floor, engine: Engine, clock: Clock) -> None:
    (held,) = floor.lose("one")
    rows.change(engine, "UPDATE tasks SET lease_expires_at = queue_now() - INTERVAL '1 minute'")
    before = rows.task(engine, held).lease_expires_at
    assert floor.look_twice() == 0
    assert rows.task(engine, held).lease_expires_at == before


def test_a_worker_that_ends_leaves_no_row(floor: Floor, engine: Engine) -> None:
    sweeper = Sweeper(floor.queue, worker="one", rhythm=Rhythm(3600, 3600), on_work=lambda: None)
    sweeper.start()
    sweeper.stop()
    assert floor.workers() == {"two", "three"}


def test_rows_of_another_start_of_the_server_are_cleared_away_after_a_day(floor: Floor, engine: Engine) -> None:
    old = "UPDATE workers SET server_started_at = '2020-01-01', attended_at = now() - INTERVAL '2 days'"
    rows.change(engine, f"{old} WHERE worker = 'one'")
    floor.attend("three")
    assert floor.workers() == {"two", "three"}


@contextmanager
def _heard(url: URL, floor: Floor, worker: str) -> Iterator[Listener]:
    """A listener whose session stands for a worker."""

    def connect() -> Session:
        return database.listening_connection(url, DatabaseSettings())

    listener = Listener(connect, Bell(), presence=Presence(worker))
    listener.start()
    rows.until(lambda: worker in floor.workers())
    yield listener
    listener.stop()


def test_a_cut_session_of_a_living_worker_is_on_record_again_before_anybody_looks_twice(
    database_url: URL, engine: Engine, floor: Floor, clock: Clock
) -> None:
    (held,) = floor.hold("four")
    with _heard(database_url, floor, "four") as listener:
        sweeper = Sweeper(floor.queue, worker="two", rhythm=Rhythm(3600, 3600), on_work=lambda: None)
        for _ in range(3):
            cut = rows.terminate(engine, "pid = (SELECT session_pid FROM workers WHERE worker = 'four')")
            assert cut == 1
            sweeper.look()
            rows.until(lambda: floor.queue.look().absent == 0)
            clock.advance(seconds=PATIENCE_SECONDS)
            sweeper.look()
            assert rows.status(engine, held) == "processing"
            assert floor.workers() >= {"four"}
        listener.stop()
        rows.terminate(engine, "pid = (SELECT session_pid FROM workers WHERE worker = 'four')")
        listener.join(rows.GIVE_UP_SECONDS)


def test_the_jobs_take_back_what_a_gone_worker_held(floor: Floor, engine: Engine, queue: Queue) -> None:
    """The whole way, on the real clock: a look and the second one it asks for, the leases ended, the sweep."""
    (held,) = floor.lose("one")
    woken = Bell()
    sweeper = Sweeper(queue, worker="two", rhythm=Rhythm(3600, 3600), on_work=woken.ring)
    sweeper.start()
    try:
        sweeper.look()
        rows.until(lambda: rows.status(engine, held) == "enqueued")
        rows.until(lambda: woken.rings > 0)
    finally:
        sweeper.stop()


def test_a_role_that_may_not_write_there_listens_all_the_same(
    database_url: URL, engine: Engine, floor: Floor, caplog: pytest.LogCaptureFixture
) -> None:
    session = database.listening_connection(database_url, DatabaseSettings())
    with session:
        session.execute("SET default_transaction_read_only = on")
        Presence("barred").attend(session)
        session.execute("LISTEN still")
    assert "presence is not on record" in caplog.text
    assert "barred" not in floor.workers()


@pytest.mark.skipif(pooling.binary() is None, reason=pooling.MISSING)
def test_behind_a_pooler_nobody_is_on_record(database_url: URL, floor: Floor) -> None:
    with public_folder() as folder, pooling.pooled(database_url, folder / "p") as url:
        address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(address, autocommit=True) as session:
            Presence("pooled").attend(session)
    assert "pooled" not in floor.workers()


def test_behind_a_proxy_that_passes_on_what_it_gets_a_session_is_the_workers_own(
    database_url: URL, floor: Floor, clock: Clock
) -> None:
    with forwarded(database_url, "127.0.0.1", 0) as url:
        session = database.listening_connection(url, DatabaseSettings())
        Presence("far").attend(session)
        assert "far" in floor.workers()
        held = floor.hold("far")
        floor.end(session)
        assert floor.look_twice() == len(held)

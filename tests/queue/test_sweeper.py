"""The background jobs: any one alive is enough, and nothing that befalls one stops it for good."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import URL, Engine, event
from sqlalchemy.exc import OperationalError

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.queue.settle import Fault
from pipeline.queue.store import Queue
from pipeline.queue.sweeper import CROWD, Rhythm, Sweeper
from tests.conftest import AGING_MS, Clock
from tests.queue import rows
from tests.tasks import add_task


class Woken:
    """Counts how often the sweeper said that there is work."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


@pytest.fixture
def woken() -> Woken:
    """What the sweeper calls."""
    return Woken()


@pytest.fixture
def sweeper(queue: Queue, woken: Woken) -> Iterator[Sweeper]:
    """A sweeper that has not been started, and is stopped in the end."""
    sweeper = Sweeper(queue, worker="sweeper", rhythm=Rhythm(0.1, 0.1, 2), on_work=woken)
    yield sweeper
    sweeper.stop()


def _lose(engine: Engine, queue: Queue, clock: Clock, *, tasks: int) -> list[int]:
    """Tasks of workers that are gone, each of its own."""
    lost = [add_task(engine, queue) for _ in range(tasks)]
    for number in range(tasks):
        queue.claim(f"host-{number}")
    clock.advance(minutes=1)
    return lost


def test_one_run_takes_all_there_is_batch_after_batch(
    engine: Engine, queue: Queue, clock: Clock, sweeper: Sweeper, woken: Woken
) -> None:
    lost = _lose(engine, queue, clock, tasks=5)
    sweeper.run_once()
    assert [rows.status(engine, task_id) for task_id in lost] == ["enqueued"] * 5
    assert woken.times == 1


def test_one_run_promotes_as_well_and_wakes_the_workers(
    engine: Engine, queue: Queue, clock: Clock, sweeper: Sweeper, woken: Woken
) -> None:
    task_id = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    rows.fail(queue, claim, Fault.TRANSIENT)
    clock.advance(minutes=1)
    sweeper.run_once()
    assert (rows.status(engine, task_id), woken.times) == ("enqueued", 1)


def test_a_large_fleet_looks_no_more_often_than_a_small_one() -> None:
    rhythm = Rhythm(interval_seconds=5, look_seconds=1)
    assert [rhythm.pause(workers) for workers in (0, 1, CROWD)] == [1, 1, 1], "a small one as often as it can"
    assert rhythm.pause(2 * CROWD) == 2
    assert rhythm.pause(1000) == 5, "and each worker with every sweep at least"


def test_a_run_that_finds_nothing_wakes_nobody(sweeper: Sweeper, woken: Woken) -> None:
    sweeper.run_once()
    assert woken.times == 0


def test_the_background_sweeps_by_itself(
    engine: Engine, queue: Queue, clock: Clock, sweeper: Sweeper, woken: Woken
) -> None:
    sweeper.start()
    (lost,) = _lose(engine, queue, clock, tasks=1)
    rows.until(lambda: rows.status(engine, lost) == "enqueued")
    rows.until(lambda: woken.times == 1)


def test_a_cut_connection_is_survived_and_the_next_sweep_works(
    database_url: URL, engine: Engine, queue: Queue, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    own = database.open_engine(database_url, DatabaseSettings(), name="cut-off")
    event.listen(own, "begin", clock.set_on)
    of_sweeper = Queue(own, limits=queue.limits, aging_ms=AGING_MS)
    sweeper = Sweeper(of_sweeper, worker="sweeper", rhythm=Rhythm(0.1, 0.1, 2), on_work=Woken())
    sweeper.start()
    try:
        rows.until(lambda: rows.terminate(engine, "application_name = 'doclease cut-off'") > 0)
        # The connection it kept is dead, and it is the only one it has: the next job meets that.
        rows.until(lambda: "background job put off" in caplog.text)
        (lost,) = _lose(engine, queue, clock, tasks=1)
        rows.until(lambda: rows.status(engine, lost) == "enqueued")
    finally:
        sweeper.stop()
        own.dispose()


def test_stopping_ends_the_jobs(engine: Engine, queue: Queue, clock: Clock, sweeper: Sweeper) -> None:
    sweeper.start()
    sweeper.stop()
    (lost,) = _lose(engine, queue, clock, tasks=1)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("APScheduler")]
    assert rows.status(engine, lost) == "processing"
    sweeper.stop()


def test_an_overdue_sweep_is_done_before_the_claim(
    engine: Engine, queue: Queue, clock: Clock, sweeper: Sweeper
) -> None:
    (lost,) = _lose(engine, queue, clock, tasks=1)

    def swept() -> bool:
        sweeper.run_if_overdue()
        return rows.status(engine, lost) == "enqueued"

    rows.until(swept)


def test_a_sweep_that_is_not_overdue_is_left_to_the_scheduler(
    engine: Engine, queue: Queue, clock: Clock, woken: Woken
) -> None:
    patient = Sweeper(queue, worker="sweeper", rhythm=Rhythm(3600, 3600, 2), on_work=woken)
    (lost,) = _lose(engine, queue, clock, tasks=1)
    patient.run_if_overdue()
    assert rows.status(engine, lost) == "processing"


def test_an_overdue_sweep_that_meets_a_fault_leaves_it_to_the_claim(
    engine: Engine, queue: Queue, clock: Clock, sweeper: Sweeper
) -> None:
    (lost,) = _lose(engine, queue, clock, tasks=1)
    refused: list[str] = []

    def refuse(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if "sweeper_state" in statement:
            refused.append(statement)
            raise OperationalError(statement, {}, Exception("the database is away"))

    event.listen(engine, "before_cursor_execute", refuse)

    def tried() -> bool:
        sweeper.run_if_overdue()
        return bool(refused)

    rows.until(tried)
    event.remove(engine, "before_cursor_execute", refuse)
    assert rows.status(engine, lost) == "processing"
    sweeper.run_once()
    assert rows.status(engine, lost) == "enqueued"


def test_several_sweepers_at_once_take_each_task_once(engine: Engine, queue: Queue, clock: Clock, woken: Woken) -> None:
    lost = _lose(engine, queue, clock, tasks=8)
    sweepers = [
        Sweeper(queue, worker=f"sweeper-{number}", rhythm=Rhythm(0.1, 0.1, 1), on_work=woken) for number in range(4)
    ]
    threads = [threading.Thread(target=each.run_once) for each in sweepers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(rows.GIVE_UP_SECONDS)
    sweepers[0].run_once()
    assert [rows.outcomes(engine, task_id) for task_id in lost] == [["expired"]] * 8
    assert [rows.task(engine, task_id).crash_count for task_id in lost] == [1] * 8

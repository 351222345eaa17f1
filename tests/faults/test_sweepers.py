"""Sweepers that freeze, stop in the middle or are not there: no single one is needed, and none is in the way."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Engine, text

from pipeline.queue.statements import statement
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import races, rows
from tests.worker.shop import ROOT, Shop, kill_hard, pages, until


@pytest.fixture
def world(engine: Engine, queue: Queue, clock: Clock) -> races.World:
    """What a race needs."""
    return races.World(engine, queue, clock)


@pytest.fixture
def start_sweeper() -> Iterator[Callable[[Shop], subprocess.Popen[bytes]]]:
    """Starts `doclease sweep` processes, killed at the latest when the test ends."""
    started: list[subprocess.Popen[bytes]] = []

    def start(shop: Shop) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "pipeline", "-C", str(shop.home), "sweep"]
        started.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return started[-1]

    yield start
    for process in started:
        kill_hard(process)


def _lose_a_worker(shop: Shop) -> int:
    """A document whose worker died in its middle; its task."""
    gate = shop.gate()
    task_id = shop.take(pages(3, p2=f"gate {gate}"))
    worker = shop.start_worker()
    shop.reached(gate)
    kill_hard(worker)
    gate.touch()
    return task_id


def _is_swept_by(shop: Shop, process: subprocess.Popen[bytes]) -> bool:
    return f"/{process.pid}/" in (shop.rows("SELECT swept_by FROM sweeper_state")[0].swept_by or "")


@pytest.mark.slow
def test_a_frozen_sweeper_is_in_nobodys_way(
    open_for_business: Callable[..., Shop], start_sweeper: Callable[[Shop], subprocess.Popen[bytes]]
) -> None:
    shop = open_for_business(lease={"base_seconds": 1})
    frozen = start_sweeper(shop)
    until(lambda: _is_swept_by(shop, frozen), "its first sweep")
    frozen.send_signal(signal.SIGSTOP)
    task_id = _lose_a_worker(shop)
    shop.work()
    assert shop.outcomes(task_id) == [("expired", "lost_lease"), ("succeeded", "ok")]


@pytest.mark.slow
def test_one_sweeper_of_its_own_takes_back_what_no_worker_is_left_to_take(
    open_for_business: Callable[..., Shop], start_sweeper: Callable[[Shop], subprocess.Popen[bytes]]
) -> None:
    shop = open_for_business(lease={"base_seconds": 1})
    start_sweeper(shop)
    task_id = _lose_a_worker(shop)
    until(lambda: shop.task(task_id).status == "enqueued", "the sweep")
    assert shop.outcomes(task_id) == [("expired", "lost_lease")]


def test_a_sweeper_that_stopped_inside_its_transaction_holds_the_sweep_up_only_until_the_timeout(
    world: races.World,
) -> None:
    claim = world.expired()
    with world.engine.connect() as stopped:
        stopped.execute(text("SET idle_in_transaction_session_timeout = '150ms'"))
        stopped.execute(statement("sweep"), rows.sweep_values(world.queue))
        report = world.queue.sweep(worker="another", interval_seconds=rows.INTERVAL_SECONDS)
        assert (report.judged, report.taken) == (False, ())
        found = rows.sweep_until_taken(world.queue)
        stopped.invalidate()
    assert found == {claim.task_id: "enqueued"}
    assert rows.outcomes(world.engine, claim.task_id) == ["expired"]


def test_a_sweeper_killed_inside_its_transaction_has_taken_nothing(world: races.World) -> None:
    claim = world.expired()
    with world.engine.connect() as killed:
        pid = killed.execute(text("SELECT pg_backend_pid()")).scalar_one()
        taken = killed.execute(statement("sweep"), rows.sweep_values(world.queue)).all()
        assert [row.task_id for row in taken] == [claim.task_id]
        rows.terminate(world.engine, f"pid = {pid}")
        assert rows.sweep_until_taken(world.queue) == {claim.task_id: "enqueued"}
        killed.invalidate()
    assert rows.outcomes(world.engine, claim.task_id) == ["expired"]

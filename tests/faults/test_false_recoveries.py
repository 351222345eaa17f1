"""False recoveries: what must not take a document away from a worker that lives. Each test counts none.

A restart of the database and a lack of connections stand beside these, in test_database_*.py.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine

from pipeline.trials.paper import make_pdf
from tests.queue import rows
from tests.worker.shop import Shop, pages, until

pytestmark = pytest.mark.slow

Business = Callable[..., Shop]
HOUR = dt.timedelta(hours=1)


def _nothing_was_taken_back(shop: Shop) -> None:
    assert shop.rows("SELECT FROM recoveries") == []
    assert shop.rows("SELECT FROM attempts WHERE late_finish_at IS NOT NULL OR outcome <> 'succeeded'") == []
    assert shop.rows("SELECT FROM tasks WHERE failure_count + crash_count + release_count > 0") == []


def test_a_contract_of_400_pages_is_never_taken_from_its_worker(open_for_business: Business) -> None:
    shop = open_for_business(lease={"base_seconds": 0.8, "per_page_seconds": 0.01, "min_seconds": 0.5})
    path = shop.home / "contract.pdf"
    path.write_bytes(make_pdf(1, 400, 1))
    task_id = shop.take_file(path)
    shop.start_worker()
    shop.ended(task_id)
    (attempt,) = shop.attempts(task_id)
    assert (attempt.outcome, attempt.pages_done, len(shop.pages(task_id))) == ("succeeded", 400, 400)
    assert (attempt.ended_at - attempt.started_at).total_seconds() > attempt.lease_seconds
    _nothing_was_taken_back(shop)


def test_a_worker_that_freezes_for_less_than_its_lease_keeps_its_document(open_for_business: Business) -> None:
    shop = open_for_business(lease={"base_seconds": 30})
    gate = shop.gate()
    task_id = shop.take(pages(4, p3=f"gate {gate}"))
    frozen = shop.start_worker()
    shop.reached(gate)
    shop.start_worker()
    frozen.send_signal(signal.SIGSTOP)
    silent = "SELECT FROM tasks WHERE task_id = :id AND now() - progressed_at > INTERVAL '3 s'"
    until(lambda: shop.rows(silent, id=task_id), "three seconds of silence, six sweeps")
    frozen.send_signal(signal.SIGCONT)
    gate.touch()
    shop.ended(task_id)
    _nothing_was_taken_back(shop)


def _faked(offset: dt.timedelta) -> dict[str, str]:
    """The environment of a process whose clock is off; its monotonic clock goes on as it should."""
    found = importlib.util.find_spec("libfaketime")
    folder = Path(found.origin).parent if found and found.origin else None
    libraries = list(folder.rglob("libfaketime*.so*")) if folder else []
    if not libraries:
        pytest.skip("clocks are shifted by the package libfaketime: pip install libfaketime")
    return {
        "LD_PRELOAD": str(libraries[0]),
        "FAKETIME": f"{offset.total_seconds():+.0f}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def test_workers_whose_clocks_are_off_by_an_hour_take_nothing_from_each_other(open_for_business: Business) -> None:
    shop = open_for_business(lease={"base_seconds": 10})
    gates = [shop.gate(f"gate{number}") for number in range(2)]
    first = [shop.take(pages(3, p2=f"gate {gate}")) for gate in gates]
    for offset, gate in zip((HOUR, -HOUR), gates, strict=True):
        shop.start_worker(environment=_faked(offset))
        shop.reached(gate)
    others = [shop.take(pages(2)) for _ in range(6)]
    swept = shop.rows("SELECT last_ok_at FROM sweeper_state")[0].last_ok_at
    again = "SELECT FROM sweeper_state WHERE last_ok_at > CAST(:swept AS timestamptz) + INTERVAL '1 s'"
    until(lambda: shop.rows(again, swept=swept), "sweeps by both")
    for gate in gates:
        gate.touch()
    for task_id in (*first, *others):
        shop.ended(task_id)
    _nothing_was_taken_back(shop)
    off_by = {round((when - dt.datetime.now()) / HOUR) for when in _dates_of_the_log(shop)}  # noqa: DTZ005 - as logged
    assert off_by == {-1, 1}


def _dates_of_the_log(shop: Shop) -> Iterator[dt.datetime]:
    for line in (shop.home / "worker.log").read_text("utf-8").splitlines():
        with suppress(ValueError):
            yield dt.datetime.strptime(line[:19], "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007 - as logged


def test_a_database_whose_clock_jumps_an_hour_ahead_takes_nothing_from_who_lives(
    open_for_business: Business, engine: Engine
) -> None:
    shop = open_for_business(lease={"base_seconds": 10})
    gate = shop.gate()
    task_id = shop.take(pages(4, p3=f"gate {gate}"))
    shop.start_worker()
    shop.reached(gate)
    name = engine.url.database
    rows.change(engine, f"ALTER DATABASE \"{name}\" SET doclease.clock_offset = '1 hour'")
    try:
        rows.terminate(engine, "application_name = 'doclease work'")
        jumped = "SELECT FROM sweeper_state WHERE last_ok_at > now() + INTERVAL '30 min'"
        until(lambda: shop.rows(jumped), "a sweep an hour later")
        gate.touch()
        shop.ended(task_id)
    finally:
        rows.change(engine, f'ALTER DATABASE "{name}" RESET doclease.clock_offset')
    _nothing_was_taken_back(shop)

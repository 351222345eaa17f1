"""Workers with long leases: a killed one is missed within seconds, and a crash of the server makes nobody missed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import database
from pipeline.config import DatabaseSettings
from tests.faults.servers import Cluster, public_folder, running
from tests.queue import rows
from tests.worker.shop import Shop, is_alive, kill_hard, open_shop, pages, until

pytestmark = pytest.mark.slow

LEASE = {"base_seconds": 600, "max_seconds": 900}
OUR_SESSION = "SELECT pid FROM pg_stat_activity WHERE application_name = 'doclease eye'"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A server of its own: it is hurt here."""
    with public_folder() as folder, running(folder / "server", {"fsync": "off"}) as cluster:
        yield cluster


def _sessions(shop: Shop) -> set[int]:
    return {row.session_pid for row in shop.rows("SELECT session_pid FROM workers")}


def test_a_killed_worker_is_missed_and_those_whose_server_crashed_under_them_are_not(
    cluster: Cluster, tmp_path: Path
) -> None:
    eye = database.open_engine(cluster.url, DatabaseSettings(), name="eye")
    database.upgrade(eye)
    with open_shop(tmp_path, cluster.url, eye, lease=LEASE) as shop:
        gates = [shop.gate(f"gate{number}") for number in range(3)]
        tasks = [shop.take(pages(2, p2=f"gate {gate}")) for gate in gates]
        workers = [shop.start_worker() for _ in gates]
        for gate in gates:
            shop.reached(gate)
        until(lambda: len(_sessions(shop)) == 3, "the sessions of all three")
        rows.change(eye, "UPDATE sweeper_state SET graced_at = NULL")  # nobody had swept before they came
        kill_hard(workers[0])
        until(lambda: "expired" in _outcomes(shop), "word of the killed one")
        until(lambda: len(_sessions(shop)) == 2, "the end of its row")
        before = _sessions(shop)
        # One process of the server dies, so the server ends every session, and does not start anew.
        os.kill(shop.rows(OUR_SESSION)[0].pid, signal.SIGKILL)
        shop.app.engine.dispose()
        until(lambda: _is_back(shop, before), "two other sessions")
        for gate in gates:
            gate.touch()
        for task_id in tasks:
            shop.ended(task_id)
        assert sorted(_outcomes(shop)) == ["expired", "succeeded", "succeeded", "succeeded"]
        assert all(is_alive(worker.pid) for worker in workers[1:])
    eye.dispose()


def _outcomes(shop: Shop) -> list[str]:
    return [row.outcome for row in shop.rows("SELECT outcome FROM attempts WHERE outcome IS NOT NULL")]


def _is_back(shop: Shop, before: set[int]) -> bool:
    try:
        found = _sessions(shop)
    except Exception:  # noqa: BLE001 - the server recovers just now
        shop.engine.dispose()
        return False
    return len(found) == 2 and not found & before

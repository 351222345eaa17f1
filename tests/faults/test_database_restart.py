"""A database that restarts, and notifications that never come: the worker goes on, and nothing was taken from it.

Crashes of the server one after another, and a worker that drains without it, are in
tests/worker/test_database_away.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline import database
from pipeline.config import DatabaseSettings
from tests.faults.servers import Cluster, public_folder, running
from tests.queue import rows
from tests.worker.shop import Shop, children_of, open_shop, pages, until

pytestmark = pytest.mark.slow

LEASE_SECONDS = 2.0
LISTENERS = "application_name = 'doclease listener' AND datname = current_database()"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A server of its own: it is hurt here."""
    with public_folder() as folder, running(folder / "server", {"fsync": "off"}) as cluster:
        yield cluster


def test_a_restart_of_two_leases_length_takes_no_document_from_its_worker(cluster: Cluster, tmp_path: Path) -> None:
    """Leases do not run out while nobody could renew, so there is no false recovery to count."""
    eye = database.open_engine(cluster.url, DatabaseSettings(), name="eye")
    database.upgrade(eye)
    lease = {"base_seconds": LEASE_SECONDS, "per_page_seconds": 0.01}
    with open_shop(tmp_path, cluster.url, eye, lease=lease) as shop:
        gate = shop.gate()
        held = shop.take(pages(6, p3=f"gate {gate}"))
        others = [shop.take(pages(6)) for _ in range(5)]
        worker = shop.start_worker()
        shop.reached(gate)
        (child,) = children_of(worker.pid)
        ran_out_at = rows.task(eye, held).lease_expires_at
        cluster.stop()
        eye.dispose()
        until(lambda: child not in children_of(worker.pid), "the end of the child")
        gate.touch()
        until(lambda: time.time() > ran_out_at.timestamp() + LEASE_SECONDS, "two leases' length")
        cluster.start()
        shop.app.engine.dispose()
        for task_id in (held, *others):
            shop.ended(task_id)
        assert shop.statuses() == {"succeeded": 6}
        assert shop.rows("SELECT FROM attempts WHERE outcome = 'expired' OR late_finish_at IS NOT NULL") == []
        assert shop.rows("SELECT FROM tasks WHERE failure_count + crash_count > 0") == []
        assert worker.poll() is None
    eye.dispose()


def test_work_is_found_when_its_notification_is_lost(open_for_business: Callable[..., Shop]) -> None:
    shop = open_for_business()
    worker = shop.start_worker()
    shop.ended(shop.take(pages(1)))
    # No listener, and nobody who notifies: only looking again finds what comes now.
    shop.app.notifier.notify = lambda: None  # type: ignore[method-assign]
    for _ in range(3):
        until(lambda: rows.terminate(shop.engine, LISTENERS), "a listener to cut off")
        shop.ended(shop.take(pages(1)))
    assert shop.statuses() == {"succeeded": 4}
    assert worker.poll() is None

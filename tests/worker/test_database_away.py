"""The database goes away under working workers: everything finishes, once, and no document is charged for it."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.embedded.server import EmbeddedServer
from tests.conftest import empty
from tests.worker.shop import Shop, children_of, open_shop, pages, until

pytestmark = pytest.mark.slow

TOGETHER: dict[str, float] = {"claim_ahead_seconds": 0.5}  # claims of several, also on a slow machine


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A home folder with a server of its own: it is hurt here."""
    # Not pytest's own folder: its path is private to this user, and the server may run as another.
    with tempfile.TemporaryDirectory(prefix="doclease-away-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def embedded(home: Path) -> Iterator[EmbeddedServer]:
    """The embedded server of the home folder."""
    server = EmbeddedServer(home / "data")
    server.acquire()
    yield server
    server.stop()


@pytest.fixture
def eye(embedded: EmbeddedServer) -> Iterator[Engine]:
    """An engine on the server that is hurt, with the schema in it."""
    engine = database.open_engine(database.parse_url(embedded.acquire()), DatabaseSettings(), name="eye")
    database.upgrade(engine)
    empty(engine)
    yield engine
    engine.dispose()


def _restart_at_once(server: EmbeddedServer, eye: Engine) -> None:
    owner = server.cluster_dir.stat()
    command: list[str | Path] = [
        server.bin_dir / "pg_ctl",
        "-D",
        server.cluster_dir,
        "-w",
        "-m",
        "immediate",
        "restart",
    ]
    subprocess.run(command, check=True, cwd="/", user=owner.st_uid, group=owner.st_gid, stdout=subprocess.DEVNULL)
    eye.dispose()


def _charges(shop: Shop) -> list[tuple[Any, ...]]:
    """What was charged to documents, and why."""
    query = """
        SELECT tasks.task_id, failure_count, crash_count, attempts.attempt_no, outcome, attempts.reason, attempts.error
        FROM tasks
        JOIN attempts USING (task_id)
        WHERE failure_count + crash_count > 0
        ORDER BY task_id, attempts.attempt_no
    """
    return [tuple(row) for row in shop.rows(query)]


def _succeeded(shop: Shop) -> int:
    return shop.statuses().get("succeeded", 0)


def test_a_server_that_crashes_again_and_again_costs_no_document_anything(
    home: Path, embedded: EmbeddedServer, eye: Engine
) -> None:
    with open_shop(home, None, eye, worker=TOGETHER) as shop:
        for _ in range(60):
            shop.take(pages(6, p2="sleep 0.03", p4="sleep 0.03"))
        worker = shop.start_worker(slots=2)
        for count in (8, 24, 40):
            until(lambda: _succeeded(shop) >= count, f"document {count}")  # noqa: B023 - called at once
            _restart_at_once(embedded, eye)
        until(lambda: shop.statuses() == {"succeeded": 60}, "the end of all documents")
        assert _charges(shop) == []
        assert worker.poll() is None
        assert [len(shop.pages(row.task_id)) for row in shop.rows("SELECT task_id FROM tasks")] == [6] * 60


def test_a_server_that_is_away_for_longer_than_the_lease_costs_no_document_anything(
    home: Path, embedded: EmbeddedServer, eye: Engine
) -> None:
    with open_shop(home, eye.url, eye, lease={"base_seconds": 2}) as shop:
        gate = shop.gate("away")
        held = shop.take(pages(4, p3=f"gate {gate}"))
        others = [shop.take(pages(2)) for _ in range(5)]
        worker = shop.start_worker()
        shop.reached(gate)
        (child,) = children_of(worker.pid)
        embedded.stop()
        eye.dispose()
        # The parent lets go of a document whose lease it could not renew; then it waits for the database.
        until(lambda: child not in children_of(worker.pid), "the end of the child")
        gate.touch()
        embedded.acquire()
        for task_id in (held, *others):
            shop.ended(task_id)
        assert shop.statuses() == {"succeeded": 6}
        assert _charges(shop) == []
        assert [row.text for row in shop.pages(held)] == pages(4, p3=f"gate {gate}")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0


def test_sessions_that_are_cut_off_again_and_again_double_nothing_and_charge_nobody(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(worker=TOGETHER)
    for _ in range(40):
        shop.take(pages(6, p2="sleep 0.03", p5="sleep 0.03"))
    shop.start_worker(slots=2)
    seen = 0
    while (done := _succeeded(shop)) < 40:
        if done > seen:
            seen = done
            shop.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND application_name IN ('doclease work', 'doclease listener')"
            )
        until(lambda: _succeeded(shop) > seen, "the next document")  # noqa: B023 - called at once
    assert seen > 5
    results = shop.rows("SELECT task_id, count(*) AS found FROM attempts WHERE outcome = 'succeeded' GROUP BY 1")
    assert [row.found for row in results] == [1] * 40
    assert _charges(shop) == []


def test_a_draining_worker_without_a_database_ends_when_its_time_is_up(
    home: Path, embedded: EmbeddedServer, eye: Engine
) -> None:
    with open_shop(home, eye.url, eye, worker={"drain_seconds": 1}, lease={"base_seconds": 60}) as shop:
        gate = shop.gate("draining")
        task_id = shop.take(pages(3, p2=f"gate {gate}"))
        worker = shop.start_worker()
        shop.reached(gate)
        embedded.stop()
        eye.dispose()
        worker.send_signal(signal.SIGTERM)
        gate.touch()
        assert worker.wait(60) == 0
        embedded.acquire()
        assert shop.task(task_id).status == "processing"
        assert shop.task(task_id).crash_count == 0

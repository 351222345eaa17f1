"""Failing over to a promoted replica: a synchronous one loses nothing, an asynchronous one only what is done again.

The link to the replica is cut before the primary is killed; otherwise what was on its way would arrive all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.errors import LeaseLost
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from tests.faults.servers import ROLE, Cable, Cluster, asked, public_folder, running, value
from tests.queue import rows
from tests.tasks import add_task
from tests.worker.shop import Shop, open_shop, pages, until

pytestmark = pytest.mark.slow

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
PRIMARY = {"fsync": "off", "wal_sender_timeout": "60s", "hot_standby": "on"}


@dataclass
class Pair:
    """A primary and the replica that follows it, and the one URL that leads to whichever takes writes."""

    primary: Cluster
    replica: Cluster
    cable: Cable

    @property
    def url(self) -> URL:
        """As docs/operating.md says."""
        hosts = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.replica.port}"
        return database.parse_url(f"postgresql://{ROLE}@{hosts}/postgres?target_session_attrs=read-write")

    def has_all(self) -> bool:
        """Whether the replica has written all that the primary has."""
        lag = "SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)) FROM pg_stat_replication"
        return bool(asked(self.primary.url, lag) == 0)

    def fail_over(self) -> None:
        """The primary is gone, the replica takes its place. The link is cut already."""
        self.primary.stop()
        self.replica.promote()


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """A pair with the schema in it; synchronous if so asked."""
    with ExitStack() as stack:
        folder = stack.enter_context(public_folder())
        primary = stack.enter_context(running(folder / "primary", PRIMARY))
        cable = Cable(primary.port)
        replica = Cluster(folder / "replica")
        replica.copy_from(cable.port)
        replica.start()
        stack.callback(replica.stop)
        pair = Pair(primary, replica, cable)
        stack.callback(cable.cut)
        if request.param == "synchronous":
            primary.set(synchronous_standby_names="replica")
            primary.reload()
        yield pair


@contextmanager
def looking(pair: Pair) -> Iterator[Engine]:
    """An engine that finds the primary, with the schema in it."""
    engine = database.open_engine(pair.url, DatabaseSettings(), name="eye")
    database.upgrade(engine)
    yield engine
    engine.dispose()


def _acknowledged(shop: Shop) -> set[int]:
    """The tasks whose worker was told that their results are stored."""
    return {int(found) for found in re.findall(r"task (\d+): read ", (shop.home / "worker.log").read_text("utf-8"))}


def _consistent(shop: Shop, count: int) -> None:
    """Everything is done, once, and nobody is charged for it."""
    until(lambda: shop.statuses() == {"succeeded": count}, "the end of all documents")
    results = shop.rows("SELECT task_id FROM attempts WHERE outcome = 'succeeded'")
    assert len({row.task_id for row in results}) == len(results) == count
    assert shop.rows("SELECT FROM tasks WHERE failure_count + crash_count > 0") == []
    stored = shop.rows("SELECT task_id, count(*) AS found FROM pages GROUP BY task_id")
    assert {row.found for row in stored} == {6}


@pytest.mark.parametrize("pair", ["synchronous"], indirect=True)
def test_a_synchronous_replica_has_every_document_page_and_result_that_was_acknowledged(
    pair: Pair, tmp_path: Path
) -> None:
    with looking(pair) as eye, open_shop(tmp_path, pair.url, eye) as shop:
        tasks = [shop.take(pages(6, p2="sleep 0.03", p5="sleep 0.03")) for _ in range(12)]
        shop.start_worker(slots=2)
        until(lambda: len(_acknowledged(shop)) >= 4, "some results")
        pair.cable.cut()
        until(lambda: asked(pair.primary.url, WAITING), "a commit that waits for the replica")
        told = _acknowledged(shop)
        pair.fail_over()
        eye.dispose()
        kept = {row.task_id for row in shop.rows("SELECT task_id FROM attempts WHERE outcome = 'succeeded'")}
        assert told <= kept
        _consistent(shop, len(tasks))


@pytest.mark.parametrize("pair", ["asynchronous"], indirect=True)
def test_what_an_asynchronous_replica_lost_is_done_again_and_nothing_twice(pair: Pair, tmp_path: Path) -> None:
    with looking(pair) as eye, open_shop(tmp_path, pair.url, eye) as shop:
        for _ in range(12):
            shop.take(pages(6, p2="sleep 0.03", p5="sleep 0.03"))
        until(pair.has_all, "the replica's copy")
        pair.cable.cut()
        late = shop.home / "late.txt"
        late.write_text("\n\f".join(f"page {number}" for number in range(1, 7)), encoding="utf-8")
        shop.take_file(late)
        shop.start_worker(slots=2)
        until(lambda: len(_acknowledged(shop)) >= 4, "results that the replica lacks")
        assert asked(pair.replica.url, "SELECT count(*) FROM attempts") == 0
        pair.fail_over()
        eye.dispose()
        shop.app.engine.dispose()
        assert value(eye, "SELECT count(*) FROM documents") == 12, "the document of after the cut is lost"
        _consistent(shop, 12)
        assert len(_acknowledged(shop)) == 12, "all of them, again or for the first time"
        # Its file is in the store and where it came from: taken in again, it is read like any other.
        shop.ended(shop.take_file(late))
        _consistent(shop, 13)


@pytest.mark.parametrize("pair", ["asynchronous"], indirect=True)
def test_a_holder_from_before_an_asynchronous_failover_can_write_nothing(pair: Pair) -> None:
    with looking(pair) as engine:
        queue = Queue(engine, limits=Limits(), aging_ms=1)
        task_id = add_task(engine, queue)
        until(pair.has_all, "the replica's copy")
        pair.cable.cut()
        (lost,) = queue.claim("worker-1")
        pair.fail_over()
        engine.dispose()
        (current,) = queue.claim("worker-2")
        assert (current.task_id, current.attempt_no) == (task_id, lost.attempt_no), "the number is handed out twice"
        for write in (rows.complete, rows.checkpoint):
            with pytest.raises(LeaseLost):
                write(queue, lost)
        rows.complete(queue, current)
        assert [attempt.worker for attempt in rows.attempts(engine, task_id)] == ["worker-2"]

"""A database that has no room, no time or no right for a worker just now: the worker waits, and no document pays."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import URL, Connection, Engine, create_engine, text
from sqlalchemy.exc import DBAPIError

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.queue.model import Claim, Usage
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from pipeline.worker.patience import Patience
from pipeline.worker.stopping import Stopping
from tests import pooling
from tests.cli.conftest import Doclease
from tests.cli.conftest import doclease as doclease  # noqa: PLC0414 - a fixture, told to be meant for others
from tests.cli.conftest import home as home  # noqa: PLC0414 - what it stands on
from tests.faults.servers import Cluster, public_folder, running, value
from tests.queue import rows
from tests.tasks import add_task
from tests.worker.shop import Shop, open_shop, pages, until

OF_WORKERS = "application_name IN ('doclease work', 'doclease listener')"
PAGE = text(
    "INSERT INTO pages (task_id, page_no, attempt_no, text, source, engine, seconds, identifiers)"
    " VALUES (:task_id, 1, 1, 'a page', 'native', 'test', 0, '')"
)

Business = Callable[..., Shop]


def _log(shop: Shop) -> str:
    return (shop.home / "worker.log").read_text("utf-8")


def _nothing_was_charged(shop: Shop, documents: int) -> None:
    """Every document was read in one attempt by one worker."""
    until(lambda: shop.statuses() == {"succeeded": documents}, "the end of all documents")
    assert shop.rows("SELECT FROM attempts WHERE outcome <> 'succeeded' OR late_finish_at IS NOT NULL") == []
    assert shop.rows("SELECT FROM tasks WHERE failure_count + crash_count + release_count > 0") == []


# No connection is free


@pytest.fixture
def narrow() -> Iterator[Cluster]:
    """A server of few connections."""
    with public_folder() as folder, running(folder / "narrow", {"max_connections": "10", "fsync": "off"}) as cluster:
        yield cluster


class Crowd:
    """Clients that take every connection there is, those of workers too."""

    def __init__(self, url: URL) -> None:
        self._address = database.address(url.set(drivername="postgresql"), DatabaseSettings())
        self._first = psycopg.connect(self._address, autocommit=True)
        self._members = [self._first]

    def is_alone(self) -> bool:
        """Take what is free, and cut workers off; whether none of them has a connection any more."""
        self._first.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {OF_WORKERS}")
        with pytest.raises(psycopg.OperationalError, match="too many clients"):  # noqa: PT012 - one of them is refused
            while True:
                self._members.append(psycopg.connect(self._address))
        left = self._first.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {OF_WORKERS}").fetchone()
        return left == (0,)

    def leave(self) -> None:
        """Go home."""
        for member in self._members:
            member.close()


@pytest.mark.slow
def test_workers_without_a_connection_wait_for_one_and_go_on(narrow: Cluster, tmp_path: Path) -> None:
    eye = database.open_engine(narrow.url, DatabaseSettings(), name="eye")
    database.upgrade(eye)
    with open_shop(tmp_path, narrow.url, eye, lease={"base_seconds": 60}) as shop:
        gate = shop.gate()
        shop.take(pages(6, p3=f"gate {gate}"))
        for _ in range(5):
            shop.take(pages(6))
        worker = shop.start_worker()
        shop.reached(gate)
        for mine in (shop.app.engine, eye):
            mine.dispose()
        crowd = Crowd(narrow.url)
        until(crowd.is_alone, "a server full of others")
        gate.touch()
        until(lambda: "too many clients" in _log(shop), "a worker that waits")
        crowd.leave()
        _nothing_was_charged(shop, 6)
        assert worker.poll() is None
    eye.dispose()


# A statement or a transaction takes too long


@contextmanager
def _held(engine: Engine, statement: str, **values: object) -> Iterator[Connection]:
    """A session that keeps what a statement locked."""
    with engine.connect() as connection:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        connection.execute(text(statement), values)
        yield connection
        connection.rollback()


@pytest.mark.slow
def test_a_statement_that_was_cut_short_is_repeated_whether_it_stores_pages_the_result_or_sweeps(
    open_for_business: Business,
) -> None:
    shop = open_for_business(
        database={"statement_timeout_seconds": 0.3}, lease={"base_seconds": 60, "checkpoint_seconds": 0.1}
    )
    first, last = shop.gate("first"), shop.gate("last")
    task_id = shop.take(pages(4, p2=f"gate {first}", p4=f"gate {last}"))
    worker = shop.start_worker()
    shop.reached(first)
    until(lambda: len(shop.pages(task_id)) == 1, "the first page")
    lock = "SELECT FROM tasks WHERE task_id = :id FOR UPDATE"
    for gate, stored in ((first, 1), (last, 3)):
        with _held(shop.engine, lock, id=task_id):
            seen = _log(shop).count("statement timeout")
            gate.touch()
            until(lambda: _log(shop).count("statement timeout") > seen, "a statement cut short")  # noqa: B023 - at once
            assert len(shop.pages(task_id)) == stored
            assert shop.task(task_id).status == "processing"
        if gate is first:
            shop.reached(last)
            until(lambda: len(shop.pages(task_id)) == 3, "the third page")
    with _held(shop.engine, "LOCK TABLE sweeper_state IN ACCESS EXCLUSIVE MODE"):
        until(lambda: "background job put off" in _log(shop), "a sweep cut short")
    before = shop.rows("SELECT last_ok_at FROM sweeper_state")
    until(lambda: shop.rows("SELECT last_ok_at FROM sweeper_state") != before, "the next sweep")
    _nothing_was_charged(shop, 1)
    assert [page.page_no for page in shop.pages(task_id)] == [1, 2, 3, 4]
    assert worker.poll() is None


@pytest.fixture
def brief(database_url: URL) -> Iterator[Engine]:
    """An engine whose sessions may stand still in a transaction for a blink only."""
    engine = database.open_engine(database_url, pooling.settings_for(database_url), name="brief")
    yield engine
    engine.dispose()


def _stand_still(connection: Connection, eye: Engine) -> None:
    """Do nothing inside a transaction until the server has had enough."""
    connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = '50ms'"))
    pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    rows.until(lambda: value(eye, f"SELECT count(*) FROM pg_stat_activity WHERE pid = {pid}") == 0)


@pytest.mark.parametrize("ending", ["checkpoint", "completion"])
def test_a_session_that_stood_still_too_long_leaves_nothing_half_written_and_is_opened_again(
    engine: Engine, brief: Engine, ending: str
) -> None:
    queue = Queue(brief, limits=Limits(), aging_ms=1)
    task_id = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    patience, tries = Patience(claim, Stopping(drain_seconds=1)), 0

    def write() -> None:
        nonlocal tries
        tries += 1
        with _fence(queue, claim, ending) as connection:
            connection.execute(PAGE, {"task_id": task_id})
            if tries == 1:
                _stand_still(connection, engine)

    assert not patience.attempt(write), "no answer, and no fault of the document"
    assert rows.task(engine, task_id).pages_done == 0
    assert rows.status(engine, task_id) == "processing"
    patience.insist(write)
    assert rows.task(engine, task_id).pages_done == 1
    assert rows.task(engine, task_id).failure_count == 0


@contextmanager
def _fence(queue: Queue, claim: Claim, ending: str) -> Iterator[Connection]:
    if ending == "completion":
        with queue.completing(claim, reason="ok", pages_done=1, result={}, usage=Usage()) as connection:
            yield connection
    else:
        with queue.checkpointing(claim, pages_done=1, lease_seconds=60) as (connection, _):
            yield connection


# The server takes no writes


@pytest.mark.slow
def test_a_server_that_takes_no_writes_for_a_while_costs_no_document_anything(open_for_business: Business) -> None:
    """As a primary does that was demoted: its sessions are dropped, so that new ones find the next primary."""
    shop = open_for_business(lease={"base_seconds": 60})
    gate = shop.gate()
    shop.take(pages(6, p3=f"gate {gate}"))
    shop.take(pages(6))
    worker = shop.start_worker()
    shop.reached(gate)
    name = shop.engine.url.database
    rows.change(shop.engine, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    try:
        rows.terminate(shop.engine, f"{OF_WORKERS} AND datname = current_database()")
        gate.touch()
        until(lambda: "read-only transaction" in _log(shop), "a write that is refused")
    finally:
        rows.change(shop.engine, f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
    _nothing_was_charged(shop, 2)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0


def test_a_session_on_a_server_that_takes_no_writes_is_not_used_again(brief: Engine) -> None:
    def backend() -> int:
        with brief.connect() as connection:
            return int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())

    before = backend()
    assert backend() == before
    with brief.connect() as connection:
        connection.execute(text("SET TRANSACTION READ ONLY"))
        with pytest.raises(DBAPIError, match="read-only"):
            connection.execute(text("UPDATE sweeper_state SET swept_by = 'nobody'"))
    assert backend() != before


# The address is wrong


@pytest.fixture
def guarded() -> Iterator[Cluster]:
    """A server that asks for a password."""
    with public_folder() as folder, running(folder / "guarded", {"fsync": "off"}) as cluster:
        with create_engine(cluster.url).begin() as connection:
            connection.execute(text("CREATE ROLE known LOGIN PASSWORD 'right'"))
        connection.engine.dispose()
        (cluster.data / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n", encoding="utf-8")
        cluster.reload()
        yield cluster


@pytest.mark.slow
def test_a_wrong_password_a_wrong_role_and_a_wrong_name_are_told_in_a_line(
    guarded: Cluster, doclease: Doclease, home: Path
) -> None:
    for user, password, name, told in (
        ("known", "wr0ng-and-secret", "postgres", "password authentication failed"),
        ("nobody", "wr0ng-and-secret", "postgres", "password authentication failed"),
        ("known", "right", "nothing", "does not exist"),
    ):
        address = f"postgresql://{user}:{password}@127.0.0.1:{guarded.port}/{name}"
        (home / "config.yaml").write_text(f"database_url: {address}\n", encoding="utf-8")
        for command in (["status"], ["work", "--once"]):
            said = doclease(*command, exit_code=7).output
            assert told in said
            assert said.startswith("error: the database cannot be reached")
            assert password not in said

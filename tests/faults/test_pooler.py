"""Behind a pgbouncer in transaction mode: the promises hold, no session is kept, and the commands work.

`pytest tests/promises --pooler` runs every promise through it; what stands here is that run made short.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import URL, Engine, create_engine
from sqlalchemy.exc import OperationalError

from pipeline import database
from pipeline.cli import main
from pipeline.config import DatabaseSettings
from tests import pooling, postgres
from tests.faults.servers import public_folder, value
from tests.worker.shop import Shop, open_shop, pages, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(pooling.binary() is None, reason=pooling.MISSING),
]

ROOT = Path(__file__).parents[2]
PROMISES = [
    "test_p1_one_result.py",
    "test_p2_nothing_stuck.py",
    "test_p2_processes.py::test_a_killed_workers_document_is_taken_back_within_lease_and_two_sweeps",
    "test_p3_progress_keeps_the_lease.py",
    "test_p4_quarantine.py",
    "test_p5_pages_are_kept.py",
    "test_p6_processes.py::test_a_draining_worker_finishes_its_document_and_renews_its_lease_until_the_end",
    "test_p7_nothing_lost.py::test_no_bytes_leave_the_inbox_before_their_rows_are_committed",
    "test_p9_clocks.py",
]
SESSIONS = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name LIKE 'doclease%' AND application_name <> 'doclease eye'"
)


def test_the_promises_hold_behind_a_pooler() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--pooler", *(f"tests/promises/{each}" for each in PROMISES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def direct(server: URL) -> Iterator[Engine]:
    """An engine on a database of its own, past the pooler."""
    url = postgres.create_database(server, f"pooled_{os.getpid()}")
    eye = database.open_engine(url, DatabaseSettings(), name="eye")
    database.upgrade(eye)
    pooling.prepare(url)
    yield eye
    eye.dispose()
    admin = create_engine(server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {url.database} WITH (FORCE)")
    admin.dispose()


@pytest.fixture
def narrow(direct: Engine) -> Iterator[URL]:
    """A pooler that has one connection for everybody."""
    with public_folder() as folder, pooling.pooled(direct.url, folder / "p", connections=1) as url:
        yield url


@pytest.fixture
def shop(narrow: URL, direct: Engine, tmp_path: Path) -> Iterator[Shop]:
    """A shop behind it, seen from outside."""
    with open_shop(tmp_path, narrow, direct) as shop:
        yield shop


def test_workers_that_share_one_connection_do_all_documents_and_listen_to_nobody(shop: Shop, direct: Engine) -> None:
    tasks = [shop.take(pages(6, p2="sleep 0.03", p4="sleep 0.03")) for _ in range(16)]
    workers = [shop.start_worker(slots=2) for _ in range(2)]
    seen = set()

    def all_done() -> bool:
        seen.add(value(direct, SESSIONS))
        return shop.statuses() == {"succeeded": len(tasks)}

    until(all_done, "the end of all")
    assert max(seen) == 1
    assert shop.rows("SELECT FROM attempts WHERE outcome <> 'succeeded' OR late_finish_at IS NOT NULL") == []
    # Nobody hears of it: an idle worker finds it by polling.
    shop.ended(shop.take(pages(1)))
    assert all(worker.poll() is None for worker in workers)


def test_commands_work_behind_a_pooler(shop: Shop) -> None:
    task_id = shop.take(pages(2))
    shop.work()
    (shop.home / "words.txt").write_text("a few words", encoding="utf-8")
    for command, exit_codes in (
        (["db", "check"], {0}),
        (["doctor"], {0, 9}),  # 9 is about the sandbox that this machine grants
        (["status"], {0}),
        (["tasks", "explain", str(task_id)], {0}),
        (["ingest", str(shop.home / "words.txt"), "--copy"], {0}),
        (["sweep", "--once"], {0}),
        (["search", "words"], {0, 4}),
        (["sql", "SELECT count(*) FROM documents_v"], {0}),
    ):
        told = CliRunner().invoke(main, ["-C", str(shop.home), *command])
        assert told.exit_code in exit_codes, (command, told.output, told.exception)


def test_the_pooler_of_these_tests_is_one_in_transaction_mode(narrow: URL) -> None:
    """It refuses what a session would be needed for, so that no test passes for want of a pooler."""
    engine = database.open_engine(narrow, DatabaseSettings(), name="a session")
    with pytest.raises(OperationalError, match="unsupported startup parameter"):
        engine.connect()
    engine.dispose()

"""What `doclease doctor` measures: old snapshots, renewals that touch indexes, dead rows, clocks, the store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, Connection, Engine, text

from pipeline.documents.archive import Archive
from pipeline.errors import StoreUnavailable
from pipeline.queue.store import Queue
from pipeline.reports import server, storage, upkeep
from pipeline.reports.checks import Check, State
from tests.stories import claim
from tests.tasks import add_task
from tests.worker.shop import Shop, open_shop


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """A look at the database; what a test changes with it is rolled back."""
    with engine.connect() as connection:
        yield connection
        connection.rollback()


def test_an_old_snapshot_is_told_with_who_holds_it(engine: Engine) -> None:
    def look(seconds: float) -> Check:
        with engine.connect() as connection:  # a transaction sees the same list of sessions until its end
            return upkeep.pinned(connection, longer_than_seconds=seconds)

    assert look(0).fine
    with engine.execution_options(isolation_level="REPEATABLE READ").connect() as holder:
        pid = holder.execute(text("SELECT pg_backend_pid()")).scalar_one()
        found = look(0)
        assert look(upkeep.PINNED_SECONDS).fine  # it is not old yet
        holder.rollback()
    assert found.state is State.ADVICE
    assert f"session {pid} (doclease tests, " in found.found


def test_an_index_that_costs_each_renewal_is_named(connection: Connection) -> None:
    assert upkeep.renewals(connection).fine
    connection.execute(text("CREATE INDEX by_lease ON tasks (task_id) WHERE lease_expires_at > '2000-01-01'"))
    found = upkeep.renewals(connection)
    assert (found.state, "by_lease" in found.advice) == (State.ADVICE, True)


def test_renewals_that_are_not_heap_only_any_more_are_told(engine: Engine, queue: Queue) -> None:
    """The same number of renewals, and updates that touched an index in place of them."""
    claim(queue, add_task(engine, queue))
    states = []
    for column in ("progressed_at = queue_clock()", "rank_ms = rank_ms + 1"):
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_stat_reset_single_table_counters(CAST('tasks' AS regclass))"))
            connection.execute(text(f"UPDATE attempts SET renewals = {upkeep.ENOUGH_UPDATES}"))
        single = engine.execution_options(isolation_level="AUTOCOMMIT")
        with single.connect() as connection:
            connection.execute(text("SET synchronous_commit = off"))
            loop = f"FOR one IN 1..{upkeep.ENOUGH_UPDATES} LOOP UPDATE tasks SET {column}; COMMIT; END LOOP"
            connection.execute(text(f"DO $$ BEGIN {loop}; END $$"))
            connection.execute(text("RESET synchronous_commit"))
            connection.execute(text("SELECT pg_stat_force_next_flush()"))
            connection.execute(text("SELECT 1"))
            states.append(upkeep.renewals(connection))
    assert [each.state for each in states] == [State.FINE, State.ADVICE], states
    assert "expected" in states[1].found


def test_a_table_full_of_dead_rows_is_named(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("VACUUM tasks, attempts, pages"))  # what other tests left
        assert upkeep.dead_rows(connection).fine
        connection.execute(text("ALTER TABLE attempts SET (autovacuum_enabled = off)"))
        connection.execute(
            text("""
                INSERT INTO attempts
                    (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at)
                SELECT :task_id, number, gen_random_uuid(), 'w', 1, now(), now()
                FROM generate_series(1, :rows) AS number
            """),
            {"task_id": task_id, "rows": upkeep.DEAD_ROWS + 1},
        )
        connection.execute(text("DELETE FROM attempts"))
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
        connection.execute(text("SELECT 1"))
        found = upkeep.dead_rows(connection)
        connection.execute(text("ALTER TABLE attempts RESET (autovacuum_enabled)"))
        connection.execute(text("VACUUM attempts"))
    assert found.state is State.ADVICE
    assert found.found.startswith("attempts: ")
    assert int(found.found.split()[1]) > upkeep.DEAD_ROWS


@pytest.mark.parametrize(("hours", "told"), [(0, "they agree"), (1, "1 h ahead of"), (-1, "1 h behind")])
def test_clocks_that_differ_are_told_and_break_nothing(connection: Connection, hours: int, told: str) -> None:
    found = server.clocks(connection, lambda: time.time() + 3600 * hours)
    assert told in found.found
    assert found.state is (State.ADVICE if hours else State.FINE)
    assert "leases do not mind" in found.advice


@pytest.fixture
def shop(tmp_path: Path, database_url: URL, engine: Engine) -> Iterator[Shop]:
    """A worker with a store of its own."""
    with open_shop(tmp_path, database_url, engine) as opened:
        yield opened


def _take(shop: Shop, count: int) -> list[int]:
    tasks = []
    for number in range(count):
        path = shop.home / f"{number}.txt"
        path.write_text(f"letter {number}", encoding="utf-8")
        tasks.append(shop.take_file(path))
    return [shop.task(task_id).document_id for task_id in tasks]


def test_the_newest_files_are_hashed_again(shop: Shop) -> None:
    archive = shop.app.archive
    documents = _take(shop, 3)
    assert storage.sampled(shop.engine, archive).found == "the newest 3 are as they came"
    paths = [archive.path_of(row.sha256) for row in shop.rows("SELECT sha256 FROM documents ORDER BY document_id")]
    paths[0].unlink()
    paths[1].write_bytes(b"something")
    found = storage.sampled(shop.engine, archive)
    assert found.state is State.BROKEN
    assert found.found == f"missing: document {documents[0]}; damaged: document {documents[1]}"


def test_a_file_that_was_too_large_to_be_kept_is_not_missed(shop: Shop) -> None:
    _take(shop, 1)
    with shop.engine.begin() as connection:
        connection.execute(text("UPDATE tasks SET status = 'cancelled', reason = 'too_large', finished_at = now()"))
    assert storage.sampled(shop.engine, Archive(shop.home / "other")).fine


def test_a_store_that_is_not_the_databases_is_told_apart_from_a_lost_file(shop: Shop) -> None:
    _take(shop, 2)
    found = storage.sampled(shop.engine, Archive(shop.home / "other"))
    assert (found.state, found.found) == (State.BROKEN, "none of the newest 2")
    assert "not the store of this database" in found.advice


def test_a_worker_without_the_shared_store_is_told_before_it_fails_a_document(shop: Shop) -> None:
    storage.require_shared(shop.engine, Archive(shop.home / "other"))  # nothing waits, so nothing can be missed
    _take(shop, 2)
    storage.require_shared(shop.engine, shop.app.archive)
    with pytest.raises(StoreUnavailable, match="none of the files that wait"):
        storage.require_shared(shop.engine, Archive(shop.home / "other"))

"""Several installations in one database have nothing in common: each in its schema, none aware of another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import URL, Engine, create_engine, text

from pipeline import config_reading, database
from pipeline.config import DatabaseSettings
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import ConfigurationError, SchemaOutdated
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from pipeline.queue.wakeup import Bell, Listener, Notifier
from tests import postgres
from tests.installations import configure, engine_in, run, typed, value
from tests.queue import rows
from tests.tasks import add_task
from tests.worker.shop import ROOT, Shop, open_shop, pages, until

SCHEMAS = ("public", "archive", "billing")
Engines = dict[str, Engine]


@pytest.fixture(scope="module")
def shared(server: URL) -> URL:
    """A database with an installation in each of the schemas, made in this order."""
    url = postgres.create_database(server, f"shared_{os.getpid()}")
    for schema in ("archive", "public", "billing"):
        engine = engine_in(url, schema)
        database.upgrade(engine)
        engine.dispose()
    return url


@pytest.fixture
def engines(shared: URL) -> Iterator[Engines]:
    """An engine of each installation, all of them empty."""
    found = {schema: engine_in(shared, schema) for schema in SCHEMAS}
    for engine in found.values():
        for table in ("pages", "attachments", "arrivals", "attempts", "tasks", "documents"):
            run(engine, f"DELETE FROM {table}")
        run(engine, "UPDATE sweeper_state SET last_ok_at = now(), braked_at = NULL, graced_at = NULL, swept_by = NULL")
    yield found
    for engine in found.values():
        engine.dispose()


@pytest.fixture
def alone(server: URL) -> URL:
    """A database without anything."""
    return postgres.create_database(server, f"alone_{os.getpid()}")


def _queue(engine: Engine) -> Queue:
    return Queue(engine, limits=Limits(), aging_ms=600_000)


@pytest.mark.slow
def test_b9_workers_of_several_installations_read_each_its_own_documents(
    engines: Engines, shared: URL, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        shops = {schema: stack.enter_context(_shop(tmp_path / schema, shared, engines[schema])) for schema in SCHEMAS}
        for number in range(3):
            for shop in shops.values():
                shop.take(pages(2), opening=f"complain {number}")  # the same bytes in all of them
        workers = {schema: shop.start_worker() for schema, shop in shops.items()}
        for schema, shop in shops.items():
            until(lambda: shop.statuses() == {"succeeded": 3}, f"the end of all in {schema}")  # noqa: B023 - called at once
            at_work = [row.worker.split("/")[1] for row in shop.rows("SELECT worker FROM attempts")]
            assert at_work == [str(workers[schema].pid)] * 3


def _shop(home: Path, url: URL, engine: Engine) -> AbstractContextManager[Shop]:
    home.mkdir()
    return open_shop(home, url, engine, database={"schema": database.schema_of(engine)})


@pytest.mark.parametrize("pair", [("public", "archive"), ("archive", "billing")])
def test_a_sweep_takes_back_only_its_own(engines: Engines, pair: Sequence[str]) -> None:
    first, second = (engines[schema] for schema in pair)
    lost = {engine: _lost_task(engine) for engine in (first, second)}
    report = _queue(first).sweep(worker="sweeper of the first", interval_seconds=5)
    assert [taken.task_id for taken in report.taken] == [lost[first]]
    assert rows.status(first, lost[first]) == "enqueued"
    assert rows.status(second, lost[second]) == "processing"
    assert value(second, "SELECT swept_by FROM sweeper_state") is None, "its grace counts from its own last sweep"


def _lost_task(engine: Engine) -> int:
    task_id = add_task(engine, _queue(engine))
    (claim,) = _queue(engine).claim("worker/1/x")
    assert claim.task_id == task_id
    rows.change(engine, "UPDATE tasks SET lease_expires_at = now() - interval '1 second'")
    return task_id


def test_a_notification_is_heard_by_its_own_installation_only(engines: Engines, shared: URL) -> None:
    channels = ["doclease_work", "doclease_work_archive", "doclease_work_billing"]
    with database.listening_connection(shared, DatabaseSettings()) as connection:
        for channel in channels:
            connection.execute(f"LISTEN {channel}")
        for schema in SCHEMAS:
            Notifier(engines[schema]).notify()
        heard = [each.channel for each in connection.notifies(timeout=rows.GIVE_UP_SECONDS, stop_after=3)]
    assert heard == channels


def test_a_listener_listens_to_its_own_installation(engines: Engines, shared: URL) -> None:
    bell, settings = Bell(), DatabaseSettings(schema="archive")

    def connect() -> psycopg.Connection[tuple[object, ...]]:
        return database.listening_connection(shared, settings)

    listener = Listener(connect, bell)
    listener.start()
    sessions = "application_name = 'doclease listener' AND datname = current_database()"
    listens = f"SELECT count(*) FROM pg_stat_activity WHERE {sessions} AND query = 'LISTEN \"doclease_work_archive\"'"
    rows.until(lambda: bool(value(engines["public"], listens)))
    Notifier(engines["archive"]).notify()
    bell.wait(0, rows.GIVE_UP_SECONDS)
    assert bell.rings == 1
    listener.stop()
    rows.terminate(engines["public"], sessions)
    listener.join(rows.GIVE_UP_SECONDS)


def test_a_dropped_installation_takes_nothing_of_another_along(alone: URL, tmp_path: Path) -> None:
    first, second = engine_in(alone, "first"), engine_in(alone, "second")
    for engine in (first, second):
        database.upgrade(engine)
    add_task(first, _queue(first))
    task_id = add_task(second, _queue(second))
    run(first, "DROP SCHEMA first CASCADE")
    with pytest.raises(SchemaOutdated, match="in schema first"):
        database.require_schema(first)
    configure(tmp_path, alone, {"schema": "second"})
    typed(tmp_path, "db", "check")
    typed(tmp_path, "search", "2026-0042", exit_codes=(4,))
    assert value(second, "SELECT count(*) FROM pg_indexes WHERE indexname = 'pages_identifiers'") == 1
    (claim,) = _queue(second).claim("worker/1/x")
    rows.complete(_queue(second), claim)
    assert rows.status(second, task_id) == "succeeded"
    database.upgrade(first)
    assert value(first, "SELECT count(*) FROM tasks") == 0
    for engine in (first, second):
        engine.dispose()


def test_an_installation_is_not_taken_for_another_ones(alone: URL) -> None:
    public, other = engine_in(alone, "public"), engine_in(alone, "other")
    database.upgrade(public)
    with pytest.raises(SchemaOutdated, match=r"no doclease schema yet in schema other\. Type: doclease db upgrade"):
        database.require_schema(other)
    database.upgrade(other)
    run(public, "UPDATE alembic_version SET version_num = '0002'")
    database.require_schema(other)
    assert database.current_revision(public) == "0002"
    for engine in (public, other):
        engine.dispose()


def test_an_upgrade_finds_the_extension_wherever_it_is(alone: URL) -> None:
    admin, engine = engine_in(alone, "public"), engine_in(alone, "third")
    run(admin, "CREATE SCHEMA extensions", "CREATE EXTENSION pg_trgm SCHEMA extensions", "DROP SCHEMA public")
    assert database.upgrade(engine) == database.newest_revision()
    database.require_schema(engine)
    for each in (admin, engine):
        each.dispose()


def test_two_installations_whose_roles_would_have_the_same_names_are_refused(alone: URL) -> None:
    public, other = engine_in(alone, "public"), engine_in(alone, "doclease")
    database.upgrade(other)
    with pytest.raises(ConfigurationError, match="Choose another schema"):
        database.upgrade(public)
    for engine in (public, other):
        engine.dispose()


@pytest.mark.parametrize("path", ["", "billing", "public, billing"])
def test_views_and_functions_mean_their_own_schema_whatever_the_search_path(engines: Engines, path: str) -> None:
    archive = engines["archive"]
    add_task(archive, _queue(archive))
    document_id = value(archive, "SELECT max(document_id) FROM documents")
    run(archive, f"INSERT INTO attachments VALUES ({document_id}, 1, 'a.xml', '', {document_id}, NULL, 0)")
    with engines["billing"].connect() as connection:
        connection.execute(text("SELECT set_config('search_path', :path, true)"), {"path": path or '""'})
        assert connection.execute(text(f"SELECT archive.is_a_rendition({document_id})")).scalar_one()
        connection.execute(text("SELECT archive.queue_now(), archive.queue_clock()"))
        assert connection.execute(text("SELECT count(*) FROM archive.documents_v")).scalar_one() == 1
        connection.execute(text("SELECT * FROM archive.invoices"))


def test_no_function_of_an_installation_looks_names_up_when_it_is_called(engines: Engines) -> None:
    """But those in PL/pgSQL: the guards name nothing that is not of the system, the others bring their search path."""
    late = (
        "SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc"
        " WHERE pronamespace = CAST(:schema AS regnamespace) AND prosqlbody IS NULL"
        " AND NOT COALESCE('search_path=archive, pg_catalog, pg_temp' = ANY (proconfig), false)"
    )
    assert value(engines["archive"], late, schema="archive") == "guard_history guard_task_moves"


def test_the_owners_rights_are_lent_only_to_functions_with_a_search_path(engines: Engines) -> None:
    lent = (
        "SELECT count(*) FROM pg_proc WHERE pronamespace = CAST(:schema AS regnamespace) AND prosecdef"
        " AND NOT COALESCE('search_path=archive, pg_catalog, pg_temp' = ANY (proconfig), false)"
    )
    assert value(engines["archive"], lent, schema="archive") == 0


def test_every_object_is_in_the_schema_of_the_installation(engines: Engines) -> None:
    count = "SELECT count(*) FROM pg_class WHERE relnamespace = CAST(:schema AS regnamespace)"
    assert len({value(engines["archive"], count, schema=schema) for schema in SCHEMAS}) == 1


# How sessions get there


@pytest.mark.parametrize("own", ["", "-c work_mem=5MB -c geqo=off"])
def test_the_address_that_is_printed_leads_into_the_schema(shared: URL, tmp_path: Path, own: str) -> None:
    configure(tmp_path, shared.update_query_dict({"options": own} if own else {}), {"schema": "archive"})
    psql = EmbeddedServer(Path()).bin_dir / "psql"
    question = "SELECT current_schema(), current_setting('geqo')"
    answer = ("archive", "off" if own else "on")
    told = subprocess.check_output([psql, typed(tmp_path, "db", "url").stdout.strip(), "-Atc", question], text=True)
    assert tuple(told.strip().split("|")) == answer
    engine = create_engine(typed(tmp_path, "db", "url", "--sqlalchemy").stdout.strip())
    with engine.connect() as connection:
        assert tuple(connection.execute(text(question)).one()) == answer
    engine.dispose()


def test_sql_is_asked_of_the_installation_with_psql_and_without(shared: URL, tmp_path: Path) -> None:
    configure(tmp_path, shared.update_query_dict({"options": "-c geqo=off"}), {"schema": "billing"})
    statement = "SELECT current_schema() AS s, current_setting('geqo') AS g"
    assert typed(tmp_path, "sql", statement, "--format", "csv").stdout.split() == ["s,g", "billing,off"]
    psql = subprocess.run(
        [sys.executable, "-m", "pipeline", "-C", str(tmp_path), "sql"],
        input=f"\\pset format csv\n{statement}, current_setting('transaction_read_only') AS r;",
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert "billing,off,on" in psql.stdout


def test_behind_a_pooler_the_role_must_lead_there_and_a_command_says_what_to_type(
    engines: Engines, shared: URL, tmp_path: Path
) -> None:
    admin, name = engines["public"], f"pooled_{os.getpid()}"
    run(admin, f"CREATE ROLE {name} LOGIN", f"GRANT archive_read TO {name}")
    configure(tmp_path, shared.set(username=name), {"schema": "archive", "pooler": "transaction"})
    told = typed(tmp_path, "documents", "list", exit_codes=(8,)).stderr
    assert f"sessions of role {name} are in public" in told
    start = told.index("ALTER ROLE")
    run(admin, told[start : told.index(";", start)])
    typed(tmp_path, "documents", "list", exit_codes=(4,))
    assert "options" not in typed(tmp_path, "db", "url").stdout


def test_an_upgrade_through_a_pooler_finds_its_schema_by_itself(alone: URL) -> None:
    engine = engine_in(alone, "through", pooler="transaction")
    database.upgrade(engine)
    assert value(engine, "SELECT count(*) FROM through.reasons") > 0
    assert value(engine, "SELECT to_regclass('public.tasks')") is None
    engine.dispose()


@pytest.mark.parametrize("name", ["Archive", "my-docs", "1st", "pg_docs", "information_schema", "", "a" * 41, 'a"; --'])
def test_a_schema_is_a_plain_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"database\.schema must be"):
        config_reading.settings_from({"database": {"schema": name}}, home=tmp_path)

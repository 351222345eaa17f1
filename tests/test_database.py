"""The schema comes by one command, safe to run twice at once, and a wrong one is told in a sentence."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL, Engine, create_engine, text

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.errors import ConfigurationError, DatabaseUnavailable, SchemaOutdated
from pipeline.reasons import Reason
from tests import postgres

ROOT = Path(__file__).parent.parent
UPGRADE = """
import sys
from pipeline import config, config_reading, database
database.upgrade(database.open_engine(database.parse_url(sys.argv[1]), config.DatabaseSettings(), name="upgrade"))
"""


@pytest.fixture
def fresh(server: URL) -> Iterator[Engine]:
    """A database without a schema."""
    url = postgres.create_database(server, "tests_fresh")
    engine = database.open_engine(url, DatabaseSettings(), name="tests")
    yield engine
    engine.dispose()


def test_a_database_without_schema_says_what_to_type(fresh: Engine) -> None:
    with pytest.raises(SchemaOutdated, match="doclease db upgrade"):
        database.require_schema(fresh)


def test_an_old_or_a_newer_schema_says_what_to_do(fresh: Engine) -> None:
    database.upgrade(fresh)
    for revision, told in (("0000", "doclease db upgrade"), ("9999", "Upgrade doclease")):
        with fresh.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": revision})
        with pytest.raises(SchemaOutdated, match=told):
            database.require_schema(fresh)
    with pytest.raises(SchemaOutdated, match="Upgrade doclease"):
        database.upgrade(fresh)


def test_upgrading_twice_at_once_and_again_is_safe(fresh: Engine) -> None:
    url = fresh.url.render_as_string(hide_password=False)
    upgrades = [subprocess.Popen([sys.executable, "-c", UPGRADE, url], cwd=ROOT) for _ in range(3)]
    assert [each.wait(timeout=60) for each in upgrades] == [0, 0, 0]
    assert database.upgrade(fresh) == database.newest_revision()
    database.require_schema(fresh)


def test_every_reason_is_explained_in_the_database(fresh: Engine) -> None:
    database.upgrade(fresh)
    with fresh.connect() as connection:
        known = {row.reason: row.help for row in connection.execute(text("SELECT reason, help FROM reasons"))}
    assert known == {reason.value: reason.help for reason in Reason}


def test_the_newest_revision_is_the_head_of_the_migrations() -> None:
    config = Config()
    config.set_main_option("script_location", str(database.migrations_folder()))
    assert ScriptDirectory.from_config(config).get_heads() == [database.newest_revision()]


def test_a_server_that_is_not_there_is_told_without_the_password() -> None:
    url = database.parse_url("postgresql://someone:secret@127.0.0.1:1/nowhere")
    engine = database.open_engine(url, DatabaseSettings(connect_timeout_seconds=2), name="tests")
    with pytest.raises(DatabaseUnavailable) as raised:
        database.require_schema(engine)
    assert "secret" not in str(raised.value)
    assert raised.value.exit_code == 7


@pytest.mark.parametrize("wrong", ["mysql://host/name", "not a url", "://"])
def test_a_url_of_something_else_is_a_configuration_error(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="postgresql://"):
        database.parse_url(wrong)


@pytest.mark.parametrize(
    ("written", "hosts", "ports"),
    [
        ("postgresql://me:secret@one:5433,two/name?target_session_attrs=read-write", "one,two", "5433,5432"),
        ("postgresql://one,two:5433/name?target_session_attrs=read-write", "one,two", "5432,5433"),
        ("postgresql://me@[::1]:5433,[fd00::2]/name?target_session_attrs=read-write", "::1,fd00::2", "5433,5432"),
        ("postgresql:///name?host=one,two&port=1,2&target_session_attrs=read-write", "one,two", "1,2"),
    ],
)
def test_a_url_of_several_hosts_means_the_same_to_every_client(written: str, hosts: str, ports: str) -> None:
    url = database.parse_url(written)
    engine = create_engine(url)
    _, arguments = engine.dialect.create_connect_args(url)
    for_libpq = conninfo_to_dict(database.address(url.set(drivername="postgresql"), DatabaseSettings()))
    for each in (arguments, for_libpq):
        named = (each["host"], each["port"], each["dbname"], each["target_session_attrs"])
        assert named == (hosts, ports, "name", "read-write")
    assert for_libpq.get("password") == ("secret" if "secret" in written else None)


def test_sessions_have_limits_that_end_a_forgotten_transaction(engine: Engine) -> None:
    with engine.connect() as connection:
        limit = connection.execute(text("SHOW idle_in_transaction_session_timeout")).scalar_one()
        timeout = connection.execute(text("SHOW statement_timeout")).scalar_one()
    assert (limit, timeout) == ("5s", "30s")


OLDER = ("0001_queue_documents_results", "0002_attachments_and_figures", "0003_roles")
# An invoice that was read before its fields were rows.
READ_THEN = """
    CREATE TABLE alembic_version (version_num varchar(32) PRIMARY KEY);
    INSERT INTO alembic_version VALUES ('0003');
    INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count)
    VALUES (repeat('a', 64), 'a.pdf', 'a', 'application/pdf', 1, 1);
    INSERT INTO tasks
        (document_id, page_count, status, reason, rank_ms, lease_seconds, deadline_seconds, attempt_no, finished_at)
    SELECT document_id, 1, 'succeeded', 'ok', 1, 1, 1, 1, now()
    FROM documents;
    INSERT INTO attempts
        (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at, ended_at, outcome, result)
    SELECT task_id, 1, gen_random_uuid(), 'w', 1, now(), now(), now(), 'succeeded',
        '{"document_type": "invoice", "checks": {"net_plus_tax_is_gross": true, "odd": 1}, "fields": {
            "invoice_number": [{"value": "A-1", "page": 1, "snippet": "No. A-1", "method": "label", "confidence": 0.9}],
            "total_gross": [{"value": "119.00", "page": 1, "snippet": "119", "method": "label", "confidence": 0.6}]}}'
    FROM tasks;
"""


def test_an_upgrade_turns_the_results_there_are_into_rows(fresh: Engine) -> None:
    scripts = [(ROOT / "migrations" / "versions" / f"{name}.sql").read_text(encoding="utf-8") for name in OLDER]
    with fresh.begin() as connection:
        for script in (*scripts, READ_THEN):
            connection.connection.cursor().execute(script)
    database.upgrade(fresh)
    with fresh.connect() as connection:
        invoices = connection.execute(text("SELECT invoice_number, total_gross FROM invoices")).all()
        doubts = connection.execute(text("SELECT field FROM review_queue ORDER BY field")).scalars().all()
    assert [tuple(row) for row in invoices] == [("A-1", 119)]
    assert doubts == ["currency", "issue_date", "seller_name", "total_gross"]

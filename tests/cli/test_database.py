"""`doclease db` and `config` tell what is in force and what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from sqlalchemy import URL, Engine, create_engine, text

from pipeline import config_reading, database
from pipeline.config import DatabaseSettings
from pipeline.embedded.server import EmbeddedServer
from pipeline.queue.store import Queue
from tests import postgres
from tests.cli.conftest import Doclease, rows_of
from tests.tasks import add_task

ROOT = Path(__file__).parents[2]


def test_a_good_database_is_found_fine(doclease: Doclease) -> None:
    checks = {row["check"]: row for row in rows_of(doclease("db", "check", "--format", "json"))}
    assert all(row["fine"] for row in checks.values())
    assert [checks[f"plan of {name}"]["found"] for name in ("claim", "promote", "sweep")] == [
        "tasks_ready",
        "tasks_delayed",
        "tasks_processing",
    ]
    assert "fsync" in checks


def test_what_is_wrong_is_told_with_what_to_do(doclease: Doclease, home: Path, server: URL) -> None:
    url = postgres.create_database(server, "tests_check")
    (home / "config.yaml").write_text(yaml.safe_dump({"database_url": url.render_as_string(hide_password=False)}))
    assert "doclease db upgrade" in doclease("db", "check", exit_code=8).stderr
    doclease("db", "upgrade")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP INDEX tasks_ready"))
        connection.execute(text("ALTER DATABASE tests_check SET synchronous_commit = off"))
    engine.dispose()
    told = doclease("db", "check", exit_code=8).stderr
    assert "plan of claim is no index" in told
    assert "synchronous_commit is off" in told


def test_a_database_that_was_just_restored_is_found_fine(
    doclease: Doclease, home: Path, engine: Engine, queue: Queue, server: URL
) -> None:
    for _ in range(60):
        queue.cancel(add_task(engine, queue))
    dump = home / "doclease.dump"
    restored = postgres.create_database(server, "tests_restored")
    _run("pg_dump", "--format=custom", f"--file={dump}", engine.url)
    _run("pg_restore", "--dbname", restored, dump)
    address = restored.render_as_string(hide_password=False)
    (home / "config.yaml").write_text(yaml.safe_dump({"database_url": address}))
    assert len(rows_of(doclease("documents", "list", "--limit", "100", "--format", "json"))) == 60
    doclease("db", "check")


def _run(program: str, *arguments: URL | Path | str) -> None:
    shown = [
        each.set(drivername="postgresql").render_as_string(hide_password=False) if isinstance(each, URL) else each
        for each in arguments
    ]
    subprocess.run([EmbeddedServer(Path()).bin_dir / program, *shown], check=True)


@pytest.mark.parametrize("setting", ["role = tests_refused", "default_transaction_read_only = on"])
def test_a_role_that_may_not_write_is_told_so_in_a_line(
    doclease: Doclease, home: Path, server: URL, setting: str
) -> None:
    url = postgres.create_database(server, "tests_refusals")
    (home / "config.yaml").write_text(yaml.safe_dump({"database_url": url.render_as_string(hide_password=False)}))
    (home / "memo.txt").write_text("A memo.")
    doclease("db", "upgrade")
    engine = create_engine(url)
    with engine.begin() as connection:
        if not connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = 'tests_refused'")).all():
            connection.execute(text("CREATE ROLE tests_refused"))
        connection.execute(text("GRANT SELECT ON ALL TABLES IN SCHEMA public TO tests_refused"))
        connection.execute(text(f"ALTER DATABASE tests_refusals SET {setting}"))
    engine.dispose()
    told = [
        doclease("ingest", str(home / "memo.txt"), exit_code=8).stderr,
        doclease("sweep", "--once", exit_code=8).stderr,
        doclease("work", "--once", exit_code=8).stderr,
        doclease("db", "upgrade", exit_code=8).stderr,
    ]
    assert all(each.startswith("error: the database refuses: ") and each.count("\n") == 1 for each in told), told
    doclease("documents", "list", exit_code=4)


def test_two_upgrades_at_once_are_one(home: Path, server: URL) -> None:
    url = postgres.create_database(server, "tests_upgrade")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "DOCLEASE_DATABASE_URL": url.render_as_string(hide_password=False),
    }
    command = [sys.executable, "-m", "pipeline", "-C", str(home), "db", "upgrade"]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    engine = database.open_engine(url, DatabaseSettings(), name="tests")
    database.require_schema(engine)
    engine.dispose()


def test_the_address_works_for_both_kinds_of_client(doclease: Doclease) -> None:
    assert doclease("db", "url").stdout == doclease("db", "url", "--libpq").stdout
    assert doclease("db", "url").stdout.startswith("postgresql://")
    engine = create_engine(doclease("db", "url", "--sqlalchemy").stdout.strip())
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM tasks")).scalar() == 0
    engine.dispose()


def test_the_settings_shown_are_the_settings_in_force(
    doclease: Doclease, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {
        "database_url": "postgresql://me:secret@db/x",
        "lease": {"step_pages": "all", "base_seconds": 11},
        "queue": {"aging_minutes": "off"},
        "inbox": {"rules": {"rush": {"priority": "urgent", "type": "invoice"}}},
    }
    (home / "config.yaml").write_text(yaml.safe_dump(given))
    monkeypatch.setenv("DOCLEASE_SWEEP__BATCH", "7")
    shown = doclease("config", "show").stdout
    assert "secret" not in shown
    assert "  base_seconds: 11.0  # config.yaml" in shown.splitlines()
    assert "  batch: 7  # DOCLEASE_SWEEP__BATCH" in shown.splitlines()
    assert "  min_seconds: 15" in shown.splitlines()
    again = yaml.safe_load(shown) | {"database_url": given["database_url"]}
    assert config_reading.settings_from(again, home=home.resolve()) == config_reading.load(home)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"lease": {"base_secs": 3}}, "did you mean lease.base_seconds?"),
        ({"inbox": {"rules": {"x": {"type": "invoce"}}}}, "inbox.rules.x.type: no handler is named 'invoce'"),
        ({"inbox": {"failed": "inbox/failed"}}, "inside the inbox"),
        ({"database_url": "mysql://x"}, "must start with postgresql://"),
    ],
)
def test_a_mistake_in_the_configuration_is_found(
    doclease: Doclease, home: Path, document: dict[str, object], told: str
) -> None:
    (home / "config.yaml").write_text(yaml.safe_dump(document))
    assert told in doclease("config", "check", exit_code=8).stderr


def test_a_slip_in_the_name_of_a_variable_is_found(doclease: Doclease, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCLEASE_SERVICE_HOST", "10.0.0.7")  # as Kubernetes sets it for a service of our name
    doclease("config", "check")
    monkeypatch.setenv("DOCLEASE_DATABSE_URL", "postgresql://db/x")
    assert "did you mean DOCLEASE_DATABASE_URL?" in doclease("config", "check", exit_code=8).stderr


def test_a_mistake_in_yaml_is_told_in_a_line_with_its_place(doclease: Doclease, home: Path) -> None:
    (home / "config.yaml").write_text("lease:\n  base_seconds: 1\n wrong: [\n")
    told = doclease("config", "check", exit_code=8).stderr
    assert "line 3: " in told
    assert told.count("\n") == 1


def test_the_configuration_that_ships_is_fine(doclease: Doclease, home: Path) -> None:
    (home / "config.yaml").write_bytes(database.resource("config.yaml").read_bytes())
    assert "is fine" in doclease("config", "check").stdout

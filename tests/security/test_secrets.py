"""Passwords, of the database and of documents, appear nowhere but where they were written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from sqlalchemy import URL, Engine, text

from pipeline.cli import main
from pipeline.config_reading import load
from pipeline.errors import ConfigurationError
from tests.cases import files
from tests.cli.test_work import ROOT, command, drained
from tests.queue.rows import until

DATABASE_PASSWORD = "canary-of-the-database"  # noqa: S105 - what is looked for
DOCUMENT_PASSWORD = "canary-of-a-document"  # noqa: S105
CANARIES = (DATABASE_PASSWORD, DOCUMENT_PASSWORD)


@pytest.fixture
def address(database_url: URL) -> str:
    """The test database with a password in its address; its server asks for none."""
    return database_url.set(password=DATABASE_PASSWORD).render_as_string(hide_password=False)


def _hits(told: str) -> list[str]:
    return [canary for canary in CANARIES if canary in told]


def _children(pid: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(each) for thread in threads for each in (thread / "children").read_text("ascii").split()]
    except OSError:
        return []


def _shown(pid: int, *names: str) -> Iterator[str]:
    for name in names:
        try:
            yield Path(f"/proc/{pid}/{name}").read_bytes().decode("utf-8", "replace")
        except OSError:  # a parser hides it from everybody but root
            continue


@pytest.mark.slow
def test_no_password_is_in_a_log_an_error_a_process_list_or_the_database(
    home: Path, engine: Engine, address: str
) -> None:
    (home / "config.yaml").unlink()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DOCLEASE_DATABASE_URL": address}
    (home / "passwords").write_text(f"{DOCUMENT_PASSWORD}\n", encoding="utf-8")
    for name, content in (("opens", files.locked(DOCUMENT_PASSWORD)), ("stays", files.locked("another"))):
        (home / f"{name}.pdf").write_bytes(content)
    told = []

    def run(*arguments: str) -> None:
        done = subprocess.run(
            command(home, *arguments), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        told.append(done.stdout + done.stderr)

    with subprocess.Popen(
        command(home, "-vv", "work"), cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    ) as worker:
        run("-vv", "ingest", str(home / "opens.pdf"), str(home / "stays.pdf"), "--wait", "60")
        until(lambda: bool(_children(worker.pid)))
        told += _shown(worker.pid, "cmdline")
        told += [each for child in _children(worker.pid) for each in _shown(child, "cmdline", "environ")]
        told.append(drained(worker))
    for arguments in (
        ["doctor"],
        ["config", "show"],
        ["documents", "list"],
        ["tasks", "list"],
        ["sql", "SELECT wrong"],
    ):
        run("-vv", *arguments)
    assert "opens.pdf" in "".join(told)
    assert _hits("\n".join(told)) == []
    assert _hits(_all_rows(engine)) == []
    with engine.connect() as connection:
        ended = connection.execute(text("SELECT status FROM tasks ORDER BY task_id")).scalars().all()
    assert ended == ["succeeded", "failed"]


@pytest.mark.parametrize("place", ["config", "file"])
def test_no_command_shows_the_password_of_the_database(home: Path, engine: Engine, address: str, place: str) -> None:
    (home / "address").write_text(address, encoding="utf-8")
    written = {"database_url": address} if place == "config" else {"database_url_file": "address"}
    (home / "config.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    for arguments in (["config", "show"], ["config", "check"], ["doctor"], ["status"], ["sql", "SELECT wrong"]):
        result = CliRunner().invoke(main, ["-vv", "-C", str(home), *arguments])
        assert result.output
        assert _hits(result.output) == [], arguments
    assert engine.url.password is None


def _all_rows(engine: Engine) -> str:
    with engine.connect() as connection:
        tables = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"))
        names = tables.scalars().all()
        assert "attempts" in names
        rows = [connection.execute(text(f'SELECT CAST(t AS text) FROM "{name}" AS t')).scalars() for name in names]
        return "\n".join(row for each in rows for row in each)


@pytest.mark.parametrize("key", ["database", "databse_url", "inbox", "passwords_", "", None])
def test_an_address_in_the_wrong_place_is_refused_without_its_password(tmp_path: Path, key: str | None) -> None:
    address = f"postgresql://me:{DATABASE_PASSWORD}@db.example/docs"
    written = address if key is None else f"{address}: 1" if not key else f"{key}: {address}"
    (tmp_path / "config.yaml").write_text(written + "\n", encoding="utf-8")
    with pytest.raises(ConfigurationError):
        load(tmp_path, environment={})
    for arguments in (["config", "show"], ["config", "check"], ["status"]):
        result = CliRunner().invoke(main, ["-C", str(tmp_path), *arguments])
        assert result.exit_code == 8
        assert _hits(result.output) == []


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{DATABASE_PASSWORD}@127.0.0.1:1/docs",
        f"postgresql://me:{DATABASE_PASSWORD}@nowhere.invalid/docs",
        f"postgresql://me:{DATABASE_PASSWORD}@127.0.0.1:port/docs",
        f"postgresql://127.0.0.1:1/docs?password={DATABASE_PASSWORD}",
        f"mysql://me:{DATABASE_PASSWORD}@127.0.0.1/docs",
    ],
)
def test_a_database_that_cannot_be_reached_is_named_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("DOCLEASE_DATABASE_URL", address)
    for arguments in (["status"], ["config", "check"], ["config", "show"], ["doctor"]):
        result = CliRunner().invoke(main, ["-vv", "-C", str(tmp_path), *arguments])
        assert _hits(result.output) == []
        assert _hits(str(result.exception)) == []

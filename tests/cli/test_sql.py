"""`doclease sql` answers, never writes, and tells a mistake in a line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tests.cli.conftest import Doclease, rows_of

ROOT = Path(__file__).parents[2]


def test_a_statement_is_answered_as_a_table(doclease: Doclease) -> None:
    lines = doclease("sql", "SELECT 7 AS seven, 'a % sign' AS words").stdout.splitlines()
    assert lines[0].split() == ["seven", "│", "words"] or lines[0].split() == ["seven", "words"]
    assert lines[-1].split() == ["7", "a", "%", "sign"]


def test_a_percent_sign_reaches_postgresql(doclease: Doclease) -> None:
    assert rows_of(doclease("sql", "--format", "json", "SELECT 'abc' LIKE '%b%' AS found, 7 % 4 AS rest")) == [
        {"found": True, "rest": 3}
    ]


def test_columns_of_one_name_are_all_shown(doclease: Doclease) -> None:
    assert rows_of(doclease("sql", "--format", "json", "SELECT 1 AS a, 2 AS a")) == [{"a": 1, "a_2": 2}]


def test_no_rows_is_an_answer(doclease: Doclease) -> None:
    assert rows_of(doclease("sql", "--format", "json", "SELECT * FROM invoices")) == []
    assert doclease("sql", "--format", "csv", "SELECT 1 AS one WHERE false").stdout == "one\n"


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM reasons",
        "SELECT 1; COMMIT; DELETE FROM reasons",
        "COMMIT; DELETE FROM reasons",
        "SET TRANSACTION READ WRITE; DELETE FROM reasons",
        "WITH gone AS (DELETE FROM reasons RETURNING 1) SELECT * FROM gone",
        "DO $$ BEGIN PERFORM set_config('transaction_read_only', 'off', false); DELETE FROM reasons; END $$",
    ],
)
def test_no_statement_writes(doclease: Doclease, engine: Engine, statement: str) -> None:
    result = doclease("sql", statement, exit_code=2)
    assert len(result.stderr.splitlines()) == 1
    # Nothing refers to these rows, so that only the read-only transaction can have kept them.
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM reasons")).scalar_one() > 0


def test_several_statements_are_refused_before_the_first_is_run(doclease: Doclease) -> None:
    assert doclease("sql", "SELECT 1; SELECT 2", exit_code=2).stderr.startswith("error: that is more than one")
    assert rows_of(doclease("sql", "--format", "json", "SELECT 1 AS one;")) == [{"one": 1}]


def test_copy_is_refused_in_a_line(doclease: Doclease) -> None:
    result = doclease("sql", "COPY reasons TO STDOUT", exit_code=2)
    assert len(result.stderr.splitlines()) == 1
    assert "COPY" in result.stderr


def test_a_mistake_is_told_in_a_line_with_its_place(doclease: Doclease) -> None:
    result = doclease("sql", "SELECT name,\n  totl FROM documents_v", exit_code=2)
    assert result.stderr == 'error: column "totl" does not exist at line 2, character 3\n'
    assert 'column "\\x1b[2J"' in doclease("sql", 'SELECT "\x1b[2J" FROM documents_v', exit_code=2).stderr
    assert 'column "[/b]" does not exist' in doclease("sql", 'SELECT "[/b]" FROM documents_v', exit_code=2).stderr


def test_a_statement_that_takes_too_long_is_not_a_missing_database(
    doclease: Doclease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCLEASE_DATABASE__STATEMENT_TIMEOUT_SECONDS", "0.05")
    assert "statement timeout" in doclease("sql", "SELECT pg_sleep(20)", exit_code=2).stderr


@pytest.mark.parametrize("path", [os.environ["PATH"], "/nowhere"], ids=["installed", "shipped"])
def test_psql_opens_read_only(home: Path, engine: Engine, path: str) -> None:
    command = [sys.executable, "-m", "pipeline", "-C", str(home), "sql"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PATH": path}
    statements = "SELECT 'it is ' || 'open'; DELETE FROM reasons;"
    done = subprocess.run(command, input=statements, capture_output=True, text=True, env=environment, check=False)
    assert "it is open" in done.stdout
    assert "read-only transaction" in done.stderr
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM reasons")).scalar_one() > 0


def test_no_password_is_on_the_command_line_of_psql(home: Path, engine: Engine) -> None:
    psql = home / "bin/psql"
    psql.parent.mkdir()
    psql.write_text(f'#!/bin/sh\necho "$@" > {home}/arguments\necho "$PGPASSWORD" > {home}/secret\n', encoding="utf-8")
    psql.chmod(0o755)
    words = "open sesame"
    address = engine.url.set(password=words).render_as_string(hide_password=False)
    environment = {**os.environ, "DOCLEASE_DATABASE_URL": address, "PATH": f"{psql.parent}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "pipeline", "-C", str(home), "sql"]
    subprocess.run(command, env={**environment, "PYTHONPATH": str(ROOT)}, check=True)
    assert (home / "secret").read_text() == "open sesame\n"
    assert "sesame" not in (home / "arguments").read_text()

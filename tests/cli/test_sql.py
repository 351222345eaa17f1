"""`doclease sql` answers, never writes, and tells a mistake in a line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from pipeline.queue.store import Queue
from tests.cli.conftest import Doclease, rows_of
from tests.tasks import add_task


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
        "DELETE FROM documents",
        "SELECT 1; COMMIT; DELETE FROM documents",
        "COMMIT; DELETE FROM documents",
        "SET TRANSACTION READ WRITE; DELETE FROM documents",
        "WITH gone AS (DELETE FROM tasks RETURNING 1) SELECT * FROM gone",
    ],
)
def test_no_statement_writes(doclease: Doclease, engine: Engine, queue: Queue, statement: str) -> None:
    add_task(engine, queue)
    result = doclease("sql", statement, exit_code=2)
    assert len(result.stderr.splitlines()) == 1
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM documents JOIN tasks USING (document_id)")).scalar() == 1


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

"""Words from outside are never SQL, and `doclease sql` only ever reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from pipeline.errors import NothingMatched, UsageProblem
from pipeline.reports import adhoc, queries, search
from pipeline.reports.search_filters import Filters
from tests.cli.conftest import Doclease
from tests.cli.test_work import run
from tests.security.hostile_words import WORDS

SQL_WORDS = st.text(alphabet=st.sampled_from("'\";-%:$\\(){}*|&!<> aA0_\n\x7f")) | st.text() | st.sampled_from(WORDS)


@pytest.fixture
def canary(engine: Engine) -> Iterator[Engine]:
    """An engine on a database with a table that nobody but this test touches; it has to be whole in the end."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE canary (bird text)"))
        connection.execute(text("INSERT INTO canary VALUES ('alive')"))
    yield engine
    with engine.begin() as connection:
        assert connection.execute(text("SELECT bird FROM canary")).scalars().all() == ["alive"]
        connection.execute(text("DROP TABLE canary"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=SQL_WORDS)
def test_any_words_can_be_searched_and_filtered_by(canary: Engine, words: str) -> None:
    try:
        filters = Filters(document_type=words, seller=words)
        assert list(search.search(canary, words, filters=filters, limit=3)) == []
        assert list(search.listed(canary, filters, limit=3)) == []
    except (NothingMatched, UsageProblem):
        pass  # there was nothing in them to search for
    if "\x00" in words or any(0xD800 <= ord(sign) < 0xE000 for sign in words):
        return  # no command line can hold them
    assert list(queries.tasks(canary, batch=words)) == []
    assert list(queries.documents(canary, batch=words, document_type=words)) == []
    assert list(queries.unfinished(canary, batch=words)) == []


def test_names_batches_and_fields_go_in_and_out_as_they_are(canary: Engine, home: Path) -> None:
    words = "x'); DROP TABLE canary; --"
    pile = home / "pile"
    pile.mkdir()
    fields = f"INVOICE\nInvoice number: {words}\nSupplier: {words}\nDate: 2026-03-03\nTotal: 12.50 EUR\n"
    (pile / f"{words}.txt").write_text(fields, encoding="utf-8")
    taken = run(home, "ingest", "-r", str(pile), "--batch", words)
    worked = run(home, "work", "--drain")
    assert (taken.returncode, worked.returncode) == (0, 0), taken.stderr + worked.stderr
    ((name, batch),) = [(row["name"], row["batch"]) for row in _documents(canary)]
    assert (name, batch) == (f"{words}.txt", words)


def _documents(engine: Engine) -> list[dict[str, object]]:
    with engine.connect() as connection:
        return [dict(row._mapping) for row in connection.execute(text("SELECT name, batch FROM documents"))]


@pytest.mark.parametrize("name", ['x"; DROP TABLE canary; --', "public, pg_catalog", "pg_temp", "X", "a-b", ""])
def test_a_schema_is_a_plain_name(doclease: Doclease, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("DOCLEASE_DATABASE__SCHEMA", f"'{name}'")
    assert "database.schema" in doclease("tasks", "list", exit_code=8).stderr


OUTSIDE = "/etc/hostname"
FORBIDDEN = (
    "DELETE FROM canary",
    "WITH gone AS (DELETE FROM canary RETURNING 1) SELECT * FROM gone",
    "SELECT 1; DELETE FROM canary",
    "TRUNCATE canary",
    "DROP TABLE canary",
    "CREATE TABLE another ()",
    "EXPLAIN ANALYZE DELETE FROM canary",
    "SELECT nextval('tasks_task_id_seq')",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "DO $$ BEGIN DELETE FROM canary; END $$",
    "DO $$ BEGIN PERFORM set_config('role', 'none', true); PERFORM pg_read_file('/etc/hostname'); END $$",
    f"SELECT pg_read_file('{OUTSIDE}')",
    "SELECT pg_ls_dir('/')",
    f"SELECT lo_import('{OUTSIDE}')",
    "SELECT lo_from_bytea(0, 'x')",
    "COPY (SELECT 1) TO PROGRAM 'touch {target}'",
    "COPY (SELECT 1) TO '{target}'",
    f"COPY canary FROM '{OUTSIDE}'",
    "SET statement_timeout = 0",
    "SET ROLE none",
    "RESET ROLE",
    "ALTER SYSTEM SET work_mem = '1GB'",
    "SELECT pg_reload_conf()",
    "SELECT rolpassword FROM pg_authid",
    "LOAD 'anything'",
    "NOTIFY tasks",
    "LISTEN tasks",
    "VACUUM",
)


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_sql_neither_writes_nor_reaches_files_programs_or_settings(
    doclease: Doclease, canary: Engine, tmp_path: Path, statement: str
) -> None:
    target = tmp_path / "target"
    tmp_path.chmod(0o777)  # whoever the server runs as could write here
    told = doclease("sql", statement.replace("{target}", str(target)), exit_code=2).stderr
    assert told.startswith("error: ")
    assert told.count("\n") == 1
    assert not target.exists()
    with canary.connect() as connection:
        assert connection.execute(text("SELECT current_setting('transaction_read_only')")).scalar_one() == "off"
        assert connection.execute(text("SELECT to_regclass('another')")).scalar_one() is None


@pytest.mark.parametrize("statement", ["SELECT bird FROM reasons", "SELECT pg_read_file('/etc/hostname')"])
def test_the_rights_that_were_given_up_come_back_with_the_next_transaction(engine: Engine, statement: str) -> None:
    with pytest.raises(UsageProblem):
        adhoc.run(engine, statement)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT current_user = session_user")).scalar_one()


def test_a_query_sees_every_view(engine: Engine) -> None:
    with engine.connect() as connection:
        views = connection.execute(text("SELECT viewname FROM pg_views WHERE schemaname = current_schema()"))
        names = views.scalars().all()
    assert len(names) >= 8
    for name in names:
        assert adhoc.run(engine, f'SELECT * FROM "{name}"').columns

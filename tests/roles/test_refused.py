"""What is not decided for a role is refused: every other verb on every object, and every way to forge history."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from tests.installations import value
from tests.queue import rows
from tests.roles.conftest import LogIn
from tests.tasks import add_task

KINDS = ("ingest", "work", "read", "review")
# What a role may do with a table or view: s reads, i adds rows, u changes some columns, d deletes. Nothing else, ever.
RIGHTS: Mapping[str, tuple[str, str, str, str]] = {
    #                   ingest  work  read  review
    "alembic_version": ("s", "s", "s", "s"),
    "arrivals": ("siu", "", "s", "s"),
    "attachments": ("s", "siu", "s", "s"),
    "attempts": ("", "siu", "s", "s"),
    "checks": ("", "", "s", "s"),
    "clauses": ("", "i", "s", "s"),
    "corrections": ("", "s", "s", "si"),
    "current_contracts": ("", "", "s", "s"),
    "current_invoices": ("", "s", "s", "s"),
    "current_results": ("", "s", "s", "s"),
    "documents": ("siu", "siu", "s", "s"),
    "field_groups": ("", "i", "s", "s"),
    "fields": ("", "", "s", "s"),
    "inbox_scans": ("siu", "s", "s", "s"),
    "lease_rates": ("s", "siu", "s", "s"),
    "pages": ("", "siu", "s", "s"),
    "reasons": ("", "", "s", "s"),
    "sweeper_state": ("s", "su", "s", "s"),
    "tasks": ("siu", "siu", "s", "s"),
    "workers": ("", "siud", "s", "s"),
    "accepted_results": ("", "", "s", "s"),
    "attachments_v": ("", "", "s", "s"),
    "attempts_v": ("", "", "s", "s"),
    "business_duplicates": ("", "", "s", "s"),
    "checks_v": ("", "", "s", "s"),
    "clauses_v": ("", "", "s", "s"),
    "contract_parties": ("", "", "s", "s"),
    "contracts": ("", "", "s", "s"),
    "corrections_v": ("", "", "s", "s"),
    "current_groups": ("", "", "s", "s"),
    "documents_v": ("", "", "s", "s"),
    "failures": ("", "", "s", "s"),
    "fields_v": ("", "", "s", "s"),
    "invoice_lines": ("", "", "s", "s"),
    "invoice_taxes": ("", "", "s", "s"),
    "invoices": ("", "", "s", "s"),
    "pages_v": ("", "", "s", "s"),
    "queue_status": ("", "", "s", "s"),
    "recoveries": ("", "", "s", "s"),
    "review_documents": ("", "", "s", "s"),
    "review_queue": ("", "", "s", "s"),
    "throughput": ("", "", "s", "s"),
}
CLOCKS = {"clock_offset", "queue_now", "queue_clock"}
# What the generated columns of a page are made by, and looked up by.
FINDING = {"folded", "printed_amounts"}
# What the views are made of: a view calls its functions with the rights of whoever asks.
VIEWING = {
    "as_amount", "as_box", "as_confidence", "as_date", "as_page", "as_period", "field_value", "identifier_key",
    "is_a_rendition", "is_amount_field", "is_date_field", "name_key", "review_fields", "review_threshold",
}  # fmt: skip
CALLS = {
    "ingest": CLOCKS,
    "work": CLOCKS | FINDING,
    "read": CLOCKS | FINDING | VIEWING,
    "review": CLOCKS | FINDING | VIEWING,
}
# Columns of tasks that nobody but the owner changes, and those that only a worker does.
FIXED = {"task_id", "document_id", "handler", "page_count", "ocr_page_count", "priority", "rank_ms", "lease_seconds"}
LEASE = {"attempt_no", "lease_token", "lease_holder", "lease_expires_at", "deadline_at", "pages_done", "progressed_at"}
REFUSED, CHECKED = "42501", "23514"
# With <name> and <column>: what no role may do with any table or view.
BEYOND = (
    "TRUNCATE <name> CASCADE",
    "DROP TABLE <name>",
    "ALTER TABLE <name> DISABLE TRIGGER ALL",
    "ALTER TABLE <name> ADD mine integer",
    "CREATE INDEX ON <name> (<column>)",
    "COMMENT ON TABLE <name> IS ''",
    "LOCK <name> IN ACCESS EXCLUSIVE MODE",
)
BEYOND_ANY_TABLE = (
    "CREATE TABLE guarded.mine ()",
    "CREATE FUNCTION guarded.queue_now(integer) RETURNS integer LANGUAGE sql RETURN 1",
    "CREATE OR REPLACE FUNCTION guarded.queue_now() RETURNS timestamptz LANGUAGE sql RETURN now()",
    "CREATE TRIGGER mine BEFORE INSERT ON guarded.tasks EXECUTE FUNCTION guarded.guard_task_moves()",
    "DROP FUNCTION guarded.queue_now()",
    "DROP SCHEMA guarded CASCADE",
    "SET session_replication_role = replica",
    "SET ROLE doclease",
    "GRANT guarded_work TO current_user",
    "CREATE SCHEMA mine",
    "CREATE TABLE public.mine ()",
)
NOT_FOR_VIEWS = ("42809", "55000")  # the verb does not exist for a view, or the view is of many tables
INSERT_A_RESULT = (
    "INSERT INTO attempts (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at, outcome)"
    " SELECT task_id, 2, gen_random_uuid(), 'w', 1, now(), now(), 'succeeded' FROM tasks LIMIT 1"
)
INSERT_A_SUCCESS = (
    "INSERT INTO tasks (document_id, handler, page_count, status, reason, rank_ms, lease_seconds, deadline_seconds,"
    " finished_at) SELECT document_id, handler, 1, 'succeeded', 'ok', 1, 1, 1, now() FROM tasks LIMIT 1"
)

every_role = pytest.mark.parametrize("kind", [*KINDS, "nobody"])


def test_every_object_of_the_schema_is_decided(owner: Engine) -> None:
    query = "SELECT relname, relkind, relacl FROM pg_class WHERE relnamespace = CAST('guarded' AS regnamespace)"
    with owner.connect() as connection:
        found = connection.execute(text(query)).all()
    assert {row.relname for row in found if row.relkind not in "iSt"} == set(RIGHTS)
    assert [row.relname for row in found if row.relkind == "S" and row.relacl] == []


@every_role
def test_every_other_verb_on_every_object_is_refused(owner: Engine, logged_in: LogIn, kind: str) -> None:
    with _session(logged_in, kind).connect() as connection:
        for name, rights in RIGHTS.items():
            columns = _columns(owner, name)
            assert _possible(connection, f"guarded.{name}", columns) == (_right_of(kind, rights)), name
            for verb in BEYOND[:-1] if "d" in _right_of(kind, rights) else BEYOND:  # who deletes may lock
                statement = verb.replace("<name>", f"guarded.{name}").replace("<column>", columns[0])
                accepted = (REFUSED, *NOT_FOR_VIEWS) if name in _views(owner) else (REFUSED,)
                assert _error(connection, statement) in accepted, statement
        for statement in BEYOND_ANY_TABLE:
            assert _error(connection, statement) == REFUSED, statement


@every_role
def test_every_function_is_decided_and_public_may_call_none(logged_in: LogIn, kind: str) -> None:
    query = (
        "SELECT proname FROM pg_proc WHERE pronamespace = CAST('guarded' AS regnamespace)"
        " AND has_function_privilege(oid, 'EXECUTE')"
    )
    with _session(logged_in, kind).connect() as connection:
        assert set(connection.execute(text(query)).scalars()) == CALLS.get(kind, set())


@pytest.mark.parametrize(
    ("kind", "fixed"), [("ingest", FIXED | LEASE), ("work", FIXED), ("read", FIXED | LEASE), ("review", FIXED | LEASE)]
)
def test_no_role_changes_columns_that_are_not_its_own(logged_in: LogIn, kind: str, fixed: set[str]) -> None:
    with logged_in(kind).connect() as connection:
        for column in fixed:
            assert _error(connection, f"UPDATE tasks SET {column} = DEFAULT") == REFUSED, column


@pytest.mark.parametrize(
    ("kind", "forgery", "state"),
    [
        ("work", "UPDATE tasks SET attempt_no = attempt_no - 1", CHECKED),
        ("work", "UPDATE tasks SET lease_token = gen_random_uuid() WHERE status = 'processing'", CHECKED),
        ("work", "UPDATE tasks SET status = 'enqueued', finished_at = NULL WHERE status = 'succeeded'", CHECKED),
        ("work", "UPDATE attempts SET result = '{}' WHERE outcome = 'succeeded'", REFUSED),
        ("work", "UPDATE attempts SET outcome = 'failed', result = NULL WHERE outcome = 'succeeded'", REFUSED),
        ("work", "UPDATE attempts SET lease_token = gen_random_uuid()", REFUSED),
        ("work", "DELETE FROM attempts", REFUSED),
        ("work", INSERT_A_RESULT, REFUSED),
        ("work", INSERT_A_SUCCESS, REFUSED),
        ("ingest", "UPDATE tasks SET status = 'succeeded', finished_at = now() WHERE status = 'processing'", CHECKED),
        ("ingest", "UPDATE tasks SET status = 'enqueued' WHERE status = 'processing'", CHECKED),
        ("ingest", INSERT_A_SUCCESS, REFUSED),
    ],
)
def test_history_is_not_forged(owner: Engine, logged_in: LogIn, kind: str, forgery: str, state: str) -> None:
    queue = Queue(owner, limits=Limits(), aging_ms=1)
    for _ in range(2):
        add_task(owner, queue)
    rows.complete(queue, queue.claim("worker/1/x", batch=2)[0])
    with logged_in(kind).connect() as connection:
        assert _error(connection, forgery) == state


def test_the_schema_is_closed_to_everybody_else(owner: Engine) -> None:
    for privilege in ("CREATE", "USAGE"):
        assert not value(owner, f"SELECT has_schema_privilege('public', 'guarded', '{privilege}')")


def _session(logged_in: LogIn, kind: str) -> Engine:
    return logged_in(kind) if kind in KINDS else logged_in()


def _right_of(kind: str, rights: tuple[str, str, str, str]) -> str:
    return rights[KINDS.index(kind)] if kind in KINDS else ""


def _columns(owner: Engine, name: str) -> list[str]:
    query = (
        "SELECT attname FROM pg_attribute WHERE attrelid = CAST(:name AS regclass) AND attnum > 0 AND NOT attisdropped"
        " ORDER BY attnum"
    )
    with owner.connect() as connection:
        return list(connection.execute(text(query), {"name": f"guarded.{name}"}).scalars())


def _views(owner: Engine) -> list[str]:
    return inspect(owner).get_view_names(schema="guarded")


def _possible(connection: Connection, name: str, columns: list[str]) -> str:
    """The letters of RIGHTS, found by trying each verb, column by column."""
    verbs = {
        "s": [f"SELECT FROM {name} LIMIT 0"],
        "i": [f"INSERT INTO {name} ({column}) SELECT NULL WHERE false" for column in columns],
        "u": [f"UPDATE {name} SET {column} = DEFAULT WHERE false" for column in columns],
        "d": [f"DELETE FROM {name} WHERE false"],
    }
    return "".join(letter for letter, tried in verbs.items() if any(_error(connection, each) is None for each in tried))


def _error(connection: Connection, statement: str) -> str | None:
    """The state of the error that a statement ends with, None if it is carried out; nothing of it stays."""
    try:
        connection.exec_driver_sql(statement)
    except DBAPIError as error:
        return getattr(error.orig, "sqlstate", "")
    finally:
        connection.rollback()
    return None

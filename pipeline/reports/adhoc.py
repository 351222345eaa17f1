"""One statement of a person's own, run read-only: SQL is the reading side's API.

PostgreSQL is asked to prepare the statement before it is run, and prepares exactly one: a second one behind a semicolon
could end the read-only transaction. One that answers with no columns is not run: what is no query may act outside the
transaction, on files and programs of the server for example. A superuser's session takes the rights of a reader, as its
queries could read such files too. That protects people from statements they were sent; what protects from people is a
role that may do no harm (docs/operating.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.pq import ExecStatus
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from pipeline import roles
from pipeline.errors import UsageProblem

_SEVERAL = "multiple commands"
_SESSION = text("SELECT rolsuper, current_schema() FROM pg_roles WHERE rolname = current_user")
_BECOME = text("""
    SELECT set_config('role', rolname, true)
    FROM pg_roles
    WHERE rolname IN (:reader, :any_reader)
    ORDER BY rolname = :reader DESC
    LIMIT 1
""")


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows and the names of their columns, no two alike."""

    columns: tuple[str, ...]
    rows: Sequence[dict[str, Any]]


def run(engine: Engine, statement: str) -> Answer:
    """Run one statement, read-only, under the configured statement timeout.

    Raises UsageProblem, in a line, for what PostgreSQL refuses.
    """
    with engine.connect() as connection:
        try:
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            _give_up_rights(connection)
            _require_query(connection, statement)
            return _answer(connection, statement)
        except DBAPIError as error:
            if not isinstance(error.orig, psycopg.Error) or not _is_the_statements(error.orig):
                raise
            raise _refusal(error.orig, statement) from error
        except psycopg.Error as error:
            raise _refusal(error, statement) from error


def _give_up_rights(connection: Connection) -> None:
    """Be a mere reader until the end of the transaction, if this session is a superuser's."""
    is_superuser, schema = connection.execute(_SESSION).one()
    if is_superuser:
        wanted = {"reader": roles.names(schema)["read"] if schema else "", "any_reader": "pg_read_all_data"}
        connection.execute(_BECOME, wanted)


def _require_query(connection: Connection, statement: str) -> None:
    """Raise psycopg.Error unless the text is one statement that PostgreSQL understands, UsageProblem unless it is a
    query. Runs nothing.
    """
    driver = _driver(connection)
    result = driver.pgconn.prepare(b"", statement.encode(driver.info.encoding))
    if result.status != ExecStatus.COMMAND_OK:
        raise psycopg.errors.error_from_result(result, driver.info.encoding)
    if driver.pgconn.describe_prepared(b"").nfields == 0:
        raise UsageProblem(
            "that is no query: SELECT, WITH, VALUES, TABLE, SHOW and EXPLAIN are answered. For COPY, SET, DO and the"
            " like open psql with: doclease sql"
        )


def _answer(connection: Connection, statement: str) -> Answer:
    # The driver reads % as the start of a parameter, also where there is none.
    result = connection.exec_driver_sql(statement.replace("%", "%%"))
    columns = _unlike(list(result.keys()))
    return Answer(columns, [dict(zip(columns, row, strict=True)) for row in result])


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


def _unlike(names: Sequence[str]) -> tuple[str, ...]:
    taken: list[str] = []
    for name in names:
        free = (candidate for candidate in (name, *(f"{name}_{number}" for number in range(2, len(names) + 2))))
        taken.append(next(candidate for candidate in free if candidate not in taken))
    return tuple(taken)


def _refusal(cause: psycopg.Error, statement: str) -> UsageProblem:
    facts = cause.diag
    problem = facts.message_primary or str(cause).strip().splitlines()[0]
    if _SEVERAL in problem:
        return UsageProblem("that is more than one statement; for several, open psql with: doclease sql")
    return UsageProblem(
        problem
        + (f" at {_place(statement, int(facts.statement_position))}" if facts.statement_position else "")
        + (f" ({facts.message_hint})" if facts.message_hint else "")
    )


def _is_the_statements(cause: psycopg.Error) -> bool:
    """Whether the statement is at fault: a lost or refused connection has no state, or one of class 08, 53 or 57P."""
    if cause.sqlstate is None:
        return not isinstance(cause, psycopg.OperationalError)
    return not cause.sqlstate.startswith(("08", "53", "57P"))


def _place(statement: str, position: int) -> str:
    before = statement[: position - 1]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return f"character {column}" if "\n" not in statement.strip() else f"line {line}, character {column}"

"""One statement of a person's own, run read-only: SQL is the reading side's API.

PostgreSQL is asked to prepare the statement before it is run, and prepares exactly one: a second one behind a semicolon
could end the read-only transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.pq import ExecStatus, TransactionStatus
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from pipeline.errors import UsageProblem

_SEVERAL = "multiple commands"


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows and the names of their columns, no two alike; no columns for a statement that returns nothing."""

    columns: tuple[str, ...]
    rows: Sequence[dict[str, Any]]


def run(engine: Engine, statement: str) -> Answer:
    """Run one statement, read-only, under the configured statement timeout.

    Raises UsageProblem, in a line, for what PostgreSQL refuses.
    """
    with engine.connect() as connection:
        try:
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            _require_one(connection, statement)
            return _answer(connection, statement)
        except DBAPIError as error:
            if not isinstance(error.orig, psycopg.Error) or not _is_the_statements(error.orig):
                raise
            _give_up_copying(connection)
            raise _refusal(error.orig, statement) from error
        except psycopg.Error as error:
            raise _refusal(error, statement) from error


def _require_one(connection: Connection, statement: str) -> None:
    """Raise psycopg.Error unless the text is one statement that PostgreSQL understands. Runs nothing."""
    driver = _driver(connection)
    result = driver.pgconn.prepare(b"", statement.encode(driver.info.encoding))
    if result.status != ExecStatus.COMMAND_OK:
        raise psycopg.errors.error_from_result(result, driver.info.encoding)


def _answer(connection: Connection, statement: str) -> Answer:
    # The driver reads % as the start of a parameter, also where there is none.
    result = connection.exec_driver_sql(statement.replace("%", "%%"))
    if not result.returns_rows:
        return Answer((), [])
    columns = _unlike(list(result.keys()))
    return Answer(columns, [dict(zip(columns, row, strict=True)) for row in result])


def _give_up_copying(connection: Connection) -> None:
    """Drop a connection on which COPY goes on: it takes no other command, not even the end of the transaction."""
    if _driver(connection).info.transaction_status == TransactionStatus.ACTIVE:
        connection.invalidate()


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
    if facts.sqlstate is None and problem.startswith("COPY"):
        return UsageProblem('COPY has nowhere to write; give the query itself: doclease sql --format csv "SELECT …"')
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

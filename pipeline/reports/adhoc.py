"""One statement of a person's own, run read-only: SQL is the reading side's API.

The statement goes through the extended protocol, which takes exactly one: a second one behind a semicolon could end the
read-only transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from pipeline.errors import UsageProblem


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
            return _answer(connection, statement)
        except DBAPIError as error:
            raise _refusal(error, statement) from error


def _answer(connection: Connection, statement: str) -> Answer:
    # An empty list of parameters, so that psycopg speaks the extended protocol; it then reads % as the start of one.
    result = connection.exec_driver_sql(statement.replace("%", "%%"), ())
    if not result.returns_rows:
        return Answer((), [])
    columns = _unlike(list(result.keys()))
    return Answer(columns, [dict(zip(columns, row, strict=True)) for row in result])


def _unlike(names: Sequence[str]) -> tuple[str, ...]:
    taken: list[str] = []
    for name in names:
        free = (candidate for candidate in (name, *(f"{name}_{number}" for number in range(2, len(names) + 2))))
        taken.append(next(candidate for candidate in free if candidate not in taken))
    return tuple(taken)


def _refusal(error: DBAPIError, statement: str) -> Exception:
    cause = error.orig
    if not isinstance(cause, psycopg.Error) or not _is_the_statements(cause):
        return error
    facts = cause.diag
    problem = facts.message_primary or str(cause).strip().splitlines()[0]
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

"""Everything of one view, row by row through a cursor on the server: memory does not grow with the rows."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import postgres
from sqlalchemy import CursorResult, Engine, text

from pipeline.errors import UsageProblem
from pipeline.reports.export_place import CHANGED_SINCE, Place, here
from pipeline.reports.review import accept_from

# What may be exported, and in which order.
EXPORTS: Mapping[str, str] = {
    "invoices": "SELECT * FROM invoices WHERE <new> ORDER BY document_id",
    "invoice-lines": "SELECT * FROM invoice_lines WHERE <new> ORDER BY document_id, line_no",
    "invoice-taxes": "SELECT * FROM invoice_taxes WHERE <new> ORDER BY document_id, tax_no",
    "contracts": "SELECT * FROM contracts WHERE <new> ORDER BY document_id",
    "contract-parties": "SELECT * FROM contract_parties WHERE <new> ORDER BY document_id, party_no",
    "clauses": "SELECT * FROM clauses_v WHERE <new> ORDER BY document_id, clause_no",
    "fields": "SELECT * FROM fields_v WHERE <new> ORDER BY document_id, group_name, group_no, field, ordinal",
    "pages": "SELECT * FROM pages_v ORDER BY task_id, page_no",
    "attempts": "SELECT * FROM attempts_v ORDER BY task_id, attempt_no",
    "review": "SELECT * FROM review_queue",
}
# Those of which each row belongs to the result of one document: what is new of them can be told.
INCREMENTAL = tuple(name for name, query in EXPORTS.items() if "<new>" in query)
# Columns that hold all that was found, as JSON: a table has no place for them.
NESTED = frozenset({"fields", "checks"})
FETCH_ROWS = 200
_NEW = "document_id IN (SELECT current_results.document_id FROM current_results WHERE <changed>)"


class Kind(enum.Enum):
    """What the values of a column are; TEXT is also what anything else is written as."""

    INTEGER = enum.auto()
    DECIMAL = enum.auto()
    REAL = enum.auto()
    BOOLEAN = enum.auto()
    DATE = enum.auto()
    TIME = enum.auto()
    TEXT = enum.auto()


_KINDS: Mapping[str, Kind] = {
    "int2": Kind.INTEGER,
    "int4": Kind.INTEGER,
    "int8": Kind.INTEGER,
    "numeric": Kind.DECIMAL,
    "float4": Kind.REAL,
    "float8": Kind.REAL,
    "bool": Kind.BOOLEAN,
    "date": Kind.DATE,
    "timestamptz": Kind.TIME,
}


@dataclass(frozen=True, slots=True)
class Stream:
    """The columns of an export with their kinds, its rows, to be read once, and the place where the next goes on."""

    columns: Mapping[str, Kind]
    rows: Iterator[Mapping[str, Any]]
    place: Place

    @property
    def flat_columns(self) -> Mapping[str, Kind]:
        """The columns that a table has a place for."""
        return {name: kind for name, kind in self.columns.items() if name not in NESTED}


@contextmanager
def stream(
    engine: Engine, name: str, *, since: Place | dt.datetime | None = None, accept_at: float | None = None
) -> Iterator[Stream]:
    """The rows of an export as they are at this moment, whatever is written meanwhile, until the block ends.

    `accept_at` is how sure a field must be not to be reviewed; None is the database's default. With `since` only rows
    of documents whose result changed since a time, or that an export at a place may not have seen. Raises UsageProblem
    where that cannot be told.
    """
    if since is not None and name not in INCREMENTAL:
        raise UsageProblem(f"what is new of {name} cannot be told; --new-since is for {', '.join(INCREMENTAL)}")
    with engine.connect() as connection:
        # One snapshot for the rows and for the place of the next export.
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        # Whoever reads, a pager for example, may take longer between two fetches than a worker may in a transaction.
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        if accept_at is not None:
            accept_from(connection, accept_at)
        place = here(connection, name)
        if isinstance(since, Place):
            since = since if since.leads_to(place) else None
        condition, values = _condition(since)
        query = text(EXPORTS[name].replace("<new>", condition))
        options = {"stream_results": True, "yield_per": FETCH_ROWS}
        with closing(connection.execute(query, values, execution_options=options)) as result:
            yield Stream(_columns(result), (dict(row._mapping) for row in result), place)


def _condition(since: Place | dt.datetime | None) -> tuple[str, dict[str, Any]]:
    if since is None:
        return "true", {}
    if isinstance(since, Place):
        return _NEW.replace("<changed>", CHANGED_SINCE), {"snapshot": since.snapshot}
    return _NEW.replace("<changed>", "current_results.changed_at >= :since"), {"since": since}


def _columns(result: CursorResult[Any]) -> Mapping[str, Kind]:
    described: Any = result.cursor.description
    return {column.name: _kind(column.type_code) for column in described}


def _kind(oid: int) -> Kind:
    found = postgres.types.get(oid)
    return _KINDS.get(found.name, Kind.TEXT) if found is not None else Kind.TEXT

"""Everything of one view, row by row through a cursor on the server: memory does not grow with the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, text

# What may be exported, and in which order.
EXPORTS: Mapping[str, str] = {
    "invoices": "SELECT * FROM invoices ORDER BY document_id",
    "contracts": "SELECT * FROM contracts ORDER BY document_id",
    "pages": "SELECT * FROM pages_v ORDER BY task_id, page_no",
    "attempts": "SELECT * FROM attempts_v ORDER BY task_id, attempt_no",
}
# Columns that hold JSON: a table has no place for them.
NESTED = frozenset({"fields", "checks"})
FETCH_ROWS = 200


@dataclass(frozen=True, slots=True)
class Stream:
    """The columns of an export and its rows, to be read once."""

    columns: Sequence[str]
    rows: Iterator[Mapping[str, Any]]

    @property
    def flat_columns(self) -> Sequence[str]:
        """The columns that a table has a place for."""
        return [column for column in self.columns if column not in NESTED]


@contextmanager
def stream(engine: Engine, name: str) -> Iterator[Stream]:
    """The rows of an export as they are at this moment, whatever is written meanwhile, until the block ends."""
    with engine.connect() as connection:
        connection.execute(text("SET TRANSACTION READ ONLY"))
        # Whoever reads, a pager for example, may take longer between two fetches than a worker may in a transaction.
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        options = {"stream_results": True, "yield_per": FETCH_ROWS}
        with closing(connection.execute(text(EXPORTS[name]), execution_options=options)) as result:
            yield Stream(tuple(result.keys()), (dict(row._mapping) for row in result))

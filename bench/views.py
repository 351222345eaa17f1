"""How fast the query surface is: `python -m bench.views [--documents 100000] [--json]`

Fills an embedded PostgreSQL in a temporary folder with so many documents (bench/views.sql says which), then asks it
every question of docs/querying.md, all rows of each view, and of each view one document's. Milliseconds are the least
of three runs, fetched completely; what takes longer than two seconds runs once. `accepting` is what a result costs as
rows: the database's time to derive what is in force of one document.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, text

from pipeline.app import open_app
from pipeline.trials.home import trial

FILL = Path(__file__).with_name("views.sql")
QUERYING = Path(__file__).parents[1] / "docs" / "querying.md"
ROUNDS = 3
LONG_SECONDS = 2.0
SOME_DOCUMENT = 777

_OF_A_DOCUMENT = text("""
    SELECT table_name
    FROM information_schema.columns
    JOIN information_schema.views USING (table_schema, table_name)
    WHERE table_schema = current_schema()
        AND column_name = 'document_id'
    ORDER BY table_name
""")


def fill(connection: Connection, documents: int) -> float:
    """Make the documents; returns the seconds that deriving what is in force took for each."""
    connection.execute(text("SET statement_timeout = 0"))
    connection.execute(text("SET synchronous_commit = off"))
    for statement in FILL.read_text(encoding="utf-8").split("\n;\n"):
        if statement.strip():
            connection.execute(text(statement), {"documents": documents} if ":documents AS" in statement else {})
    connection.execute(text("ANALYZE"))
    started = time.perf_counter()
    connection.execute(text("SELECT count(refresh_current(document_id)) FROM documents"))
    seconds = time.perf_counter() - started
    connection.execute(text("VACUUM ANALYZE"))
    return seconds / documents


def questions(connection: Connection) -> Iterator[tuple[str, str]]:
    """What is asked, in words and in SQL."""
    page = QUERYING.read_text(encoding="utf-8")
    yield from re.findall(r"\n\n([^\n`|]+[?.])\n\n```sql\n(.*?)```", page, re.DOTALL)
    views = connection.execute(_OF_A_DOCUMENT).scalars().all()
    for view in views:
        yield f"{view}, one document", f"SELECT * FROM {view} WHERE document_id = {SOME_DOCUMENT}"
    for view in views:
        yield f"{view}, all", f"SELECT count(*), count(whole) FROM (SELECT {view} AS whole FROM {view}) AS everything"
    yield "review_documents, the first", "SELECT * FROM review_documents LIMIT 1"


def milliseconds(connection: Connection, query: str) -> tuple[float, int]:
    """The least time of a few runs, and the rows."""
    least, count = float("inf"), 0
    for _ in range(ROUNDS):
        started = time.perf_counter()
        count = len(connection.exec_driver_sql(query.replace("%", "%%")).all())
        least = min(least, time.perf_counter() - started)
        if least > LONG_SECONDS:
            break
    return least * 1000, count


def main() -> None:
    """Fill, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="doclease-views-") as folder:
        Path(folder).chmod(0o755)  # the server may run as another user
        with (
            trial(Path(folder), {}) as place,
            open_app(place.settings, name="bench") as app,
            app.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
        ):
            accepting = fill(connection, arguments.documents) * 1000
            asked = {words: milliseconds(connection, query) for words, query in questions(connection)}
    if arguments.json:
        print(json.dumps({"documents": arguments.documents, "accepting_ms": accepting, "asked": asked}))
        return
    print(f"{arguments.documents} documents; accepting: {accepting:.2f} ms each")
    for words, (least, count) in asked.items():
        print(f"{least:10.1f} ms {count:8d} rows  {words}")


if __name__ == "__main__":
    main()

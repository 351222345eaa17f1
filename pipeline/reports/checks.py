"""Whether the database can keep the promises: its version, its schema, its durability, the plans of the queue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, text

from pipeline import database
from pipeline.queue.statements import statement

# The index that a statement of the queue stands on, and values to plan it with.
_PLANS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "claim": ("tasks_ready", {"worker": "db check", "batch": 1, "suspects": True, "from_rank": 0}),
    "promote": ("tasks_delayed", {"batch": 500}),
    "sweep": (
        "tasks_processing",
        {
            "worker": "db check",
            "interval_seconds": 5.0,
            "batch": 500,
            "max_crashes": 3,
            "backoff_seconds": 5.0,
            "backoff_cap_seconds": 600.0,
        },
    ),
}
# Where a setting is off, a crash of the server or its machine can lose what was committed.
_DURABILITY = ("fsync", "full_page_writes", "synchronous_commit")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `advice` says what to do when it is not fine."""

    name: str
    found: str
    fine: bool
    advice: str = ""


def check(engine: Engine) -> list[Check]:
    """Look at all of it. Plans are checked only where the schema is the right one. Changes nothing."""
    revision, wanted = database.current_revision(engine), database.newest_revision()
    schema = Check("schema", revision or "none", revision == wanted, f"it must be {wanted}: doclease db upgrade")
    with engine.connect() as connection:
        found = [_version(connection), schema, *_durability(connection)]
        if schema.fine:
            found += _plans(connection)
        connection.rollback()
    return found


def _version(connection: Connection) -> Check:
    version = str(connection.execute(text("SHOW server_version")).scalar_one())
    major = int(connection.execute(text("SHOW server_version_num")).scalar_one()) // 10_000
    lowest, highest = database.SUPPORTED
    return Check("PostgreSQL", version, lowest <= major <= highest, f"doclease is tested with {lowest} to {highest}")


def _durability(connection: Connection) -> Iterator[Check]:
    for name in _DURABILITY:
        value = str(connection.execute(text("SELECT current_setting(:name)"), {"name": name}).scalar_one())
        yield Check(name, value, value != "off", f"turn it on: ALTER SYSTEM SET {name} = on")


def _plans(connection: Connection) -> Iterator[Check]:
    # On a small table, or one that was just restored, a scan or another index may be cheaper; what counts is whether
    # the index can be used at all. Without sorting, only an index in the order of the statement is left.
    for way in ("seqscan", "bitmapscan", "sort"):
        connection.execute(text(f"SET LOCAL enable_{way} = off"))
    for name, (index, values) in _PLANS.items():
        explained = text("EXPLAIN (FORMAT JSON) " + statement(name).text)
        plan = json.dumps(connection.execute(explained, values).scalar_one())
        uses = f'"{index}"' in plan
        yield Check(
            f"plan of {name}", index if uses else "no index", uses, f"index {index} is missing or invalid: REINDEX it"
        )

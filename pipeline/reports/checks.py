"""Whether the database can keep the promises: its version, its schema, its durability, the plans of the queue."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, text

from pipeline import database
from pipeline.queue.statements import statement

# The index that a statement of the queue stands on, and values to plan it with.
_PLANS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "claim": ("tasks_ready", {"worker": "db check", "batch": 1, "suspects": True, "from_rank": -(2**63)}),
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


class State(enum.StrEnum):
    """What a check came to, and whether a probe may fail for it."""

    FINE = "fine"
    ADVICE = "advice"  # documents go through and promises hold; somebody may want to change it all the same
    BROKEN = "broken"  # until somebody acts, a promise does not hold or documents do not move


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `advice` says in a line what to do when it is not fine."""

    name: str
    found: str
    state: State
    advice: str = ""

    @property
    def fine(self) -> bool:
        """Whether there is nothing to do."""
        return self.state is State.FINE


def judged(name: str, found: str, fine: bool, advice: str, *, otherwise: State = State.BROKEN) -> Check:
    """A check that is fine, or `otherwise`."""
    return Check(name, found, State.FINE if fine else otherwise, advice)


def check(engine: Engine, *, with_plans: bool = True) -> list[Check]:
    """Look at all of it. Plans are checked only where the schema is the right one. Changes nothing."""
    revision, wanted = database.current_revision(engine), database.newest_revision()
    schema = judged("schema", revision or "none", revision == wanted, f"it must be {wanted}: doclease db upgrade")
    with engine.connect() as connection:
        found = [_version(connection), schema, *_durability(connection)]
        if schema.fine and with_plans:
            found += plans(connection)
        connection.rollback()
    return found


def _version(connection: Connection) -> Check:
    version = str(connection.execute(text("SHOW server_version")).scalar_one())
    major = int(connection.execute(text("SHOW server_version_num")).scalar_one()) // 10_000
    lowest, highest = database.SUPPORTED
    return judged("PostgreSQL", version, lowest <= major <= highest, f"doclease is tested with {lowest} to {highest}")


def _durability(connection: Connection) -> Iterator[Check]:
    for name in _DURABILITY:
        value = str(connection.execute(text("SELECT current_setting(:name)"), {"name": name}).scalar_one())
        yield judged(name, value, value != "off", f"turn it on: ALTER SYSTEM SET {name} = on")


def plans(connection: Connection) -> Iterator[Check]:
    """Whether claim, sweep and promote can use their indexes. Asks for the rights of a worker."""
    # On a small table, or one that was just restored, a scan or another index may be cheaper; what counts is whether
    # the index can be used at all. Without sorting, only an index in the order of the statement is left.
    for way in ("seqscan", "bitmapscan", "sort"):
        connection.execute(text(f"SET LOCAL enable_{way} = off"))
    for name, (index, values) in _PLANS.items():
        explained = text("EXPLAIN (FORMAT JSON) " + statement(name).text)
        plan = json.dumps(connection.execute(explained, values).scalar_one())
        uses = f'"{index}"' in plan
        yield judged(
            f"plan of {name}", index if uses else "no index", uses, f"index {index} is missing or invalid: REINDEX it"
        )

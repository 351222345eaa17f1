"""An intake on the test database, and what tests ask of the rows it leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from pipeline.config import LimitSettings
from pipeline.documents import formats
from pipeline.documents.archive import Archive
from pipeline.documents.contract import Inspection, Means
from pipeline.documents.identify import inspect
from pipeline.intake.recipe import Intake
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.model import Outcome, Usage
from pipeline.queue.settle import Decision, Limits
from pipeline.queue.states import Status
from pipeline.queue.store import Queue

AGING_MS = 600_000


def build_intake(
    engine: Engine,
    store: Path,
    *,
    inspect: Callable[[Path, str], Inspection] | None = None,
    limits: LimitSettings | None = None,
    notify: Callable[[], None] = lambda: None,
    kind: type[Intake] = Intake,
) -> Intake:
    """An intake that looks into files in this process, where nothing comes from outside."""
    return kind(
        engine=engine,
        queue=Queue(engine, limits=Limits(), aging_ms=AGING_MS),
        archive=Archive(store),
        inspect=inspect or in_process(),
        policy=lambda _: LeasePolicy(),
        limits=limits or LimitSettings(),
        notify=notify,
    )


def in_process() -> Callable[[Path, str], Inspection]:
    """The inspection of all formats there are."""
    kinds = formats.discover()

    def look(path: Path, name: str) -> Inspection:
        with path.open("rb") as file:
            return inspect(file, name, kinds, Means())

    return look


def rows(engine: Engine, query: str, **values: Any) -> list[Any]:
    """What the database answers; a list of plain values if the query has one column."""
    with engine.connect() as connection:
        found = connection.execute(text(query), values).all()
    return [row[0] if len(row) == 1 else tuple(row) for row in found]


def count(engine: Engine, table: str) -> int:
    """How many rows a table has."""
    return int(rows(engine, f"SELECT count(*) FROM {table}")[0])


def succeed_all(queue: Queue) -> None:
    """Complete whatever is in line."""
    for claim in queue.claim("worker-of-tests", batch=1000):
        with queue.completing(claim, reason="ok", pages_done=claim.page_count, result={}, usage=Usage()):
            pass


def fail_all(queue: Queue, reason: str = "corrupt", error: str = "page 3 is no page") -> None:
    """Let whatever is in line fail for good."""
    for claim in queue.claim("worker-of-tests", batch=1000):
        queue.fail(claim, Decision(Status.FAILED, Outcome.FAILED, failures=1), reason=reason, error=error)

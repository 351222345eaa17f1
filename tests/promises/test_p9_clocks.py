"""P9: clocks of workers do not matter: every lease is granted and judged by the database's clock."""

from __future__ import annotations

import datetime as dt
import inspect
import re
import time
from dataclasses import fields
from typing import Any

import pytest
from sqlalchemy import Engine, event

from pipeline.queue import statements
from pipeline.queue.model import NewTask, Usage
from pipeline.queue.settle import Decision, Fault
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import rows
from tests.tasks import add_task

TOKEN = {"task_id", "lease_token"}
NEW_TASK = {field.name for field in fields(NewTask)} | {"aging_ms"}
USAGE = {field.name for field in fields(Usage)}
BOUND: dict[str, set[str]] = {
    "attend": {"worker", "host", "session_pid", "returned"},
    "calibrate": set(),
    "cancel": {"task_id"},
    "checkpoint": TOKEN | {"pages_done", "pages_stored", "lease_seconds"},
    "claim": {"worker", "batch", "suspects", "from_rank"},
    "complete": {"completions"},
    "enqueue": NEW_TASK,
    "enqueue_all": {"tasks", "aging_ms"},
    "fail": TOKEN | USAGE | {field.name for field in fields(Decision)} | {"reason", "error", "page_no"},
    "held": {"worker"},
    "late_finish": TOKEN,
    "leave": {"worker"},
    "live": set(),
    "look": set(),
    "outcome": TOKEN,
    "promote": {"batch"},
    "rates": {"handler"},
    "reject": (NEW_TASK - {"ocr_page_count"}) | {"status", "reason", "error"},
    "retry": {"task_id"},
    "shorten": {"worker", "interval_seconds", "patience_seconds", "unrest_seconds"},
    "state": {"task_id"},
    "sweep": {
        "worker",
        "interval_seconds",
        "batch",
        "max_crashes",
        "backoff_seconds",
        "backoff_cap_seconds",
    },
}
WALL_CLOCKS = (
    r"\b(now|clock_timestamp|statement_timestamp|transaction_timestamp)\s*\(|\bCURRENT_(TIMESTAMP|TIME|DATE)\b"
)


def _code(name: str) -> str:
    whole = (statements.FOLDER / f"{name}.sql").read_text(encoding="utf-8")
    return re.sub(r"--[^\n]*", "", whole)


def test_every_statement_is_known_here() -> None:
    assert {path.stem for path in statements.FOLDER.glob("*.sql")} == set(BOUND)


@pytest.mark.parametrize("name", BOUND)
def test_a_statement_binds_what_its_method_passes_and_no_time(name: str) -> None:
    bound = {str(key) for key in statements.statement(name).compile().params}
    assert bound == BOUND[name]


def test_a_completion_brings_what_its_method_passes_and_no_time() -> None:
    (brought,) = re.findall(r"AS brought \((.*?)\n    \)", _code("complete"), re.DOTALL)
    columns = {column.split()[0] for column in brought.split(",")}
    assert columns == TOKEN | USAGE | {"reason", "pages_done", "pages_stored", "result"}


@pytest.mark.parametrize("name", BOUND)
def test_a_statement_reads_no_clock_but_the_queues(name: str) -> None:
    assert re.findall(WALL_CLOCKS, re.sub(r"\bqueue_(now|clock)\(\)", "", _code(name)), re.IGNORECASE) == []


@pytest.mark.parametrize("name", BOUND)
def test_a_cast_never_hides_a_parameter(name: str) -> None:
    assert "::" not in _code(name)


@pytest.mark.parametrize("name", BOUND)
def test_a_status_is_a_literal(name: str) -> None:
    # fail.sql is told where the task goes, but even there the status that is searched for is a literal.
    assert re.findall(r"\bstatus\s*(?:=|IN)\s*\(?\s*:", _code(name)) == []


def test_no_parameter_of_the_queue_is_a_point_in_time() -> None:
    for _, method in inspect.getmembers(Queue, inspect.isfunction):
        assert "datetime" not in str(inspect.signature(method))


def test_a_whole_life_of_a_task_sends_no_time(engine: Engine, queue: Queue, clock: Clock) -> None:
    sent: list[Any] = []

    def collect(_connection: object, _cursor: object, _statement: str, parameters: Any, *_rest: object) -> None:
        sent.extend(parameters.values() if isinstance(parameters, dict) else parameters)

    event.listen(engine, "before_cursor_execute", collect)
    task_id = add_task(engine, queue)
    for fault in (Fault.CRASH, Fault.TRANSIENT, Fault.RELEASE):
        (claim,) = queue.claim("worker-1")
        rows.checkpoint(queue, claim)
        rows.fail(queue, claim, fault)
        clock.advance(minutes=30)
        queue.promote()
    queue.claim("worker-1")
    clock.advance(minutes=5)
    assert rows.sweep(queue) == {task_id: "delayed"}
    clock.advance(minutes=30)
    queue.promote()
    (claim,) = queue.claim("worker-1")
    rows.complete(queue, claim)
    queue.calibrate()
    assert len(sent) > 50
    assert [value for value in sent if isinstance(value, dt.date | dt.time | dt.timedelta)] == []
    now = time.time()
    near = [value for value in sent if isinstance(value, int | float) and abs(value / 1000 - now) < 10**8]
    assert near == [], "nor a time in disguise"


def test_a_lease_is_granted_and_judged_by_one_clock_however_wrong(engine: Engine, queue: Queue, clock: Clock) -> None:
    """The database's clock is a year off from every worker's, and nothing is early or late for it."""
    clock.advance(minutes=525_600)
    task_id = add_task(engine, queue, lease_seconds=15)
    (claim,) = queue.claim("worker-1")
    assert claim.lease_seconds == 15
    assert 14 < rows.checkpoint(queue, claim, lease_seconds=15) <= 15
    assert rows.sweep(queue) == {}
    clock.advance(seconds=16)
    assert rows.sweep(queue) == {task_id: "enqueued"}

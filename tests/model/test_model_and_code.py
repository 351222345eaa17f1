"""The model and the code say the same: the moves are those of the table, the guards stand in the statements, and the
real statements, driven at random beside the model, never take a step that it does not have."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from pipeline.queue.statements import FOLDER
from pipeline.queue.states import TRANSITIONS, Status
from pipeline.queue.store import Queue
from tests.conftest import AGING_MS, empty
from tests.model.lease import EVERY_END, FEW, Setting
from tests.model.lease_surroundings import CANCELLED_AT_ONCE, RETRIED
from tests.model.lockstep import Lockstep
from tests.tasks import add_task

WALKS, STEPS = 40, 40
HELD = "WHERE task_id = :task_id AND lease_token = :lease_token AND status = 'processing'"
BROUGHT = (
    "AND tasks.task_id = brought.task_id AND tasks.lease_token = brought.lease_token AND tasks.status = 'processing'"
)
PICKED = "FOR NO KEY UPDATE SKIP LOCKED )"

# What the model takes for granted of each statement, in its words.
GUARDS = {
    "claim": [
        "WHERE status = 'enqueued'",
        PICKED,
        "attempt_no = attempt_no + 1",
        "lease_token = gen_random_uuid()",
    ],
    "checkpoint": [
        f"{HELD} AND pages_done >= CAST(:pages_stored AS integer)",
        "lease_expires_at = LEAST(",
        "deadline_at)",
        "pages_done = GREATEST(pages_done, CAST(:pages_done AS integer))",
    ],
    "complete": [f"{BROUGHT} AND tasks.pages_done >= brought.pages_stored", "SET outcome = 'succeeded'", "result ="],
    "fail": [f"{HELD} FOR NO KEY UPDATE )", "WHEN cancel_requested AND", "lease_token = NULL"],
    "sweep": [
        "WHERE status = 'processing' AND lease_expires_at < (SELECT judged_at FROM previous)",
        PICKED,
        "WHEN cancel_requested THEN 'cancelled'",
        "WHEN charged AND crash_count + 1 >= CAST(:max_crashes AS integer) THEN 'quarantined'",
        "WHEN charged AND crash_count >= 1 THEN 'delayed' ELSE 'enqueued'",
        "WHEN outage THEN last_ok_at ELSE queue_now()",
        "lease_token = NULL",
    ],
    "promote": ["WHERE status = 'delayed'", PICKED],
    "retry": ["crash_count = 0", "failure_count = 0", "release_count = 0", "cancel_requested = false"],
    "cancel": ["CASE WHEN status = 'processing' THEN status ELSE 'cancelled' END", "cancel_requested = true"],
}


def _code(name: str) -> str:
    """A statement on one line, without comments."""
    return " ".join(re.sub(r"--[^\n]*", "", (FOLDER / f"{name}.sql").read_text(encoding="utf-8")).split())


def _moved_from(name: str) -> set[Status]:
    """The statuses in the last condition of a statement of an operator."""
    (listed,) = re.findall(r"AND status IN \(([^)]*)\)", _code(name))
    return {Status(each.strip(" '")) for each in listed.split(",")}


@pytest.mark.parametrize(("name", "guards"), GUARDS.items(), ids=GUARDS.keys())
def test_a_guard_of_the_model_stands_in_its_statement(name: str, guards: list[str]) -> None:
    assert [guard for guard in guards if guard not in _code(name)] == []


def test_the_model_knows_every_statement_that_moves_a_task() -> None:
    moving = {path.stem for path in FOLDER.glob("*.sql") if re.search(r"UPDATE tasks SET status =", _code(path.stem))}
    named = {name for names in TRANSITIONS.values() for name in names.split(", ")} - {"release"}
    assert moving == named == GUARDS.keys() - {"checkpoint"}


def test_nothing_but_a_claim_changes_the_number_of_an_attempt() -> None:
    writing = {path.stem for path in FOLDER.glob("*.sql") if re.search(r"[,T] attempt_no = ", _code(path.stem))}
    assert writing == {"claim"}


def test_an_operator_moves_what_the_model_lets_him_move() -> None:
    assert _moved_from("retry") == RETRIED
    assert _moved_from("cancel") == CANCELLED_AT_ONCE | {Status.PROCESSING}


def test_the_statements_take_no_step_that_the_model_does_not_have(engine: Engine) -> None:
    limits = replace(FEW, max_crashes=3)
    setting = Setting(
        workers=3, tasks=2, pages=2, sweepers=0, limits=limits, ends=EVERY_END, operator=STEPS, in_company=True
    )
    queue = Queue(engine, limits=replace(limits, backoff_seconds=0), aging_ms=AGING_MS)
    lockstep = Lockstep(queue, engine, setting, random.Random(1))  # noqa: S311 - walks that can be repeated
    for _ in range(WALKS):
        empty(engine)
        lockstep.walk([add_task(engine, queue, pages=setting.pages) for _ in range(setting.tasks)], steps=STEPS)
    assert lockstep.moves == TRANSITIONS.keys()

"""Every move of tasks.status is in one table, in Python and in the database."""

from __future__ import annotations

import itertools
import re

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from pipeline.queue import statements
from pipeline.queue.states import FINAL, TRANSITIONS, Status
from pipeline.queue.store import Queue
from tests.queue import rows
from tests.tasks import add_task

LEASE = "lease_token = gen_random_uuid(), lease_holder = 'somebody', lease_expires_at = now(), deadline_at = now()"
NO_LEASE = "lease_token = NULL, lease_holder = NULL, lease_expires_at = NULL, deadline_at = NULL"


def _columns(status: Status) -> str:
    """What else must be set so that only the move itself can be refused."""
    return ", ".join(
        [
            f"status = '{status}'",
            LEASE if status is Status.PROCESSING else NO_LEASE,
            "not_before = now()" if status is Status.DELAYED else "not_before = NULL",
            "finished_at = now(), reason = 'ok'" if status in FINAL else "finished_at = NULL",
        ]
    )


def _put(engine: Engine, queue: Queue, status: Status) -> int:
    """A task that stands there, whatever the way."""
    task_id = add_task(engine, queue)
    rows.change(engine, "ALTER TABLE tasks DISABLE TRIGGER tasks_guard")
    rows.change(engine, f"UPDATE tasks SET {_columns(status)} WHERE task_id = :id", id=task_id)
    rows.change(engine, "ALTER TABLE tasks ENABLE TRIGGER tasks_guard")
    return task_id


@pytest.mark.parametrize("before", list(Status))
def test_the_database_allows_exactly_the_moves_of_the_table(engine: Engine, queue: Queue, before: Status) -> None:
    allowed = set()
    for after in Status:
        task_id = _put(engine, queue, before)
        move = f"UPDATE tasks SET {_columns(after)} WHERE task_id = :id"
        if before is after:
            continue
        try:
            rows.change(engine, move, id=task_id)
        except IntegrityError as error:
            assert f"may not move from {before} to {after}" in str(error)  # noqa: PT017 - which refusal matters
        else:
            allowed.add(after)
        rows.change(engine, "DELETE FROM tasks")
    assert allowed == {after for start, after in TRANSITIONS if start is before}


def test_a_final_task_moves_only_by_an_operators_retry() -> None:
    moves = {name for (before, _), name in TRANSITIONS.items() if before in FINAL}
    assert moves == {"retry"}
    assert not any(before is Status.SUCCEEDED for before, _ in TRANSITIONS)


def test_from_every_status_a_final_one_can_be_reached() -> None:
    for status in set(Status) - FINAL:
        seen: set[Status] = set()
        found = {status}
        while found - seen:
            seen |= found
            found = {after for before, after in TRANSITIONS if before in seen} | seen
        assert seen & FINAL


@pytest.mark.parametrize(
    ("move", "name"),
    [(move, name.strip()) for move, names in TRANSITIONS.items() for name in names.split(",")],
    ids=str,
)
def test_the_statement_that_makes_a_move_exists(move: tuple[Status, Status], name: str) -> None:
    name = "fail" if name == "release" else name  # giving back is an end of an attempt like others
    code = re.sub(r"--[^\n]*", "", (statements.FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
    assert f"'{move[1]}'" in code or ":status" in code


def test_the_number_of_attempts_is_never_lowered(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    queue.claim("worker-1")
    with pytest.raises(IntegrityError, match="never lowered"):
        rows.change(engine, "UPDATE tasks SET attempt_no = 0 WHERE task_id = :id", id=task_id)


def test_a_token_cannot_change_while_the_task_is_in_work(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    queue.claim("worker-1")
    with pytest.raises(IntegrityError, match="changes hands"):
        rows.change(engine, "UPDATE tasks SET lease_token = gen_random_uuid() WHERE task_id = :id", id=task_id)


@pytest.mark.parametrize("column", ["lease_token", "lease_holder", "lease_expires_at", "deadline_at"])
def test_a_task_in_work_always_has_a_whole_lease(engine: Engine, queue: Queue, column: str) -> None:
    add_task(engine, queue)
    queue.claim("worker-1")
    with pytest.raises(IntegrityError, match="processing_has_a_lease"):
        rows.change(engine, f"UPDATE tasks SET {column} = NULL")


@pytest.mark.parametrize(
    "column",
    ["lease_token = gen_random_uuid()", "lease_holder = 'x'", "lease_expires_at = now()", "deadline_at = now()"],
)
@pytest.mark.parametrize("status", sorted(set(Status) - {Status.PROCESSING}))
def test_a_task_not_in_work_has_no_part_of_a_lease(engine: Engine, queue: Queue, status: Status, column: str) -> None:
    _put(engine, queue, status)
    with pytest.raises(IntegrityError, match="only_processing_has_a_lease"):
        rows.change(engine, f"UPDATE tasks SET {column}")


@pytest.mark.parametrize("status", list(Status))
def test_a_task_has_an_end_exactly_when_it_is_over(engine: Engine, queue: Queue, status: Status) -> None:
    _put(engine, queue, status)
    wrong = "finished_at = NULL" if status in FINAL else "finished_at = now(), reason = 'ok'"
    with pytest.raises(IntegrityError, match="final_has_an_end"):
        rows.change(engine, f"UPDATE tasks SET {wrong}")


@pytest.mark.parametrize("status", sorted(FINAL))
def test_a_task_that_is_over_has_a_reason(engine: Engine, queue: Queue, status: Status) -> None:
    _put(engine, queue, status)
    with pytest.raises(IntegrityError, match="final_has_a_reason"):
        rows.change(engine, "UPDATE tasks SET reason = NULL")


@pytest.mark.parametrize(("first", "second"), list(itertools.product(sorted(set(Status) - FINAL), repeat=2)))
def test_a_document_has_one_live_task(engine: Engine, queue: Queue, first: Status, second: Status) -> None:
    one, other = _put(engine, queue, first), _put(engine, queue, second)
    with pytest.raises(IntegrityError, match="tasks_one_live"):
        rows.change(
            engine,
            "UPDATE tasks SET document_id = (SELECT document_id FROM tasks WHERE task_id = :one)"
            " WHERE task_id = :other",
            one=one,
            other=other,
        )

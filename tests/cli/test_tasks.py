"""`doclease tasks` lists, explains, retries and cancels."""

from __future__ import annotations

import json

from sqlalchemy import Engine

from pipeline.queue.model import Outcome
from pipeline.queue.settle import Decision
from pipeline.queue.states import Status
from pipeline.queue.store import Queue
from tests.cli.conftest import Doclease, rows_of
from tests.conftest import Clock
from tests.stories import checkpoint, claim, document_of, enqueue_again, finish, page, read
from tests.tasks import add_task

FAILED = Decision(Status.FAILED, Outcome.FAILED, failures=1)
DELAYED = Decision(Status.DELAYED, Outcome.FAILED, delay_seconds=60, failures=1)


def fail(queue: Queue, task_id: int, decision: Decision = FAILED, *, reason: str = "corrupt") -> None:
    queue.fail(claim(queue, task_id), decision, reason=reason, error="no parser can open it", page_no=1)


def test_tasks_are_listed_by_status_and_batch(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["one"], batch="may")
    waiting = add_task(engine, queue)
    found = rows_of(doclease("tasks", "list", "--status", "enqueued", "--format", "json"))
    assert [row["task_id"] for row in found] == [waiting]
    found = rows_of(doclease("tasks", "list", "--batch", "may", "--format", "json"))
    assert [row["status"] for row in found] == ["succeeded"]


def test_the_limit_keeps_the_newest(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    newest = [add_task(engine, queue) for _ in range(3)][1:]
    found = rows_of(doclease("tasks", "list", "--limit", "2", "--format", "json"))
    assert sorted(row["task_id"] for row in found) == newest


def test_nothing_found_says_so_and_exits_4(doclease: Doclease) -> None:
    result = doclease("tasks", "list", "--format", "json", exit_code=4)
    assert json.loads(result.stdout) == []
    assert result.stderr.startswith("error: no task matches")
    assert doclease("tasks", "list", exit_code=4).stdout == ""
    assert "there is no task 99" in doclease("tasks", "show", "99", exit_code=4).stderr


def test_an_id_beyond_any_is_a_usage_error(doclease: Doclease) -> None:
    doclease("tasks", "show", str(2**63), exit_code=2)


def test_a_task_is_shown_with_its_attempts(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    fail(queue, task_id)
    shown = json.loads(doclease("tasks", "show", str(task_id), "--format", "json").stdout)
    assert (shown["status"], [row["outcome"] for row in shown["attempts"]]) == ("failed", ["failed"])
    table = doclease("tasks", "show", str(task_id)).stdout
    assert "host/1/aa" in table
    assert "lease_seconds" in table


def test_the_place_in_line_is_told(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    add_task(engine, queue, pages=41, priority=10)
    task_id = add_task(engine, queue, pages=20, lease_seconds=20, deadline_seconds=80)
    told = doclease("tasks", "explain", str(task_id)).stdout
    assert "number 2 in line; 1 task of 41 pages before it" in told
    assert "Its lease is 20 s = 10 s + 0.5 s x 20 pages, at least 15 s" in told
    assert "The whole attempt may take 1 min 20 s." in told


def test_a_lease_of_other_settings_is_told_apart(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    told = doclease("tasks", "explain", str(add_task(engine, queue, pages=200, lease_seconds=17))).stdout
    assert "Its lease is 17 s, fixed when it was taken in" in told
    assert "35 s = 10 s + 0.5 s x 50 pages" in told
    assert "covers the next 50 of its 200 pages" in told


def test_work_in_hand_is_told_with_what_happens_next(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue, pages=200, lease_seconds=20)
    held = claim(queue, task_id)
    checkpoint(engine, queue, held, [page(number, "words") for number in range(1, 41)], lease_seconds=3000)
    told = doclease("tasks", "explain", str(task_id)).stdout
    assert "worker host/1/aa began at page 1" in told
    assert "in work, 40 pages done, renewed once" in told
    assert "(in 49 min" in told or "(in 50 min" in told
    assert "the sweeper takes it back; the next attempt starts at page 41" in told


def test_a_lost_attempt_and_its_late_finish_are_told(
    doclease: Doclease, engine: Engine, queue: Queue, clock: Clock
) -> None:
    task_id = add_task(engine, queue, pages=4)
    held = claim(queue, task_id)
    checkpoint(engine, queue, held, [page(1, "one"), page(2, "two")], lease_seconds=15)
    clock.advance(seconds=20)
    assert queue.sweep(worker="sweeper", interval_seconds=5).taken
    queue.late_finish(held)
    read(engine, queue, task_id, ["one", "two", "three", "four"])
    told = doclease("tasks", "explain", str(task_id)).stdout
    assert "lost at page 3, 2 pages done" in told
    assert "20 s after its last progress" in told
    assert "nothing of that was accepted" in told
    assert "Attempt 2: worker host/1/aa began at page 3" in told
    assert "2 pages of earlier attempts reused" in told
    assert "succeeded" in told
    assert "crashes 1 of 3" in told


def test_an_expired_lease_is_told_before_anybody_swept(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    held = claim(queue, task_id)
    checkpoint(engine, queue, held, [page(1, "one")], lease_seconds=-30)
    told = doclease("tasks", "explain", str(task_id)).stdout
    assert "Next: its lease ran out 3" in told
    assert "the next attempt starts at page 2" in told


def test_a_failure_is_told_with_what_to_do(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    fail(queue, task_id)
    told = doclease("tasks", "explain", str(task_id)).stdout
    assert "failed on page 1 after" in told
    assert "corrupt (no parser can open it)" in told
    assert "Open it in a viewer" in told
    assert f"doclease tasks retry {task_id}" in told


def test_a_delay_is_told_with_its_end(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    fail(queue, task_id, DELAYED, reason="io_error")
    told = doclease("tasks", "explain", str(task_id)).stdout
    assert "it waits until" in told
    assert "reason: io_error" in told


def test_failed_tasks_are_retried_by_reason(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    other = add_task(engine, queue)
    fail(queue, other, reason="needs_password")
    task_id = add_task(engine, queue)
    fail(queue, task_id, reason="corrupt")
    assert doclease("tasks", "retry", "--reason", "corrupt").stdout == f"task {task_id} is enqueued\n"
    assert (queue.state(task_id).status, queue.state(other).status) == (Status.ENQUEUED, Status.FAILED)
    doclease("tasks", "retry", "--status", "quarantined", exit_code=4)


def test_a_retry_does_what_it_can_and_tells_the_rest(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue)
    fail(queue, task_id)
    waiting = add_task(engine, queue)
    result = doclease("tasks", "retry", str(waiting), "999999", str(task_id), exit_code=1)
    assert result.stdout == f"task {task_id} is enqueued\n"
    assert f"task {waiting} is enqueued" in result.stderr
    assert "there is no task 999999" in result.stderr
    assert "there is no task 999999" in doclease("tasks", "cancel", "999999", exit_code=4).stderr


def test_a_retry_leaves_a_document_alone_that_has_a_newer_task(
    doclease: Doclease, engine: Engine, queue: Queue
) -> None:
    old = add_task(engine, queue)
    fail(queue, old)
    enqueue_again(engine, queue, document_of(engine, old))
    assert "has a newer task" in doclease("tasks", "retry", str(old), exit_code=1).stderr
    assert queue.state(old).status == Status.FAILED


def test_retry_and_cancel_want_to_know_which(doclease: Doclease) -> None:
    doclease("tasks", "retry", exit_code=2)
    doclease("tasks", "retry", "1", "--status", "failed", exit_code=2)
    doclease("tasks", "cancel", exit_code=2)


def test_a_batch_is_cancelled(doclease: Doclease, engine: Engine, queue: Queue) -> None:
    finish(engine, queue, ["done"], batch="may")
    working, waiting, other = (add_task(engine, queue) for _ in range(3))
    held = queue.claim("host/1/aa")
    assert [each.task_id for each in held] == [working]
    for task_id in (working, waiting):
        document_of(engine, task_id, batch="may")
    told = doclease("tasks", "cancel", "--batch", "may").stdout.splitlines()
    assert told == [
        f"task {working} is processing; it stops at its next checkpoint",
        f"task {waiting} is cancelled",
    ]
    assert queue.state(other).status == Status.ENQUEUED
    assert "asked to cancel" in doclease("tasks", "explain", str(working)).stdout

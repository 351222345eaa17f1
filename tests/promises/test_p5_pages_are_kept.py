"""P5: pages finished by a dead attempt are not done again. The database's half: counts and rows of pages survive."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError

from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim, Usage
from pipeline.queue.settle import Fault
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import rows
from tests.tasks import add_task


def _write_page(connection: Connection, claim: Claim, page_no: int, *, source: str = "native") -> None:
    connection.execute(
        text(
            "INSERT INTO pages (task_id, page_no, attempt_no, text, source, engine, seconds, identifiers)"
            " VALUES (:task_id, :page_no, :attempt_no, 'text', :source, 'plain', 0, '')"
        ),
        {"task_id": claim.task_id, "page_no": page_no, "attempt_no": claim.attempt_no, "source": source},
    )


def _pages(engine: Engine, claim: Claim) -> list[tuple[int, int]]:
    query = text("SELECT page_no, attempt_no FROM pages WHERE task_id = :task_id ORDER BY page_no")
    with engine.connect() as connection:
        return [(row.page_no, row.attempt_no) for row in connection.execute(query, {"task_id": claim.task_id})]


def _finish_pages(queue: Queue, claim: Claim, *, last: int) -> None:
    for page_no in range(claim.pages_done + 1, last + 1):
        with queue.checkpointing(claim, pages_done=page_no, lease_seconds=15) as (connection, _):
            _write_page(connection, claim, page_no)


def _forget_page_two(engine: Engine) -> None:
    """What a failover to a replica that lacked the last commit leaves."""
    rows.change(engine, "DELETE FROM pages WHERE page_no = 2")
    rows.change(engine, "UPDATE tasks SET pages_done = 1")


def _finish_together(queue: Queue, claim: Claim, sources: list[str]) -> None:
    with queue.checkpointing(claim, pages_done=len(sources), lease_seconds=15) as (connection, _):
        for page_no, source in enumerate(sources, start=1):
            _write_page(connection, claim, page_no, source=source)


def test_the_next_attempt_starts_after_the_last_finished_page(engine: Engine, queue: Queue, clock: Clock) -> None:
    add_task(engine, queue, pages=5)
    (dead,) = queue.claim("dead")
    _finish_pages(queue, dead, last=3)
    clock.advance(minutes=1)
    rows.sweep(queue)
    (next_one,) = queue.claim("other")
    assert next_one.pages_done == 3
    _finish_pages(queue, next_one, last=5)
    rows.complete(queue, next_one)
    assert _pages(engine, next_one) == [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)]
    first, second = rows.attempts(engine, next_one.task_id)
    assert (first.pages_done, second.pages_reused, second.pages_done) == (3, 3, 5)


@pytest.mark.parametrize("fault", [Fault.TRANSIENT, Fault.CRASH, Fault.RELEASE])
def test_finished_pages_survive_every_kind_of_end(engine: Engine, queue: Queue, clock: Clock, fault: Fault) -> None:
    add_task(engine, queue, pages=5)
    (claim,) = queue.claim("worker-1")
    _finish_pages(queue, claim, last=2)
    rows.fail(queue, claim, fault)
    clock.advance(minutes=30)
    queue.promote()
    (again,) = queue.claim("worker-2")
    assert again.pages_done == 2


def test_an_operators_retry_keeps_the_finished_pages(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue, pages=5)
    (claim,) = queue.claim("worker-1")
    _finish_pages(queue, claim, last=2)
    rows.fail(queue, claim, Fault.PERMANENT)
    queue.retry(task_id)
    (again,) = queue.claim("worker-1")
    assert (again.pages_done, again.attempt_no) == (2, 2)


def test_a_page_and_its_count_are_committed_together(engine: Engine, queue: Queue) -> None:
    task_id = add_task(engine, queue, pages=5)
    (claim,) = queue.claim("worker-1")
    with pytest.raises(IntegrityError, match="a_gap_names_its_error"):
        _finish_together(queue, claim, ["native", "none"])
    assert (rows.task(engine, task_id).pages_done, _pages(engine, claim)) == (0, [])


def test_a_lost_worker_stores_no_page(engine: Engine, queue: Queue, clock: Clock) -> None:
    add_task(engine, queue, pages=5)
    (stale,) = queue.claim("stale")
    clock.advance(minutes=1)
    rows.sweep(queue)
    queue.claim("other")
    with pytest.raises(LeaseLost):
        _finish_pages(queue, stale, last=1)
    assert _pages(engine, stale) == []


def test_no_checkpoint_goes_on_from_a_page_that_a_failover_forgot(engine: Engine, queue: Queue) -> None:
    add_task(engine, queue, pages=3)
    (claim,) = queue.claim("worker-1")
    _finish_pages(queue, claim, last=2)
    _forget_page_two(engine)
    with (
        pytest.raises(LeaseLost),
        queue.checkpointing(claim, pages_done=3, pages_stored=2, lease_seconds=15) as (connection, _),
    ):
        _write_page(connection, claim, 3)
    assert _pages(engine, claim) == [(1, 1)]


def test_no_result_is_accepted_without_a_page_that_a_failover_forgot(engine: Engine, queue: Queue) -> None:
    add_task(engine, queue, pages=3)
    (claim,) = queue.claim("worker-1")
    _finish_pages(queue, claim, last=2)
    _forget_page_two(engine)
    completing = queue.completing(claim, reason="ok", pages_done=3, pages_stored=2, result={}, usage=Usage())
    with pytest.raises(LeaseLost), completing:
        pass
    assert rows.status(engine, claim.task_id) == "processing"
    assert _pages(engine, claim) == [(1, 1)]

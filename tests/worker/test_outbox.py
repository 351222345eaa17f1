"""Results that share a commit are accepted and refused one by one, once each, whatever happens to the commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from pipeline.queue.model import Claim
from pipeline.queue.store import Queue
from pipeline.worker.outbox import Outbox
from tests.conftest import Clock
from tests.tasks import add_task
from tests.worker.desk import Desk, page

WORKER = "worker-1"


@pytest.fixture
def desk(engine: Engine, queue: Queue, tmp_path: Path) -> Desk:
    """What a slot works with."""
    return Desk(engine, queue, tmp_path)


def _claimed(engine: Engine, queue: Queue, tasks: int) -> list[Claim]:
    for _ in range(tasks):
        add_task(engine, queue)
    return queue.claim(WORKER, batch=tasks)


def _rows(engine: Engine, table: str) -> list[tuple[Any, ...]]:
    """Task and attempt of every row."""
    with engine.connect() as connection:
        query = text(f"SELECT task_id, attempt_no FROM {table} ORDER BY task_id")
        return [tuple(row) for row in connection.execute(query)]


def _ends(engine: Engine) -> list[tuple[Any, ...]]:
    query = "SELECT outcome, reason, late_finish_at IS NOT NULL FROM attempts ORDER BY task_id, attempt_no"
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def _filled(desk: Desk, claims: list[Claim]) -> Outbox:
    outbox = Outbox(desk.equipment, desk.stopping)
    for claim in claims:
        outbox.put(desk.read(claim))
    return outbox


def test_what_waits_together_is_committed_together_each_with_all_it_has(
    engine: Engine, queue: Queue, desk: Desk
) -> None:
    claims = _claimed(engine, queue, 3)
    outbox = _filled(desk, claims)
    outbox.tend()
    assert _rows(engine, "pages") == []
    outbox.flush()
    outbox.flush()
    expected = [(claim.task_id, 1) for claim in claims]
    assert all(_rows(engine, table) == expected for table in ("pages", "field_groups", "clauses"))
    assert _ends(engine) == [("succeeded", "ok", False)] * 3
    with engine.connect() as connection:
        found = connection.execute(text("SELECT task_id, (result->>'task')::int, xmin::text FROM attempts")).all()
    assert all(row[0] == row[1] for row in found)
    assert len({row[2] for row in found}) == 1
    assert outbox.due_in == float("inf")


def test_a_lost_lease_among_results_drops_out_and_is_marked_late(
    engine: Engine, queue: Queue, clock: Clock, desk: Desk
) -> None:
    add_task(engine, queue, lease_seconds=15)
    (stale,) = queue.claim(WORKER)
    clock.advance(seconds=10)
    fresh = _claimed(engine, queue, 2)
    outbox = _filled(desk, [fresh[0], stale, fresh[1]])
    clock.advance(seconds=10)
    queue.sweep(worker="sweeper", interval_seconds=5)
    (other,) = queue.claim("worker-2")
    assert other.task_id == stale.task_id
    outbox.flush()
    assert _ends(engine) == [
        ("expired", "lost_lease", True),
        (None, None, False),
        ("succeeded", "ok", False),
        ("succeeded", "ok", False),
    ]
    assert _rows(engine, "pages") == [(claim.task_id, 1) for claim in fresh]


def test_a_result_that_the_database_refuses_fails_alone(engine: Engine, queue: Queue, desk: Desk) -> None:
    claims = _claimed(engine, queue, 3)
    outbox = Outbox(desk.equipment, desk.stopping)
    outbox.put(desk.read(claims[0]))
    outbox.put(desk.read(claims[1], page(2**31)))
    outbox.put(desk.read(claims[2]))
    outbox.flush()
    assert _ends(engine) == [
        ("succeeded", "ok", False),
        ("failed", "database_error", False),
        ("succeeded", "ok", False),
    ]
    assert _rows(engine, "pages") == [(claims[0].task_id, 1), (claims[2].task_id, 1)]


class _Interrupted:
    """The database goes away once, before a shared commit or after it."""

    def __init__(self, queue: Queue, *, committed: bool) -> None:
        self._completing_all = queue.completing_all
        self._committed = committed
        self._is_due = True

    @contextmanager
    def completing_all(self, completions: Any) -> Iterator[tuple[Connection, Any]]:
        gone = OperationalError("COMMIT", {}, Exception("server closed the connection unexpectedly"))
        if self._is_due and not self._committed:
            self._is_due = False
            raise gone
        with self._completing_all(completions) as (connection, accepted):
            yield connection, accepted
        if self._is_due:
            self._is_due = False
            raise gone


@pytest.mark.parametrize("committed", [False, True])
def test_a_commit_without_an_answer_is_repeated_and_doubles_nothing(
    engine: Engine,
    queue: Queue,
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    committed: bool,
) -> None:
    caplog.set_level("INFO")
    claims = _claimed(engine, queue, 3)
    monkeypatch.setattr("pipeline.worker.outbox.LONGEST_SECONDS", -1)
    outbox = _filled(desk, claims[:2])
    monkeypatch.setattr(queue, "completing_all", _Interrupted(queue, committed=committed).completing_all)
    outbox.tend()
    outbox.put(desk.read(claims[2]))
    assert 0 < outbox.due_in < 1
    outbox.flush()
    assert _ends(engine) == [("succeeded", "ok", False)] * 3
    assert _rows(engine, "pages") == [(claim.task_id, 1) for claim in claims]
    assert [f"task {claim.task_id}: read" in caplog.text for claim in claims] == [True] * 3
    assert "was lost" not in caplog.text

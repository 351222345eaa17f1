"""No task waits in memory while its lease runs: what is not begun soon goes back, fenced, and costs nobody anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from pipeline.queue.model import Claim
from pipeline.queue.store import Queue
from pipeline.worker.batch import Batch
from pipeline.worker.held import boottime
from tests.conftest import Clock
from tests.tasks import add_task
from tests.worker.desk import Desk

WORKER = "worker-1"
LONG_AGO_SECONDS = 2.0


@pytest.fixture
def desk(engine: Engine, queue: Queue, tmp_path: Path) -> Desk:
    """What a slot works with."""
    return Desk(engine, queue, tmp_path)


def _tasks(engine: Engine) -> list[tuple[Any, ...]]:
    query = "SELECT status, attempt_no, failure_count + crash_count + release_count FROM tasks ORDER BY task_id"
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def _batch(desk: Desk, claims: list[Claim], *, waited: float = 0.0) -> tuple[Batch, list[int]]:
    """The batch, and a list that grows whenever something went back in line."""
    rings: list[int] = []
    batch = Batch(
        claims,
        boottime() - waited,
        equipment=desk.equipment,
        stopping=desk.stopping,
        on_return=lambda: rings.append(1),
    )
    return batch, rings


def test_short_documents_come_first_and_in_the_order_of_the_line(engine: Engine, queue: Queue, desk: Desk) -> None:
    ids = [add_task(engine, queue, pages=pages) for pages in (30, 2, 2, 1)]
    batch, _ = _batch(desk, queue.claim(WORKER, batch=4))
    order = [claim.task_id for claim in iter(batch.next, None)]
    assert order == [ids[3], ids[1], ids[2], ids[0]]
    assert batch.end()


def test_what_has_waited_too_long_goes_back_uncharged_while_a_long_document_is_read(
    engine: Engine, queue: Queue, desk: Desk
) -> None:
    for _ in range(3):
        add_task(engine, queue)
    batch, rings = _batch(desk, queue.claim(WORKER, batch=3), waited=LONG_AGO_SECONDS)
    assert batch.next() is not None
    batch.tend()
    assert _tasks(engine) == [("processing", 1, 0), ("enqueued", 1, 0), ("enqueued", 1, 0)]
    assert len(rings) == 1
    assert batch.next() is None
    assert batch.end()


def test_what_has_not_waited_stays_until_the_worker_drains(engine: Engine, queue: Queue, desk: Desk) -> None:
    for _ in range(3):
        add_task(engine, queue)
    batch, rings = _batch(desk, queue.claim(WORKER, batch=3))
    assert batch.next() is not None
    batch.tend()
    assert [row[0] for row in _tasks(engine)] == ["processing"] * 3
    desk.stopping.drain()
    batch.tend()
    assert _tasks(engine) == [("processing", 1, 0), ("enqueued", 1, 0), ("enqueued", 1, 0)]
    assert (batch.next(), len(rings)) == (None, 1)


def test_giving_back_is_fenced_and_leaves_alone_what_others_have_by_now(
    engine: Engine, queue: Queue, clock: Clock, desk: Desk
) -> None:
    for _ in range(3):
        add_task(engine, queue)
    batch, _ = _batch(desk, queue.claim(WORKER, batch=3), waited=LONG_AGO_SECONDS)
    clock.advance(seconds=20)
    queue.sweep(worker="sweeper", interval_seconds=5)
    queue.claim("worker-2", batch=2)
    assert batch.next() is not None
    before = _tasks(engine)
    batch.tend()
    assert _tasks(engine) == before
    assert batch.end()


def test_what_cannot_be_given_back_is_not_begun_and_stays_in_doubt(
    engine: Engine, queue: Queue, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        add_task(engine, queue)
    batch, rings = _batch(desk, queue.claim(WORKER, batch=2), waited=LONG_AGO_SECONDS)
    assert batch.next() is not None
    with monkeypatch.context() as away:
        away.setattr(queue, "fail", _gone)
        assert batch.next() is None
        assert not batch.end()
    assert [row[0] for row in _tasks(engine)] == ["processing"] * 2
    assert rings == []


def _gone(*_: object, **__: object) -> None:
    raise OperationalError("UPDATE", {}, Exception("server closed the connection unexpectedly"))

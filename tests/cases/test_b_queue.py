"""Faults that queues of other products had: stuck, starved or stale tasks, lists that break, counters that drift.

The rows B1, B2, B6 to B11, B15 and B16, and the processes of B3 and B4, stand in test_b_workers.py. B12 (a full store
pauses intake) stands in test_a_inbox.py, beside the inbox that pauses.
"""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from pipeline.errors import IllegalMove
from pipeline.queue.model import Claim, NewTask, Usage
from pipeline.queue.settle import Fault
from pipeline.queue.store import Queue
from pipeline.reports import monitor, queries, steering
from tests.cli.conftest import Doclease, rows_of
from tests.conftest import Clock
from tests.queue import rows
from tests.stories import finish
from tests.tasks import add_task
from tests.worker.shop import Shop, pages


def test_b3_a_task_is_cancelled_in_every_state_but_the_last(engine: Engine, queue: Queue, clock: Clock) -> None:
    delayed, in_work, waiting, done = (add_task(engine, queue, priority=priority) for priority in (4, 3, 2, 5))
    (claim,) = queue.claim("worker-1")
    rows.complete(queue, claim)
    (claim,) = queue.claim("worker-1")
    assert rows.fail(queue, claim, Fault.TRANSIENT) == "delayed"
    queue.claim("worker-1")
    assert [queue.cancel(task_id) for task_id in (delayed, waiting, in_work)] == [
        "cancelled",
        "cancelled",
        "processing",
    ]
    clock.advance(minutes=5)  # its worker is gone, too
    assert rows.sweep(queue) == {in_work: "cancelled"}
    with pytest.raises(IllegalMove):
        queue.cancel(done)
    assert queue.promote() == 0
    assert queue.claim("worker-1") == []


@pytest.mark.parametrize("odd", ["[]", '"x"', '{"fields": 3, "checks": 4}', '{"document_type": {"a": 1}}'])
def test_b4_one_odd_result_hides_no_other_row(doclease: Doclease, engine: Engine, queue: Queue, odd: str) -> None:
    names = ("bad", "good")
    for name in names:
        finish(engine, queue, ["words"], name=name, document_type="invoice")
    rows.change(
        engine,
        "UPDATE attempts SET result = CAST(:odd AS jsonb) WHERE task_id = (SELECT task_id FROM documents_v"
        " WHERE name = 'bad')",
        odd=odd,
    )
    for command in (["documents", "list"], ["tasks", "list"], ["search", "words"]):
        assert {row["name"] for row in rows_of(doclease(*command, "--format", "json"))} == set(names)
    assert '"good"' in doclease("export", "invoices", "--format", "jsonl").stdout


def test_b5_nothing_fails_for_waiting_and_the_oldest_get_their_turn(engine: Engine, queue: Queue, clock: Clock) -> None:
    old = [add_task(engine, queue, priority=-10) for _ in range(100)]
    for hour in range(1, 6):
        clock.advance(minutes=60)
        urgent = add_task(engine, queue, priority=10)
        (claim,) = queue.claim("worker-1")
        # A level of priority is worth 10 minutes, so 20 of them are worth 200.
        assert (claim.task_id == urgent) == (hour <= 3)
        rows.complete(queue, claim)
    assert (rows.sweep(queue), queue.promote()) == ({}, 0)
    assert {rows.status(engine, task_id) for task_id in old} == {"enqueued", "succeeded"}
    clock.advance(minutes=100_000)
    assert (rows.sweep(queue), queue.promote()) == ({}, 0)
    assert {each.task_id for each in queue.claim("worker-1", batch=98)} <= set(old)


def _fill(queue: Queue, engine: Engine, count: int, batch: str) -> None:
    """So many documents of a batch, all in line."""
    with engine.begin() as connection:
        documents = connection.execute(
            text(
                "INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count, batch)"
                " SELECT encode(sha256(convert_to(:batch || number, 'UTF8')), 'hex'), number, 'x', 'text/plain', 1, 1,"
                " :batch FROM generate_series(1, :count) AS number RETURNING document_id"
            ),
            {"count": count, "batch": batch},
        ).scalars()
        for document_id in documents:
            queue.enqueue(connection, NewTask(document_id, "auto", 1, lease_seconds=15, deadline_seconds=60))


def test_b13_a_long_line_costs_its_readers_no_memory(engine: Engine, queue: Queue) -> None:
    peaks = []
    for count in (100, 10_000):
        _fill(queue, engine, count, str(count))
        tracemalloc.start()
        assert len(queue.claim("worker-1")) == 1
        assert len(queries.tasks(engine)) == 50
        assert rows.sweep(queue) == {}
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 100_000
    assert monitor.snapshot(engine).figure("enqueued") == 10_098


def test_b13_a_batch_is_cancelled_while_a_worker_works_on_it(open_for_business: Callable[..., Shop]) -> None:
    shop = open_for_business(lease={"base_seconds": 60})
    gate = shop.gate()
    in_work = shop.take(pages(4, p2=f"gate {gate}", p4="sleep 6000"), priority=10)
    rows.change(shop.engine, "UPDATE documents SET batch = 'may'")
    shop.start_worker()
    shop.reached(gate)
    _fill(shop.app.queue, shop.engine, 300, "may")
    moved = steering.cancel(shop.app.queue, queries.unfinished(shop.engine, batch="may"))
    assert Counter(each.status for each in moved) == {"cancelled": 300, "processing": 1}
    gate.touch()
    shop.ended(in_work)
    assert shop.statuses() == {"cancelled": 301}
    # At the next checkpoint, which may come while it still waits at the gate.
    assert [page.page_no for page in shop.pages(in_work)] in ([1], [1, 2], [1, 2, 3])


def test_b14_the_status_is_what_the_rows_say_whenever_a_worker_dies(engine: Engine, queue: Queue, clock: Clock) -> None:
    for _ in range(3):
        add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    with pytest.raises(OperationalError):
        _complete_and_die(engine, queue, claim)
    assert _counts(engine) == _counted(engine) == {"enqueued": 2, "processing": 1}
    clock.advance(minutes=1)
    rows.sweep(queue)
    assert _counts(engine) == _counted(engine) == {"enqueued": 3}
    for again in queue.claim("worker-2", batch=3):
        rows.complete(queue, again)
        assert _counts(engine) == _counted(engine)
    assert _counts(engine) == {"succeeded": 3}
    assert monitor.snapshot(engine).figure("pages_left") == 0


def _complete_and_die(engine: Engine, queue: Queue, claim: Claim) -> None:
    """Write all there is to write; the session ends before the commit."""
    with queue.completing(claim, reason="ok", pages_done=2, result={}, usage=Usage()) as connection:
        pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        assert rows.terminate(engine, f"pid = {pid}") == 1


def _counts(engine: Engine) -> dict[str, int]:
    return {row["status"]: row["tasks"] for row in monitor.snapshot(engine).counts if row["tasks"]}


def _counted(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        return dict(Counter(connection.execute(text("SELECT status FROM tasks")).scalars()))

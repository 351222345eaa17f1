"""The order of claims: linear aging in one number, so that priority counts and nothing starves."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from pipeline.config import STRICT_AGING_MS, QueueSettings
from pipeline.queue.settle import Fault, Limits
from pipeline.queue.store import Queue
from tests.conftest import AGING_MS, Clock, empty
from tests.queue import rows
from tests.tasks import add_task

arrivals = st.lists(st.tuples(st.integers(-10, 10), st.integers(0, 40)), min_size=1, max_size=8)
on_one_database = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _enqueue(engine: Engine, queue: Queue, clock: Clock, arrived: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Tasks of these priorities, each so many minutes after the one before; (priority, enqueued ms, task) of each."""
    tasks = []
    for priority, minutes in arrived:
        clock.advance(minutes=minutes)
        task = rows.task(engine, add_task(engine, queue, priority=priority))
        tasks.append((priority, task.rank_ms + priority * queue._aging_ms, task.task_id))
    return tasks


def _claimed_order(queue: Queue) -> list[int]:
    order: list[int] = []
    while found := queue.claim("worker-1", batch=3):
        order += [claim.task_id for claim in found]
    return order


@on_one_database
@given(arrivals)
def test_waiting_and_priority_weigh_as_the_formula_says(
    engine: Engine, queue: Queue, clock: Clock, arrived: list[tuple[int, int]]
) -> None:
    empty(engine)
    tasks = _enqueue(engine, queue, clock, arrived)
    by_urgency = sorted(tasks, key=lambda each: (each[1] - each[0] * AGING_MS, each[2]))
    assert _claimed_order(queue) == [task_id for _, _, task_id in by_urgency]


@on_one_database
@given(arrivals)
def test_without_aging_priority_alone_decides_then_age(
    engine: Engine, clock: Clock, arrived: list[tuple[int, int]]
) -> None:
    empty(engine)
    strict = Queue(engine, limits=Limits(), aging_ms=QueueSettings(aging_minutes=None).aging_ms)
    tasks = _enqueue(engine, strict, clock, arrived)
    by_priority = sorted(tasks, key=lambda each: (-each[0], each[2]))
    assert _claimed_order(strict) == [task_id for _, _, task_id in by_priority]


def test_strict_priority_is_what_the_configuration_means_by_off() -> None:
    assert QueueSettings(aging_minutes=None).aging_ms == STRICT_AGING_MS
    assert QueueSettings().aging_ms == AGING_MS
    assert 10 * STRICT_AGING_MS + 10**14 < 2**63, "the lowest priority of a far future still fits the column"


def test_a_level_of_priority_is_worth_its_aging_and_no_more(engine: Engine, queue: Queue, clock: Clock) -> None:
    old = add_task(engine, queue, priority=0)
    clock.advance(minutes=9)
    urgent = add_task(engine, queue, priority=1)
    clock.advance(minutes=2)
    late = add_task(engine, queue, priority=1)
    assert _claimed_order(queue) == [urgent, old, late]


def test_nothing_starves_under_a_stream_of_urgent_work(engine: Engine, queue: Queue, clock: Clock) -> None:
    lowest = add_task(engine, queue, priority=-10)
    waited = 0
    while True:
        add_task(engine, queue, priority=10)
        (claim,) = queue.claim("worker-1")
        if claim.task_id == lowest:
            break
        clock.advance(minutes=5)
        waited += 5
        assert waited <= 20 * AGING_MS / 60_000, "twenty levels, ten minutes each"


def test_a_delayed_task_is_not_in_the_index_of_ready_ones(engine: Engine, queue: Queue) -> None:
    for _ in range(3):
        add_task(engine, queue)
    claims = queue.claim("worker-1", batch=3)
    rows.fail(queue, claims[0], Fault.TRANSIENT)
    rows.fail(queue, claims[1], Fault.RELEASE)
    query = "SELECT pg_get_expr(indpred, indrelid) FROM pg_index WHERE indexrelid = 'tasks_ready'::regclass"
    with engine.connect() as connection:
        predicate = connection.execute(text(query)).scalar_one()
        ready = connection.execute(text(f"SELECT task_id FROM tasks WHERE {predicate}")).scalars().all()
    assert ready == [claims[1].task_id]


def test_a_task_keeps_its_place_in_line_through_every_return(engine: Engine, queue: Queue, clock: Clock) -> None:
    first = add_task(engine, queue)
    rank = rows.task(engine, first).rank_ms
    clock.advance(minutes=1)
    second = add_task(engine, queue)
    (claim,) = queue.claim("worker-1")
    rows.fail(queue, claim, Fault.TRANSIENT)
    clock.advance(minutes=5)
    queue.promote()
    assert rows.task(engine, first).rank_ms == rank
    assert _claimed_order(queue) == [first, second]


def test_tasks_are_promoted_longest_wait_over_first(engine: Engine, queue: Queue, clock: Clock) -> None:
    for _ in range(3):
        add_task(engine, queue)
    for claim, jitter in zip(queue.claim("worker-1", batch=3), (0.9, 0.1, 0.5), strict=True):
        rows.fail(queue, claim, Fault.TRANSIENT, jitter=jitter)
    clock.advance(minutes=5)
    assert queue.promote(batch=1) == 1
    assert [claim.task_id for claim in queue.claim("worker-1", batch=3)] == [_second(engine)]
    assert queue.promote() == 2


def _second(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT task_id FROM tasks ORDER BY task_id OFFSET 1 LIMIT 1")).scalar_one())

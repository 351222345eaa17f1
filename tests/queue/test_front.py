"""A claim that remembers where it looked last passes nobody by for longer than a second, and keeps its price."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, event, text

from pipeline.queue.front import LOOK_SECONDS, Front
from pipeline.queue.settle import Fault, Limits
from pipeline.queue.store import Queue
from tests.conftest import AGING_MS, empty
from tests.queue import rows
from tests.tasks import add_task, insert_task

CHURNED = 5000
FILL = f"""
INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count)
SELECT lpad(to_hex(number), 64, '0'), 'document', 'document', 'text/plain', 1, 2
FROM generate_series(1, {CHURNED + 100}) AS number;

INSERT INTO tasks (document_id, handler, page_count, rank_ms, lease_seconds, deadline_seconds)
SELECT document_id, 'auto', 2, document_id, 600, 3600
FROM documents
"""
COMPLETE_ALL = """
UPDATE tasks
SET status = 'succeeded', reason = 'ok', finished_at = now(),
    lease_token = NULL, lease_holder = NULL, lease_expires_at = NULL, deadline_at = NULL
WHERE status = 'processing'
"""


@dataclass
class Watch:
    """A clock that stands still until it is moved."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watch() -> Watch:
    """The time of `mine`."""
    return Watch()


@pytest.fixture
def mine(engine: Engine, watch: Watch) -> Queue:
    """The queue of this process."""
    return Queue(engine, limits=Limits(), aging_ms=AGING_MS, front=Front(watch))


@pytest.fixture
def others(engine: Engine) -> Queue:
    """The queue of another process."""
    return Queue(engine, limits=Limits(), aging_ms=AGING_MS)


def _claimed(queue: Queue) -> int:
    (claim,) = queue.claim("worker-1")
    return claim.task_id


def test_what_another_process_puts_ahead_is_seen_within_a_second(
    engine: Engine, mine: Queue, others: Queue, watch: Watch
) -> None:
    normal = [add_task(engine, others) for _ in range(3)]
    assert _claimed(mine) == normal[0]
    urgent = add_task(engine, others, priority=10)
    watch.seconds += LOOK_SECONDS
    assert _claimed(mine) == normal[1]
    watch.seconds += 0.1
    assert _claimed(mine) == urgent


def test_what_this_process_puts_ahead_is_seen_at_once(engine: Engine, mine: Queue) -> None:
    normal = [add_task(engine, mine) for _ in range(3)]
    assert _claimed(mine) == normal[0]
    urgent = add_task(engine, mine, priority=10)
    assert _claimed(mine) == urgent
    assert _claimed(mine) == normal[1]


def test_a_task_that_comes_back_is_seen_at_once_by_who_put_it_back(engine: Engine, mine: Queue) -> None:
    for _ in range(3):
        add_task(engine, mine)
    (first,), second = mine.claim("worker-1"), _claimed(mine)
    rows.fail(mine, first, Fault.RELEASE)
    assert _claimed(mine) == first.task_id
    rows.change(
        engine, "UPDATE tasks SET lease_expires_at = now() - interval '1 second' WHERE task_id = :id", id=second
    )
    assert rows.sweep(mine) == {second: "enqueued"}
    assert _claimed(mine) == second


def test_a_task_whose_commit_came_late_is_taken_when_nothing_else_is_ready(
    engine: Engine, mine: Queue, others: Queue
) -> None:
    with engine.connect() as late:
        hidden = insert_task(late, others, priority=10)
        add_task(engine, others)
        assert _claimed(mine) != hidden
        late.commit()
    assert _claimed(mine) == hidden
    assert mine.claim("worker-1") == []


@dataclass
class Line:
    """Tasks in line as a bystander knows them: their ranks, and since when they are committed."""

    ready: dict[int, tuple[int, float]] = field(default_factory=dict)
    late: list[tuple[Connection, int]] = field(default_factory=list)

    def commit(self, engine: Engine, now: float) -> None:
        """Let the oldest open transaction come in, if there is one."""
        if self.late:
            connection, task_id = self.late.pop(0)
            connection.commit()
            connection.close()
            self.ready[task_id] = (rows.task(engine, task_id).rank_ms, now)


steps = st.lists(
    st.sampled_from(["claim", "claim", "normal", "normal", "urgent", "late", "commit", "tick"]),
    min_size=10,
    max_size=30,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_nobody_is_passed_by_for_longer_than_a_second_and_nobody_is_left(engine: Engine, taken: list[str]) -> None:
    empty(engine)
    watch, line = Watch(), Line()
    mine = Queue(engine, limits=Limits(), aging_ms=AGING_MS, front=Front(watch))
    others = Queue(engine, limits=Limits(), aging_ms=AGING_MS)
    try:
        for step in taken:
            match step:
                case "claim":
                    _claim_fairly(mine, line, watch.seconds)
                case "late" if len(line.late) < 3:
                    connection = engine.connect()
                    line.late.append((connection, insert_task(connection, others, priority=5)))
                case "commit":
                    line.commit(engine, watch.seconds)
                case "tick":
                    watch.seconds += 0.6
                case "normal" | "urgent":
                    task_id = add_task(engine, others, priority=10 if step == "urgent" else 0)
                    line.ready[task_id] = (rows.task(engine, task_id).rank_ms, watch.seconds)
    finally:
        while line.late:
            line.commit(engine, watch.seconds)
    while line.ready:
        _claim_fairly(mine, line, watch.seconds)
    assert mine.claim("worker-1") == []


def _claim_fairly(mine: Queue, line: Line, now: float) -> None:
    found = mine.claim("worker-1")
    assert len(found) == min(1, len(line.ready))
    for claim in found:
        rank, _ = line.ready.pop(claim.task_id)
        assert [each for each, since in line.ready.values() if each < rank and now - since > LOOK_SECONDS] == []


def _buffers(engine: Engine, queue: Queue) -> int:
    """The pages that a claim of this queue touches, as it would ask now."""
    asked: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        asked.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    queue.claim("worker-1")
    event.remove(engine, "before_cursor_execute", note)
    (statement, parameters) = asked[-1]
    with engine.connect() as connection:
        explained = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters)
        plan = explained.scalar_one()[0]["Plan"]
        connection.rollback()
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def test_an_old_snapshot_makes_no_claim_twice_as_dear(engine: Engine, mine: Queue, watch: Watch) -> None:
    """Measured: 17 pages a claim; looking from the front, 162 after 5,000 tasks that the snapshot keeps."""
    for statement in FILL.split(";\n\n"):
        rows.change(engine, statement)
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("VACUUM ANALYZE tasks, documents"))
    _buffers(engine, mine)  # the first one fills the caches of its session
    plain = _buffers(engine, mine)
    with engine.connect() as report:
        report.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        report.exec_driver_sql("SELECT count(*) FROM tasks")
        for _ in range(CHURNED // 250):
            mine.claim("worker-1", batch=250)
            rows.change(engine, COMPLETE_ALL)
            watch.seconds += 0.04
        pinned = _buffers(engine, mine)
        watch.seconds += LOOK_SECONDS + 0.1
        whole = _buffers(engine, mine)
        afterwards = _buffers(engine, mine)
        report.rollback()
    assert plain <= 20
    assert max(pinned, afterwards) <= 2 * plain
    assert whole > 3 * plain, "the one look a second at the whole line shows what is spared"

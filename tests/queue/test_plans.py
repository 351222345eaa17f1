"""The queue stays fast when it is full: no statement ever reads every task, whatever plan the server keeps.

Every statement runs as the product runs it, and the server reports the plan that it used (auto_explain).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
import pytest
from sqlalchemy import URL, Engine, event, text

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.queue.model import Claim
from pipeline.queue.settle import Fault, Limits
from pipeline.queue.store import Queue
from tests import postgres
from tests.queue import rows

FINISHED, READY, DELAYED, PROCESSING = 100_000, 10_000, 200, 50
FILL = f"""
INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count)
SELECT lpad(to_hex(number), 64, '0'), 'document', 'document', 'text/plain', 1, 2
FROM generate_series(0, {READY + DELAYED + PROCESSING}) AS number;

INSERT INTO tasks (document_id, handler, page_count, rank_ms, lease_seconds, deadline_seconds, status, reason,
                   attempt_no, finished_at)
SELECT (SELECT min(document_id) FROM documents), 'auto', 2, number, 600, 3600, 'succeeded', 'ok', 1, now()
FROM generate_series(1, {FINISHED}) AS number;

INSERT INTO attempts (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at, ended_at,
                      outcome)
SELECT task_id, 1, gen_random_uuid(), 'host-' || task_id % 10, 600, now(), now(), now(), 'succeeded'
FROM tasks;

INSERT INTO tasks (document_id, handler, page_count, rank_ms, lease_seconds, deadline_seconds, status, not_before)
SELECT document_id, 'auto', 2, document_id, 600, 3600,
    CASE WHEN document_id % 51 = 0 THEN 'delayed' ELSE 'enqueued' END,
    CASE WHEN document_id % 51 = 0 THEN now() + document_id % 7 * interval '1 minute' - interval '3 minutes' END
FROM documents
WHERE document_id > (SELECT min(document_id) FROM documents);
"""

# A statement's plan as the server reports it.
Plan = dict[str, Any]
Act = Callable[[], object]


class Explained:
    """A queue on a full database, and the plans of what it did."""

    def __init__(self, engine: Engine, plans: list[Plan]) -> None:
        self.engine = engine
        self.queue = Queue(engine, limits=Limits(), aging_ms=600_000)
        self._plans = plans

    def claim(self) -> Claim:
        """The best ready task."""
        (claim,) = self.queue.claim("worker-1")
        return claim

    def claims(self, number: int) -> list[Claim]:
        """The best ready tasks."""
        return self.queue.claim("worker-1", batch=number)

    def plans_of(self, act: Act) -> list[Plan]:
        """The plans of the statements that `act` runs, without the setting up before it."""
        self._plans.clear()
        act()
        return list(self._plans)


@pytest.fixture(scope="module")
def full_database(server: URL) -> Iterator[URL]:
    """A database of its own with a hundred thousand finished tasks, dropped afterwards."""
    name = f"plans_{os.getpid()}"
    url = postgres.create_database(server, name)
    engine = database.open_engine(url, DatabaseSettings(), name="plans")
    database.upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(
            text("SET LOCAL session_replication_role = replica")
        )  # no foreign key is checked 100,000 times
        for statement in FILL.split(";\n\n"):
            connection.execute(text(statement))
    Queue(engine, limits=Limits(), aging_ms=1).claim("worker-1", batch=PROCESSING)
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("VACUUM ANALYZE tasks, attempts, documents"))
    engine.dispose()
    yield url
    engine = database.open_engine(server, DatabaseSettings(), name="plans")
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


@pytest.fixture(params=["force_generic_plan", "force_custom_plan"])
def explained(full_database: URL, request: pytest.FixtureRequest) -> Iterator[Explained]:
    """A queue whose statements are prepared at once and planned in one of the two ways a server has."""
    engine = database.open_engine(full_database, DatabaseSettings(), name="plans")
    plans: list[Plan] = []

    def take(notice: psycopg.errors.Diagnostic) -> None:
        message = notice.message_primary or ""
        if "plan:\n" in message:
            plans.append(json.loads(message.split("plan:\n", 1)[1]))

    @event.listens_for(engine, "connect")
    def explain_everything(connection: psycopg.Connection[Any], _record: object) -> None:
        connection.prepare_threshold = 0
        connection.add_notice_handler(take)
        connection.autocommit = True
        connection.execute("LOAD 'auto_explain'")
        for setting in ("log_min_duration = 0", "log_level = notice", "log_format = json", "log_analyze = on"):
            connection.execute(f"SET auto_explain.{setting}")
        connection.execute("SET auto_explain.log_buffers = on")
        connection.execute(f"SET plan_cache_mode = {request.param}")
        connection.execute("SET client_min_messages = notice")
        connection.autocommit = False

    yield Explained(engine, plans)
    engine.dispose()


def _nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


def _scanned_whole(plan: Plan) -> set[str]:
    """The tables that a plan reads from end to end; sweeper_state is one row, workers one for each that lives."""
    scans = {node["Relation Name"] for node in _nodes(plan["Plan"]) if node["Node Type"] == "Seq Scan"}
    return scans - {"sweeper_state", "lease_rates", "workers"}


def _buffers(plan: Plan) -> int:
    """The pages a statement touched. What nobody reads from, the server runs after the plan's root and counts apart."""
    apart = [node for node in _nodes(plan["Plan"]) if node.get("Subplan Name") == "CTE opened"]
    return sum(_touched(node) for node in [plan["Plan"], *apart])


def _touched(node: Plan) -> int:
    return int(node["Shared Hit Blocks"] + node["Shared Read Blocks"])


def _updates(engine: Engine, table: str) -> tuple[int, int]:
    """How many rows of a table were updated, and how many of them heap-only, as far as sessions have reported."""
    query = text("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = :table")
    with engine.connect() as connection:
        found = connection.execute(query, {"table": table}).one()
    return int(found.n_tup_upd), int(found.n_tup_hot_upd)


def _a_task(explained: Explained, status: str) -> int:
    query = text(f"SELECT min(task_id) FROM tasks WHERE status = '{status}'")
    with explained.engine.connect() as connection:
        return int(connection.execute(query).scalar_one())


def _expire(explained: Explained, *, share: int) -> None:
    """Let every `share`th lease run out."""
    rows.change(
        explained.engine,
        "UPDATE tasks SET lease_expires_at = now() - interval '1 hour'"
        " WHERE status = 'processing' AND task_id % :share = 0",
        share=share,
    )


def _sweep(explained: Explained) -> Act:
    _expire(explained, share=5)
    return partial(rows.sweep, explained.queue)


def _idle_sweep(explained: Explained) -> Act:
    rows.sweep(explained.queue)
    return partial(rows.sweep, explained.queue)


def _sweep_after_an_outage(explained: Explained) -> Act:
    rows.change(explained.engine, "UPDATE sweeper_state SET last_ok_at = now() - interval '10 minutes'")
    return partial(rows.sweep, explained.queue)


def _shorten(explained: Explained) -> Act:
    rows.change(
        explained.engine,
        "INSERT INTO workers SELECT 'worker-1', 'host', 0, now(), pg_postmaster_start_time(), now(), NULL,"
        " now() - interval '1 minute' ON CONFLICT DO NOTHING",
    )
    seconds = {"interval_seconds": rows.INTERVAL_SECONDS, "patience_seconds": 1, "unrest_seconds": 10}
    return partial(explained.queue.shorten, worker="worker-2", **seconds)


# Each sets up what its statement needs and returns the call whose plans are looked at.
STATEMENTS: dict[str, Callable[[Explained], Act]] = {
    "claim": lambda explained: explained.claim,
    "large claim": lambda explained: partial(explained.queue.claim, "worker-1", batch=20, suspects=False),
    "checkpoint": lambda explained: partial(rows.checkpoint, explained.queue, explained.claim()),
    "complete": lambda explained: partial(rows.complete, explained.queue, explained.claim()),
    "complete together": lambda explained: partial(rows.complete_all, explained.queue, explained.claims(20)),
    "fail": lambda explained: partial(rows.fail, explained.queue, explained.claim(), Fault.TRANSIENT),
    "late finish": lambda explained: partial(explained.queue.late_finish, explained.claim()),
    "outcome": lambda explained: partial(explained.queue.outcome, explained.claim()),
    "cancel": lambda explained: partial(explained.queue.cancel, _a_task(explained, "enqueued")),
    "retry": lambda explained: partial(explained.queue.retry, _a_task(explained, "delayed")),
    "state": lambda explained: partial(explained.queue.state, _a_task(explained, "succeeded")),
    "has live tasks": lambda explained: explained.queue.has_live_tasks,
    "rates": lambda explained: partial(explained.queue.rates, "auto"),
    "held": lambda explained: partial(explained.queue.held, "worker-1"),
    "calibrate": lambda explained: explained.queue.calibrate,
    "promote": lambda explained: explained.queue.promote,
    "sweep": _sweep,
    "idle sweep": _idle_sweep,
    "sweep after an outage": _sweep_after_an_outage,
    "look": lambda explained: explained.queue.look,
    "shorten": _shorten,
}


@pytest.mark.parametrize("prepare", STATEMENTS.values(), ids=STATEMENTS.keys())
def test_no_statement_reads_every_task(explained: Explained, prepare: Callable[[Explained], Act]) -> None:
    act = prepare(explained)
    plans = explained.plans_of(act)
    assert plans, "the server reported no plan"
    assert [_scanned_whole(plan) for plan in plans] == [set()] * len(plans)


def test_the_tasks_of_a_document_are_found_by_the_index_that_lets_one_of_them_live(explained: Explained) -> None:
    query = text("SELECT status FROM documents_v WHERE document_id = (SELECT max(document_id) FROM documents)")

    def look() -> None:
        with explained.engine.connect() as connection:
            assert connection.execute(query).scalar_one() in ("enqueued", "delayed")

    (plan,) = explained.plans_of(look)
    used = {node.get("Index Name") for node in _nodes(plan["Plan"]) if node.get("Relation Name") == "tasks"}
    assert used == {"tasks_one_live"}


def test_a_claim_is_planned_once(full_database: URL) -> None:
    """Planning costs as much as claiming: the server has to find one plan good for every claim, and keep it."""
    engine = database.open_engine(full_database, DatabaseSettings(), name="plans")
    queue = Queue(engine, limits=Limits(), aging_ms=600_000)
    for batch in [1] * 15 + [20] * 5:
        queue.claim("worker-1", batch=batch)
    query = text("SELECT custom_plans FROM pg_prepared_statements WHERE statement LIKE '%WITH picked%'")
    with engine.connect() as connection:
        assert connection.execute(query).scalar_one() <= 5  # that many it tries before it keeps one
    engine.dispose()


def test_a_claim_touches_few_pages_however_many_tasks_there_are(explained: Explained) -> None:
    explained.claim()  # whoever comes first after others tidies the index up behind them
    (plan,) = explained.plans_of(explained.claim)
    # Measured: 17, most of them entries in three indexes; more where the row's page is full or was just vacuumed.
    assert 5 < _touched(plan["Plan"]) <= 22
    assert _buffers(plan) <= 28  # with the row of its attempt


def test_a_claim_looks_its_task_up_where_it_was_locked(explained: Explained) -> None:
    (plan,) = explained.plans_of(lambda: explained.queue.claim("worker-1"))
    kinds = {node["Node Type"] for node in _nodes(plan["Plan"])}
    assert "Tid Scan" in kinds
    assert "tasks_pkey" not in {node.get("Index Name") for node in _nodes(plan["Plan"])}


def test_a_sweep_costs_each_task_as_much_however_many_expired_before(explained: Explained) -> None:
    """Whom to blame is asked of the task's own attempts and of its holder, never of every expiry there was."""
    (plan,) = explained.plans_of(_sweep(explained))
    judging = [node for node in _nodes(plan["Plan"]) if node.get("Subplan Name") == "CTE judged"]
    (counting,) = [
        node for node in _nodes(judging[0]) if node["Node Type"] == "Aggregate" and "SubPlan" in node["Subplan Name"]
    ]
    assert {node.get("Index Name") for node in _nodes(counting)} == {None, "attempts_pkey"}


def test_a_look_touches_few_pages_however_many_tasks_there_are(explained: Explained) -> None:
    (plan,) = explained.plans_of(explained.queue.look)
    assert _touched(plan["Plan"]) <= 15  # measured: 5


def test_a_sweep_that_finds_nothing_expired_reads_what_is_in_work_once(explained: Explained) -> None:
    (plan,) = explained.plans_of(_idle_sweep(explained))
    looked = [node for node in _nodes(plan["Plan"]) if node.get("Relation Name") == "tasks" and "Index Name" in node]
    assert sum(node["Actual Loops"] > 0 for node in looked) == 1


def test_a_claim_finds_its_task_in_the_index_of_ready_ones(explained: Explained) -> None:
    (plan,) = explained.plans_of(lambda: explained.queue.claim("worker-1"))
    assert "tasks_ready" in {node.get("Index Name") for node in _nodes(plan["Plan"])}


def test_renewals_leave_every_index_alone(full_database: URL) -> None:
    """Each is a heap-only update: no index on what they change, and room on the page."""
    engine = database.open_engine(full_database, DatabaseSettings(), name="plans")
    watcher = database.open_engine(full_database, DatabaseSettings(), name="plans")
    queue = Queue(engine, limits=Limits(), aging_ms=600_000)
    claims = queue.claim("worker-1", batch=20)
    engine.dispose()
    before = {table: _updates(watcher, table) for table in ("tasks", "attempts")}
    for number in range(1000):
        rows.checkpoint(queue, claims[number % len(claims)], lease_seconds=600)
    engine.dispose()  # a session that ends reports what it did, on every version
    rows.until(lambda: all(_updates(watcher, table)[0] - before[table][0] >= 1000 for table in before))
    for table, (updates, heap_only) in before.items():
        now_updates, now_heap_only = _updates(watcher, table)
        assert (now_updates - updates, now_heap_only - heap_only) == (1000, 1000), table
    watcher.dispose()

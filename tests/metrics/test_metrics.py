"""Prometheus is told what happened, whatever the database does, and asking costs the same after years of history."""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine, TextClause, text
from sqlalchemy.exc import DBAPIError

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.errors import ConfigurationError
from pipeline.exporting import exported
from pipeline.metrics import catalogue, gauges
from pipeline.metrics.counting import CountingQueue, count_errors
from pipeline.metrics.counts import Counts
from pipeline.metrics.gauges import Gauges
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from tests.metrics.scraping import Scraped, free_port, scrape
from tests.stories import claim
from tests.tasks import add_task
from tests.worker.shop import Shop, pages

EVERY_METRIC = (*catalogue.COUNTERS, *catalogue.OWN_GAUGES, *catalogue.SHARED_GAUGES)


def test_what_a_worker_did_is_counted_once(shop: Shop) -> None:
    port = free_port()
    with exported(shop.app, port=port, slots=1):
        before = scrape(port)
        assert before["doclease_pages_total"]["text_layer"] == 0
        shop.take(pages(7))
        shop.take(pages(3, p2="kill"))
        shop.work()
        after = scrape(port)
    assert sum(after["doclease_pages_total"].values()) == len(shop.rows("SELECT * FROM pages"))
    outcomes = Counter(row.outcome for row in shop.rows("SELECT outcome FROM attempts"))
    assert {name: count for name, count in after["doclease_attempts_total"].items() if count} == outcomes
    assert after["doclease_recoveries_total"]["crash"] == outcomes["crashed"] > 0
    assert after["doclease_claims_total"][""] == sum(outcomes.values())
    assert after["doclease_child_starts_total"][""] >= outcomes["crashed"]
    reasons = Counter(row.reason for row in shop.rows("SELECT reason FROM tasks"))
    assert {name: count for name, count in after["doclease_documents_total"].items() if count} == reasons
    assert after["doclease_worker_slots"][""] == 1
    assert after["doclease_worker_slots_busy"][""] == 0


def test_work_in_hand_is_seen_from_outside(shop: Shop) -> None:
    port = free_port()
    gate = shop.gate()
    shop.take(pages(3, p2=f"gate {gate}"))
    waiting = add_task(shop.engine, shop.app.queue, pages=5, priority=-10)
    with shop.engine.begin() as connection:
        connection.execute(
            text("UPDATE tasks SET enqueued_at = now() - interval '1 hour' WHERE task_id = :id"), {"id": waiting}
        )
        connection.execute(text("INSERT INTO inbox_scans VALUES ('/in', now() - interval '1 minute', 2, 'paused')"))

    def look() -> Scraped:
        try:
            shop.reached(gate)
            return scrape(port)
        finally:
            shop.app.queue.cancel(waiting)
            gate.touch()

    with exported(shop.app, port=port, slots=1), ThreadPoolExecutor() as beside:
        looked = beside.submit(look)
        shop.work()
        found = looked.result()
    assert found["doclease_worker_slots_busy"][""] == 1
    assert found["doclease_child_peak_resident_bytes"][""] > 1_000_000
    assert found["doclease_queue_tasks"] == {"enqueued": 1, "delayed": 0, "processing": 1}
    assert found["doclease_queue_oldest_waiting_seconds"][""] >= 3600
    assert found["doclease_inbox_scan_age_seconds"]["/in"] >= 60
    assert (found["doclease_inbox_paused"]["/in"], found["doclease_inbox_waiting_files"]["/in"]) == (1, 2)
    assert {metric.name for metric in EVERY_METRIC} <= set(found)
    assert not [name for name in found if not name.startswith("process_") and name not in _names()]


def _names() -> set[str]:
    return {metric.name for metric in EVERY_METRIC}


def test_a_lost_worker_is_counted_where_it_is_swept_and_a_false_recovery_where_it_comes_back(
    engine: Engine, queue: Queue, clock: Any
) -> None:
    counts = Counts()
    counting = CountingQueue(counts, engine, limits=Limits(), aging_ms=600_000)
    held = claim(counting, add_task(engine, queue))
    clock.advance(minutes=1)
    assert _value(engine, catalogue.LEASE_OVERDUE) > 0
    counting.sweep(worker="w", interval_seconds=5)
    counting.late_finish(held)
    assert counts.values(catalogue.RECOVERIES)["lost_lease"] == 1
    assert counts.values(catalogue.ATTEMPTS)["expired"] == 1
    assert counts.values(catalogue.FALSE_RECOVERIES) == {"": 1}
    assert counts.values(catalogue.SWEEPS) == {"": 1}
    assert _value(engine, catalogue.LEASE_OVERDUE) == 0


def _value(engine: Engine, metric: catalogue.Metric) -> float:
    (sample,) = [each for each in Gauges(engine).read() if each.metric is metric]
    return sample.value


def test_a_write_that_is_rolled_back_is_not_counted(engine: Engine, queue: Queue) -> None:
    counts = Counts()
    counting = CountingQueue(counts, engine, limits=Limits(), aging_ms=600_000)
    held = claim(counting, add_task(engine, queue))

    def write_half() -> None:
        with counting.checkpointing(held, pages_done=1, lease_seconds=15) as (connection, _):
            connection.info["doclease_pages_written"].append("ocr")
            connection.execute(text("SELECT 1 / 0"))

    with pytest.raises(DBAPIError):
        write_half()
    assert counts.values(catalogue.PAGES)["ocr"] == 0


# The database does what it likes


def _gauges_of(port: int) -> Gauges:
    url = database.parse_url(f"postgresql://nobody@127.0.0.1:{port}/none")
    engine = database.open_engine(url, DatabaseSettings(connect_timeout_seconds=60), name="tests")
    return Gauges(engine, patience_seconds=0.2)


def _told(looking: Gauges) -> list[tuple[catalogue.Metric, float]]:
    return [(each.metric, each.value) for each in looking.read()]


def test_a_database_that_is_away_is_told() -> None:
    looking = _gauges_of(free_port())
    assert _told(looking) == [(catalogue.DATABASE_UP, 0)]
    looking.close()


def test_a_database_that_says_nothing_keeps_nobody_waiting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        looking = _gauges_of(silent.getsockname()[1])
        assert _told(looking) == [(catalogue.DATABASE_UP, 0)]
        assert [thread for thread in threading.enumerate() if thread.name == "gauges"]  # it still waits, we do not
        assert _told(looking) == [(catalogue.DATABASE_UP, 0)]
    looking.close()


def test_a_role_that_may_not_see_inboxes_goes_without_them(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("CREATE ROLE tests_partial"))
        connection.execute(text("GRANT SELECT ON tasks, sweeper_state TO tests_partial"))
        connection.execute(text("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO tests_partial"))
        connection.commit()
    url = engine.url.update_query_dict({"options": "-crole=tests_partial"})
    partial = database.open_engine(url, DatabaseSettings(), name="tests")
    counts = Counts()
    count_errors(partial, counts)
    looking = Gauges(partial)
    found = {each.metric for each in looking.read()}
    looking.expire()
    assert {each.metric for each in looking.read()} == found
    partial.dispose()
    assert counts.values(catalogue.DATABASE_ERRORS) == {"none": 0, "42501": 1}  # asked once, not with every look
    with engine.begin() as connection:
        connection.execute(text("DROP OWNED BY tests_partial"))
        connection.execute(text("DROP ROLE tests_partial"))
    assert {catalogue.DATABASE_UP, catalogue.SWEEP_AGE, catalogue.TASKS} <= found
    assert catalogue.SCAN_AGE not in found


# What asking costs

HISTORY = """
    INSERT INTO tasks (document_id, handler, page_count, rank_ms, lease_seconds, deadline_seconds, status, reason,
                       attempt_no, finished_at)
    SELECT (SELECT min(document_id) FROM documents), 'auto', 2, number, 600, 3600,
        CASE WHEN number % 10 = 0 THEN 'failed' ELSE 'succeeded' END, 'ok', 1, now() - interval '2 days'
    FROM generate_series(1, 20000) AS number
"""


def _cost(engine: Engine, statement: TextClause) -> tuple[set[str], int]:
    """The tables that are read from end to end, and the blocks that are looked at."""
    with engine.connect() as connection:
        explained = text("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement.text)
        (plan,) = connection.execute(explained).scalar_one()
    scans = {node["Relation Name"] for node in _nodes(plan["Plan"]) if node["Node Type"] == "Seq Scan"}
    return scans, plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


def test_a_look_reads_live_tasks_and_no_history(engine: Engine, queue: Queue) -> None:
    """Twenty thousand tasks that ended, two thousand of them badly, and forty that have not."""
    for _ in range(40):
        add_task(engine, queue)
    with engine.begin() as connection:
        connection.execute(text(HISTORY))
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("VACUUM (ANALYZE, TRUNCATE) tasks"))
    costs = {name: _cost(engine, getattr(gauges, name)) for name in ("LIVE", "BADLY")}
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE documents CASCADE"))
    for name, (scans, blocks) in costs.items():
        assert "tasks" not in scans, name
        assert blocks < 150, (name, json.dumps(blocks))


# Who shows it


def test_a_port_of_the_configuration_goes_to_one_process_and_stops_no_other(
    open_for_business: Callable[..., Shop], caplog: pytest.LogCaptureFixture
) -> None:
    port = free_port()
    shop = open_for_business(metrics={"port": port})
    with exported(shop.app, slots=1):
        with exported(shop.app, slots=2):
            assert scrape(port)["doclease_worker_slots"][""] == 2  # both tell of the same app
        assert "--metrics-port" in caplog.text
        with pytest.raises(ConfigurationError, match="--metrics-port"), exported(shop.app, port=port):
            pass
        assert scrape(port)["doclease_database_up"][""] == 1


# What it is called


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=lambda metric: metric.name)
def test_names_keep_the_conventions(metric: catalogue.Metric) -> None:
    """Those of Prometheus: a prefix, base units, _total for counters and nothing else."""
    assert metric.name.startswith("doclease_")
    assert metric.name.endswith("_total") == (metric in catalogue.COUNTERS)
    assert not [unit for unit in ("_ms", "_minutes", "_megabytes", "_percent") if unit in metric.name]
    assert metric.help.endswith(".")

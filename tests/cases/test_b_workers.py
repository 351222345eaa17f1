"""Faults that workers of other products had: documents lost, done twice or for ever, in the way of others.

Of B9, two installations that share a database stand in tests/test_schemas.py. Of B10, a server that is away for longer
stands in tests/worker/test_database_away.py.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from pipeline.worker.slot import Until
from tests.cli.conftest import Doclease, rows_of
from tests.documents.samples import pdf
from tests.queue import rows
from tests.watching import drop
from tests.worker.shop import ROOT, Shop, kill_hard, open_shop, pages, until

Business = Callable[..., Shop]


def _one_by_one(shop: Shop) -> list[list[tuple[str | None, str | None]]]:
    return [shop.outcomes(row.task_id) for row in shop.rows("SELECT task_id FROM tasks ORDER BY task_id")]


@pytest.mark.slow
def test_b1_workers_killed_at_random_lose_no_document_and_double_none(open_for_business: Business) -> None:
    shop = open_for_business(lease={"base_seconds": 1.5}, queue={"max_crashes": 50})
    tasks = [shop.take(pages(4, p2="sleep 0.05")) for _ in range(30)]
    seed = int.from_bytes(os.urandom(2), "big")
    dice = random.Random(seed)  # noqa: S311 - the moments of a test
    for _ in range(3):
        worker = shop.start_worker(slots=2)
        pages_then = _pages_stored(shop) + dice.randrange(1, 16)
        until(lambda: _pages_stored(shop) >= pages_then, f"page {pages_then}")  # noqa: B023 - called at once
        kill_hard(worker)
    shop.work(slots=2)
    assert shop.statuses() == {"succeeded": 30}, f"killed by {seed}"
    assert [len(shop.pages(task_id)) for task_id in tasks] == [4] * 30
    ends = Counter(outcome for each in _one_by_one(shop) for outcome, _ in each)
    assert ends["succeeded"] == 30
    assert ends["expired"] >= 1  # a worker may die between two tasks
    assert set(ends) == {"succeeded", "expired"}


def _pages_stored(shop: Shop) -> int:
    return int(shop.rows("SELECT count(*) AS found FROM pages")[0].found)


def test_b2_a_slow_document_is_finished_in_one_attempt_on_short_leases(open_for_business: Business) -> None:
    shop = open_for_business(
        lease={"base_seconds": 0.5, "min_seconds": 0.5, "per_page_seconds": 0.01, "checkpoint_seconds": 60}
    )
    task_id = shop.take(pages(6, **{f"p{number}": "sleep 0.3" for number in range(1, 7)}))
    shop.work()
    (attempt,) = shop.attempts(task_id)
    assert (attempt.outcome, attempt.reason) == ("succeeded", "ok")
    assert (attempt.ended_at - attempt.started_at).total_seconds() > 2 * attempt.lease_seconds
    assert attempt.renewals >= 2
    short, long = (shop.task(shop.take(pages(count))) for count in (2, 200))
    assert short.lease_seconds < long.lease_seconds
    assert short.deadline_seconds < long.deadline_seconds


def test_b3_a_task_of_a_vanished_worker_is_finished_by_another(open_for_business: Business) -> None:
    shop = open_for_business(lease={"base_seconds": 1})
    gate = shop.gate()
    task_id = shop.take(pages(3, p2=f"gate {gate}"))
    worker = shop.start_worker()
    shop.reached(gate)
    kill_hard(worker)
    gate.touch()
    shop.work()
    assert shop.outcomes(task_id) == [("expired", "lost_lease"), ("succeeded", "ok")]
    first, second = shop.attempts(task_id)
    assert (first.worker != second.worker, second.worker) == (True, shop.app.worker_id)


def test_b4_a_worker_whose_row_was_deleted_or_altered_drops_its_work_and_goes_on(shop: Shop) -> None:
    first, second = shop.gate("first"), shop.gate("second")
    deleted, altered, after = (
        shop.take(pages(4, p3=f"gate {first}")), shop.take(pages(4, p3=f"gate {second}")), shop.take(pages(2)),
    )  # fmt: skip
    worker = shop.start_worker()
    shop.reached(first)
    rows.change(shop.engine, "DELETE FROM arrivals WHERE task_id = :id", id=deleted)
    rows.change(shop.engine, "DELETE FROM tasks WHERE task_id = :id", id=deleted)
    first.touch()
    shop.reached(second)
    rows.change(
        shop.engine,
        "UPDATE tasks SET status = 'enqueued', lease_token = NULL, lease_holder = NULL, lease_expires_at = NULL,"
        " deadline_at = NULL WHERE task_id = :id",
        id=altered,
    )
    second.touch()
    shop.ended(altered)
    shop.ended(after)
    assert [attempt.outcome for attempt in shop.attempts(altered)] == [None, "succeeded"]
    assert (shop.attempts(deleted), shop.pages(deleted)) == ([], [])
    assert worker.poll() is None
    assert (shop.home / "worker.log").read_text("utf-8").count("its work is dropped") == 2


def test_b6_a_document_that_kills_every_child_ends_after_its_crashes_and_stops_no_other(shop: Shop) -> None:
    killer = shop.take(pages(2), opening="kill", priority=10)
    hungry = shop.take(pages(1, p1="allocate 4000"), priority=10)
    others = [shop.take(pages(2)) for _ in range(4)]
    shop.work(slots=2)
    for task_id, reason in ((killer, "crash"), (hungry, "out_of_memory")):
        task = shop.task(task_id)
        assert (task.status, task.reason, task.crash_count) == ("quarantined", reason, 3)
    assert [shop.outcomes(task_id) for task_id in others] == [[("succeeded", "ok")]] * 4


def test_b7_one_failing_page_costs_that_page_and_a_blank_document_is_read_once(shop: Shop) -> None:
    failing, torn = shop.take(pages(5, p4="raise as ordered")), shop.take(pages(5, p4="unreadable torn"))
    blank = shop.take(["", " ", "\n"])
    shop.work()
    for task_id in (failing, torn):
        assert (shop.task(task_id).status, shop.task(task_id).reason) == ("succeeded", "ok_with_gaps")
        assert [page.page_no for page in shop.pages(task_id) if page.error] == [4]
        assert shop.attempts(task_id)[-1].result["gaps"] == [4]
    assert shop.task(torn).attempt_no == 1
    assert (shop.task(blank).reason, shop.task(blank).attempt_no) == ("empty_text", 1)
    assert not shop.app.queue.has_live_tasks()


def test_b8_small_documents_pass_by_a_huge_one(shop: Shop) -> None:
    gate = shop.gate()
    huge = shop.take(pages(300, p150=f"gate {gate}"), priority=10)
    small = [shop.take(pages(1)) for _ in range(20)]
    shop.start_worker(slots=2)
    shop.reached(gate)
    for task_id in small:
        shop.ended(task_id)
    assert shop.task(huge).status == "processing"
    gate.touch()
    shop.ended(huge)
    assert shop.outcomes(huge) == [("succeeded", "ok")]


def test_b9_a_worker_without_the_store_says_so_and_one_with_it_needs_no_inbox(
    shop: Shop, engine: Engine, database_url: URL
) -> None:
    task_id = shop.take(pages(2))
    for path in shop.home.glob("*.sab"):
        path.unlink()
    elsewhere = shop.home / "elsewhere"
    elsewhere.mkdir()
    with open_shop(elsewhere, database_url, engine) as other:
        other.work(until=Until.IDLE)
    first = shop.attempts(task_id)[0]
    assert (first.outcome, first.reason) == ("failed", "io_error")
    assert str(elsewhere) in first.error
    assert "every worker must see the same data_dir" in first.error
    assert shop.task(task_id).finished_at is None
    shop.work()
    assert shop.outcomes(task_id)[-1] == ("succeeded", "ok")


def test_b10_sessions_that_are_cut_off_are_opened_again_and_cost_nobody_anything(shop: Shop) -> None:
    for _ in range(9):
        shop.take(pages(4, p2="sleep 0.03"))
    worker = shop.start_worker()
    for count in (1, 3, 5):
        until(lambda: shop.statuses().get("succeeded", 0) >= count, f"document {count}")  # noqa: B023 - called at once
        assert rows.terminate(shop.engine, "application_name IN ('doclease work', 'doclease listener')") >= 1
    until(lambda: shop.statuses() == {"succeeded": 9}, "the end of all")
    assert worker.poll() is None
    assert Counter(outcome for each in _one_by_one(shop) for outcome, _ in each)["succeeded"] == 9
    assert shop.rows("SELECT FROM tasks WHERE failure_count + crash_count > 0") == []


def test_b10_a_command_without_a_database_says_so_by_its_exit_code(doclease: Doclease, home: Path) -> None:
    (home / "config.yaml").write_text("database_url: postgresql://nobody@127.0.0.1:1/none\n", encoding="utf-8")
    doclease("status", exit_code=7)


@pytest.mark.slow
def test_b11_a_process_of_many_slots_holds_two_connections(shop: Shop) -> None:
    for number in range(40):
        drop(shop.home, f"{number}.txt", b"words %d" % number)
    command = [sys.executable, "-m", "pipeline", "-C", str(shop.home), "run", "-n", "4"]
    seen = set()

    def all_done() -> bool:
        seen.add(
            shop.rows(
                "SELECT count(*) AS found FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name IN ('doclease run', 'doclease listener')"
            )[0].found
        )
        return shop.statuses().get("succeeded") == 40

    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        try:
            until(all_done, "the end of all")
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 130
        finally:
            process.kill()
    assert max(seen) == 2


def test_b15_every_document_of_a_batch_that_is_missing_is_named(shop: Shop, doclease: Doclease, home: Path) -> None:
    tasks = [shop.take(pages(1), opening=f"complain {number}" + "\nkill" * (number % 3 == 0)) for number in range(9)]
    shop.work(slots=2)
    failures = shop.rows("SELECT task_id, help FROM failures ORDER BY task_id")
    assert [row.task_id for row in failures] == tasks[::3]
    assert all(row.help for row in failures)
    whole = pdf.build(["a page"])
    for name, content in {"good.pdf": whole, "cut.pdf": whole[:400], "also.txt": b"words"}.items():
        (home / name).write_bytes(content)
    names = ["also.txt", "cut.pdf", "good.pdf"]
    told = doclease("ingest", *(str(home / name) for name in names), "--format", "json", exit_code=3)
    assert [row["reason"] for row in rows_of(told)] == [None, "truncated", None]


def test_b15_a_long_document_goes_on_at_the_page_after_the_last_one_stored(shop: Shop) -> None:
    task_id = shop.take(pages(300, p251=f"once {shop.home / 'killed'} kill"))
    shop.work()
    assert [attempt.pages_reused for attempt in shop.attempts(task_id)] == [0, 250]
    assert shop.outcomes(task_id) == [("crashed", "crash"), ("succeeded", "ok")]
    assert [page.attempt_no for page in shop.pages(task_id)] == [1] * 250 + [2] * 50


def test_b16_children_at_work_at_the_same_time_share_no_folder(shop: Shop) -> None:
    gate = shop.gate()
    told = [shop.home / "one", shop.home / "two"]
    for path in told:
        shop.take([f"!cwd {path}\n!gate {gate}"])
    shop.start_worker(slots=2)
    until(lambda: all(path.exists() and path.read_text("utf-8") for path in told), "both folders")
    folders = [Path(path.read_text("utf-8")) for path in told]
    assert folders[0] != folders[1]
    assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}
    gate.touch()
    until(lambda: shop.statuses() == {"succeeded": 2}, "the end of both")

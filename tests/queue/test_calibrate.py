"""What leases learn: seconds a page, from attempts as their rows tell of them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, text

from pipeline.queue.store import Queue
from tests.tasks import add_task

_ATTEMPTS = text("""
    WITH tasks AS (
        INSERT INTO tasks (document_id, page_count, ocr_page_count, status, reason, finished_at, rank_ms, lease_seconds,
                           deadline_seconds)
        SELECT document_id, 1, :ocr, 'cancelled', 'cancelled', queue_now(), 0, 15, 60
        FROM documents, generate_series(1, CAST(:times AS integer))
        RETURNING task_id
    ),
    began AS (SELECT queue_now() - interval '1 day' AS at)
    INSERT INTO attempts (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at, ended_at,
                          outcome, pages_done, pages_reused, cpu_seconds, late_finish_at)
    SELECT
        task_id, 1, gen_random_uuid(), 'w', 15, at, at + make_interval(secs => :progressed),
        at + make_interval(secs => :lasted), :outcome, :reused + :pages, :reused, :cpu,
        at + make_interval(secs => :late)
    FROM tasks, began
""")


class History:
    """Attempts of the past, each like the others of its call."""

    def __init__(self, engine: Engine, queue: Queue) -> None:
        self._engine, self._queue = engine, queue
        add_task(engine, queue)  # for its document

    def add(self, times: int, *, pages: int, lasted: float, ocr: int = 0, **rest: Any) -> None:
        """So many attempts, a task each; `ocr` pages of their documents need recognition."""
        usual = {"outcome": "succeeded", "cpu": None, "reused": 0, "progressed": lasted, "late": None}
        values = {**usual, **rest, "times": times, "pages": pages, "lasted": lasted, "ocr": ocr}
        with self._engine.begin() as connection:
            connection.execute(_ATTEMPTS, values)

    def learned(self) -> dict[str, float]:
        """What is learned of them all."""
        self._queue.calibrate()
        return {source: round(rate, 4) for source, rate in self._queue.rates("auto").items()}


@pytest.fixture
def history(engine: Engine, queue: Queue) -> History:
    return History(engine, queue)


def test_nothing_is_learned_of_fewer_than_fifty_attempts(history: History) -> None:
    history.add(49, pages=10, lasted=6)
    assert history.learned() == {}
    history.add(1, pages=10, lasted=6)
    assert history.learned() == {"text": 0.5}


def test_what_is_learned_is_what_all_but_one_in_a_hundred_stay_below(history: History) -> None:
    history.add(199, pages=10, lasted=2)
    history.add(1, pages=10, lasted=901)
    assert history.learned() == {"text": 0.1}
    history.add(3, pages=10, lasted=901)
    assert history.learned() == {"text": 90}


def test_waits_before_and_after_the_work_are_no_work(history: History) -> None:
    """A claim may wait in memory for the one before it, an end for the commit that it shares."""
    history.add(60, pages=2, lasted=0.05 + 0.2 + 0.1, cpu=0.05)
    assert history.learned() == {"text": 0.025}


def test_a_page_that_waits_for_its_disk_counts_by_the_clock(history: History) -> None:
    history.add(60, pages=20, lasted=21, cpu=0.1)
    assert history.learned() == {"text": 1}


def test_a_killed_attempt_counts_as_what_it_used(history: History) -> None:
    history.add(95, pages=2, lasted=0.1, cpu=0.1)
    history.add(5, pages=0, lasted=31, outcome="crashed", cpu=29)
    assert history.learned() == {"text": 30}


def test_the_slow_that_were_given_back_at_their_deadline_count(history: History) -> None:
    history.add(95, pages=2, lasted=0.1, cpu=0.1)
    history.add(5, pages=10, lasted=41, outcome="released")
    assert history.learned() == {"text": 4}
    history.add(10_000, pages=0, lasted=0.1, outcome="released")
    assert history.learned() == {"text": 4}, "what was given back untouched tells nothing"


def test_leases_do_not_learn_from_the_leases_of_workers_that_died(history: History) -> None:
    history.add(90, pages=2, lasted=0.1, cpu=0.1)
    history.add(10, pages=0, lasted=19, outcome="expired", progressed=0)
    assert history.learned() == {"text": 0.05}


def test_a_false_recovery_counts_until_its_worker_was_done(history: History) -> None:
    history.add(90, pages=2, lasted=0.1, cpu=0.1)
    history.add(10, pages=0, lasted=19, outcome="expired", progressed=0, late=41)
    assert history.learned() == {"text": 40}


def test_a_few_scans_in_a_long_document_are_what_it_took(history: History) -> None:
    history.add(60, pages=200, ocr=2, lasted=9)
    assert history.learned() == {"ocr": 4}


def test_reused_pages_took_nothing(history: History) -> None:
    history.add(60, pages=4, reused=96, lasted=5)
    assert history.learned() == {"text": 1}

"""P1, with a real worker that freezes: one result is accepted, and the frozen one leaves a mark and nothing else."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.worker.shop import Shop, kill_hard, pages, until

pytestmark = pytest.mark.slow


def _all_rows(shop: Shop) -> dict[str, list[Any]]:
    attempts = [{**row._mapping, "late_finish_at": None} for row in shop.rows("SELECT * FROM attempts")]
    return {
        "tasks": [dict(row._mapping) for row in shop.rows("SELECT * FROM tasks")],
        "attempts": sorted(attempts, key=lambda row: (row["task_id"], row["attempt_no"])),
        "pages": [dict(row._mapping) for row in shop.rows("SELECT * FROM pages ORDER BY task_id, page_no")],
    }


def test_a_worker_that_froze_past_its_lease_changes_nothing_when_it_thaws(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(lease={"base_seconds": 2})
    gate = shop.gate()
    task_id = shop.take(pages(5, p3=f"gate {gate}"))
    frozen = shop.start_worker()
    shop.reached(gate)
    until(lambda: len(shop.pages(task_id)) == 2, "the second page")
    frozen.send_signal(signal.SIGSTOP)
    other = shop.start_worker()
    until(lambda: len(shop.attempts(task_id)) == 2, "the second attempt")
    gate.touch()
    shop.ended(task_id)
    before = _all_rows(shop)
    frozen.send_signal(signal.SIGCONT)
    until(lambda: shop.attempts(task_id)[0].late_finish_at is not None, "the mark of the late worker")
    assert _all_rows(shop) == before
    assert shop.outcomes(task_id) == [("expired", "lost_lease"), ("succeeded", "ok")]
    assert [row.attempt_no for row in shop.pages(task_id)] == [1, 1, 2, 2, 2]
    kill_hard(other)
    after = shop.take(pages(1))
    shop.ended(after)
    assert shop.attempts(after)[0].worker == shop.attempts(task_id)[0].worker

"""P5, with real kills: the next attempt begins at the page after the last one stored, and the text is whole."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from tests.queue import rows
from tests.worker.shop import Shop, kill_hard, pages, until

pytestmark = pytest.mark.slow


def test_a_worker_killed_at_random_pages_does_no_page_twice(open_for_business: Callable[..., Shop]) -> None:
    shop = open_for_business(lease={"base_seconds": 1.5})
    seed = int.from_bytes(os.urandom(2), "big")
    first, second = sorted(random.Random(seed).sample(range(2, 40), 2))  # noqa: S311 - the moments of a test
    gates = {first: shop.gate("first"), second: shop.gate("second")}
    sheets = pages(40, **{f"p{number}": f"gate {gate}" for number, gate in gates.items()})
    task_id = shop.take(sheets)
    for number, gate in gates.items():
        worker = shop.start_worker()
        shop.reached(gate)
        _stored(shop, task_id, number - 1)
        kill_hard(worker)
        gate.touch()
    shop.work()
    attempts = shop.attempts(task_id)
    assert [each.outcome for each in attempts] == ["expired", "expired", "succeeded"], f"killed at {first}, {second}"
    assert [each.pages_reused for each in attempts] == [0, first - 1, second - 1]
    assert [row.text for row in shop.pages(task_id)] == sheets
    writers = [1] * (first - 1) + [2] * (second - first) + [3] * (41 - second)
    assert [row.attempt_no for row in shop.pages(task_id)] == writers


def test_a_worker_whose_pages_a_failover_forgot_leaves_them_to_the_next_attempt(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(lease={"base_seconds": 1.5})
    gate = shop.gate()
    sheets = pages(8, p6=f"gate {gate}")
    task_id = shop.take(sheets)
    shop.start_worker()
    shop.reached(gate)
    _stored(shop, task_id, 5)
    rows.change(shop.engine, "DELETE FROM pages WHERE page_no > 2")
    rows.change(shop.engine, "UPDATE tasks SET pages_done = 2")
    gate.touch()
    until(lambda: shop.task(task_id).status == "succeeded", "the end")
    assert [row.text for row in shop.pages(task_id)] == sheets
    assert [row.attempt_no for row in shop.pages(task_id)] == [1, 1, 2, 2, 2, 2, 2, 2]
    assert [each.outcome for each in shop.attempts(task_id)] == ["expired", "succeeded"]


def _stored(shop: Shop, task_id: int, count: int) -> None:
    until(lambda: len(shop.pages(task_id)) == count, f"page {count}")

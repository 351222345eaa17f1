"""P3, with a real worker: a slow document that gets on is finished in one attempt, however long it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.worker.shop import Shop, pages

pytestmark = pytest.mark.slow


def test_a_document_of_slow_pages_outlives_its_lease_many_times_in_one_attempt(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(lease={"base_seconds": 1.5, "per_page_seconds": 0.01, "checkpoint_seconds": 60})
    slow = {f"p{number}": "sleep 0.5" for number in range(1, 13)}
    task_id = shop.take(pages(12, **slow))
    shop.start_worker()
    shop.start_worker()
    shop.ended(task_id)
    (attempt,) = shop.attempts(task_id)
    assert (attempt.outcome, attempt.reason, attempt.late_finish_at) == ("succeeded", "ok", None)
    assert (attempt.ended_at - attempt.started_at).total_seconds() > 3 * attempt.lease_seconds
    assert len(shop.pages(task_id)) == 12


@pytest.mark.slow
def test_an_attempt_at_its_limit_gives_back_a_document_that_comes_on_and_charges_nothing(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(lease={"base_seconds": 5, "slack": 1})
    task_id = shop.take(pages(6, **{f"p{number}": "sleep 1.2" for number in range(1, 7)}))
    shop.work()
    assert shop.outcomes(task_id)[-1] == ("succeeded", "ok")
    assert set(shop.outcomes(task_id)[:-1]) == {("released", "timeout")}
    task = shop.task(task_id)
    assert (task.crash_count, task.failure_count, task.release_count) == (0, 0, 0)
    first, *_ = shop.attempts(task_id)
    assert 0 < first.pages_done < 6
    assert [page.page_no for page in shop.pages(task_id)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow
def test_an_attempt_at_its_limit_without_a_page_is_a_crash(open_for_business: Callable[..., Shop]) -> None:
    shop = open_for_business(lease={"base_seconds": 3, "slack": 1, "busy_extensions": 100}, queue={"max_crashes": 1})
    task_id = shop.take(pages(2, p1="spin forever"))
    shop.work()
    assert shop.outcomes(task_id) == [("crashed", "timeout")]

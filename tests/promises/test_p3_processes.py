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

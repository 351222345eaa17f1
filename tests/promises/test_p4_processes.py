"""P4, with real deaths: a document that takes whole workers along ends in quarantine, and the others get through."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.worker.shop import Shop, pages, until

pytestmark = pytest.mark.slow


def test_a_document_that_kills_whole_workers_is_quarantined_and_the_others_are_read(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(lease={"base_seconds": 1.5})
    killer = shop.take(pages(2), opening="kill_parent", priority=10)
    others = [shop.take(pages(2)) for _ in range(3)]
    workers = [shop.start_worker()]
    while shop.task(killer).finished_at is None:
        if workers[-1].poll() is not None:
            workers.append(shop.start_worker())
        until(lambda: workers[-1].poll() is not None or shop.task(killer).finished_at is not None, "the next death")
    for task_id in others:
        shop.ended(task_id)
    task = shop.task(killer)
    assert (task.status, task.reason, task.crash_count) == ("quarantined", "lost_lease", 3)
    assert shop.outcomes(killer) == [("expired", "lost_lease")] * 3
    assert [shop.task(task_id).status for task_id in others] == ["succeeded"] * 3
    assert workers[-1].poll() is None

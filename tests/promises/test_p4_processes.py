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


def test_every_page_that_kills_its_parser_is_bisected_out_however_many_there_are(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business()
    task_id = shop.take(pages(12, p2="kill", p5="segfault", p6="kill", p11="abort"))
    shop.work()
    assert (shop.task(task_id).status, shop.task(task_id).reason) == ("succeeded", "ok_with_gaps")
    gaps = shop.rows("SELECT page_no, error FROM pages_v WHERE source = 'none' ORDER BY page_no")
    assert [row.page_no for row in gaps] == [2, 5, 6, 11]
    assert "took the parser down 2 times" in gaps[1].error
    assert "SIGSEGV" in gaps[1].error
    assert [row.text.startswith("Page") for row in shop.pages(task_id)].count(True) == 8
    assert [outcome for outcome, _ in shop.outcomes(task_id)] == ["crashed"] * 8 + ["succeeded"]


def test_a_document_of_nothing_but_killing_pages_ends_in_quarantine_and_not_never(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(worker={"max_skipped_pages": 2})
    task_id = shop.take(pages(9, **{f"p{number}": "kill" for number in range(2, 10)}))
    shop.work()
    task = shop.task(task_id)
    assert (task.status, task.reason) == ("quarantined", "crash")
    assert "worker.max_skipped_pages (2)" in task.error
    assert len(shop.attempts(task_id)) == 5  # two for each page that was skipped, and one more

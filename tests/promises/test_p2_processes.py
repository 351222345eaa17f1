"""P2, with real kills: whatever dies, the task is taken back within its lease + 2 sweeps and goes on where it was."""

from __future__ import annotations

import datetime as dt
import os
import signal
from collections.abc import Callable

import pytest

from tests.worker.shop import Shop, children_of, is_alive, kill_hard, pages, until

pytestmark = pytest.mark.slow

INTERVAL_SECONDS = 1.0
SLACK = dt.timedelta(seconds=10)  # for a machine that is busy with something else


def test_a_killed_workers_document_is_taken_back_within_lease_and_two_sweeps(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(lease={"base_seconds": 2}, sweep={"interval_seconds": INTERVAL_SECONDS})
    gate = shop.gate()
    task_id = shop.take(pages(9, p6=f"gate {gate}"))
    worker = shop.start_worker()
    shop.reached(gate)
    until(lambda: len(shop.pages(task_id)) == 5, "the fifth page")
    (child,) = children_of(worker.pid)
    other = shop.start_worker()
    kill_hard(worker)
    until(lambda: not is_alive(child), "the end of the child")
    gate.touch()
    shop.ended(task_id)
    lost, resumed = shop.attempts(task_id)
    allowed = dt.timedelta(seconds=lost.lease_seconds + 2 * INTERVAL_SECONDS)
    assert lost.ended_at - lost.progressed_at <= allowed + SLACK
    assert (lost.outcome, lost.reason, lost.pages_done) == ("expired", "lost_lease", 5)
    assert (resumed.outcome, resumed.pages_reused, resumed.worker != lost.worker) == ("succeeded", 5, True)
    (told,) = shop.rows("SELECT * FROM recoveries")
    assert (told.lost_at_page, told.resumed_at_page, told.resumed_outcome) == (5, 6, "succeeded")
    assert other.poll() is None


def test_a_killed_child_costs_no_lease_at_all(open_for_business: Callable[..., Shop]) -> None:
    shop = open_for_business(lease={"base_seconds": 600, "max_seconds": 900})
    gate = shop.gate()
    task_id = shop.take(pages(3, p2=f"gate {gate}"))
    worker = shop.start_worker()
    shop.reached(gate)
    (child,) = children_of(worker.pid)
    gate.touch()
    other = shop.gate("second")
    task_2 = shop.take(pages(3, p2=f"gate {other}"))
    shop.reached(other)
    assert children_of(worker.pid) == [child]
    os.kill(child, signal.SIGKILL)
    until(lambda: len(shop.attempts(task_2)) == 2, "the next attempt")
    other.touch()
    shop.ended(task_2)
    first, second = shop.attempts(task_2)
    assert (first.outcome, first.error) == ("crashed", "the parser died of signal 9 (SIGKILL)")
    assert (first.page_no, second.outcome, second.worker) == (2, "succeeded", first.worker)
    assert shop.outcomes(task_id) == [("succeeded", "ok")]

"""P6, with real signals: stopping finishes or gives back what is in hand; nothing stays processing or is charged."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

from pipeline.worker.slot import Until
from tests.worker.shop import Shop, children_of, is_alive, pages, until

pytestmark = pytest.mark.slow


def _said(shop: Shop, words: str) -> bool:
    return words in (shop.home / "worker.log").read_text(encoding="utf-8")


def test_a_draining_worker_finishes_its_document_and_renews_its_lease_until_the_end(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(lease={"base_seconds": 2}, worker={"drain_seconds": 600})
    gate = shop.gate()
    slow = {f"p{number}": "sleep 0.3" for number in range(3, 17)}
    task_id, waiting = shop.take(pages(16, p2=f"gate {gate}", **slow)), shop.take(pages(1))
    worker = shop.start_worker()
    shop.reached(gate)
    worker.send_signal(signal.SIGTERM)
    until(lambda: _said(shop, "draining"), "draining")
    renewals = shop.attempts(task_id)[0].renewals
    gate.touch()
    assert worker.wait(60) == 0
    (attempt,) = shop.attempts(task_id)
    assert (attempt.outcome, attempt.reason) == ("succeeded", "ok")
    assert attempt.renewals > renewals + 1
    assert shop.task(waiting).attempt_no == 0
    assert shop.statuses() == {"succeeded": 1, "enqueued": 1}


def test_what_does_not_end_within_the_drain_time_is_given_back_and_not_charged(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(lease={"base_seconds": 60}, worker={"drain_seconds": 0.3})
    gate = shop.gate()
    task_id = shop.take(pages(4, p3=f"gate {gate}"))
    worker = shop.start_worker()
    shop.reached(gate)
    (child,) = children_of(worker.pid)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    until(lambda: not is_alive(child), "the end of the child")
    task = shop.task(task_id)
    assert (task.status, task.failure_count, task.crash_count, task.release_count) == ("enqueued", 0, 0, 1)
    assert shop.outcomes(task_id) == [("released", "released")]
    assert len(shop.pages(task_id)) == 2
    gate.touch()
    shop.work()
    assert shop.outcomes(task_id)[1] == ("succeeded", "ok")
    assert shop.attempts(task_id)[1].pages_reused == 2


def test_a_second_signal_gives_back_at_once(open_for_business: Callable[..., Shop]) -> None:
    shop = open_for_business(lease={"base_seconds": 60}, worker={"drain_seconds": 600})
    gate = shop.gate()
    task_id = shop.take(pages(2, p1=f"gate {gate}"))
    worker = shop.start_worker()
    shop.reached(gate)
    worker.send_signal(signal.SIGTERM)
    until(lambda: _said(shop, "draining"), "draining")
    assert shop.task(task_id).status == "processing"
    worker.send_signal(signal.SIGINT)
    assert worker.wait(60) == 0
    assert (shop.task(task_id).status, shop.outcomes(task_id)) == ("enqueued", [("released", "released")])


@pytest.fixture
def _late_signals_do_nothing() -> Iterator[None]:
    """A signal that comes when the supervisor has ended must not end the tests."""
    before = signal.signal(signal.SIGTERM, _nothing)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("_late_signals_do_nothing")
def test_twenty_stops_at_random_moments_leave_nothing_processing_and_charge_nobody(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(worker={"drain_seconds": 0, "claim_ahead_seconds": 1})
    tasks = [shop.take(pages(5, p2="sleep 0.02", p4="spin 0.02")) for _ in range(40)]
    dice = random.Random(7)  # noqa: S311 - the moments of a test
    for _ in range(20):
        stopper = threading.Thread(target=_stop_after, args=(shop, dice.randrange(4), dice.randrange(1, 6)))
        stopper.start()
        shop.work(slots=2, until=Until.STOPPED)
        stopper.join()
        assert "processing" not in shop.statuses()
    shop.work(slots=2)
    assert shop.statuses() == {"succeeded": 40}
    assert [row[0] for row in shop.rows("SELECT DISTINCT failure_count + crash_count FROM tasks")] == [0]
    assert all(len(shop.pages(task_id)) == 5 for task_id in tasks)
    assert shop.rows("SELECT FROM attempts WHERE outcome = 'released'")


def _nothing(number: int, frame: FrameType | None) -> None:
    """What a signal does between two supervisors."""


def _stop_after(shop: Shop, attempts: int, signals: int) -> None:
    """Send signals, several in a row, once so many more attempts have begun."""
    until(lambda: signal.getsignal(signal.SIGTERM) is not _nothing, "a supervisor that listens")
    before = _attempts(shop)
    until(lambda: _attempts(shop) >= before + attempts or shop.statuses().keys() == {"succeeded"}, "the moment")
    for _ in range(signals):
        os.kill(os.getpid(), signal.SIGTERM)


def _attempts(shop: Shop) -> int:
    return int(shop.rows("SELECT count(*) AS found FROM attempts")[0].found)

"""P1, P2 and P6 of tasks that were claimed together: one long document keeps nobody, a death doubles and loses nothing.

With real workers and children. A worker claims one task first; then it knows how short documents are, and claims many.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.queue.model import Claim
from tests.worker.shop import Shop, pages, until

pytestmark = pytest.mark.slow

AHEAD: dict[str, float] = {"claim_ahead_seconds": 600}  # more than any document here: claims take all there is
HOARDER = "tests.worker.hoarding_worker"


def _took_together(shop: Shop, tasks: list[int]) -> None:
    (row,) = shop.rows("SELECT count(DISTINCT xmin::text) AS claims FROM tasks WHERE task_id = ANY(:ids)", ids=tasks)
    assert row.claims == 1, "the tasks were not claimed together"


def _charges(shop: Shop) -> int:
    (row,) = shop.rows("SELECT sum(failure_count + crash_count + release_count) AS charges FROM tasks")
    return int(row.charges)


def test_a_long_document_gives_back_what_was_claimed_with_it_and_others_do_that(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(worker=AHEAD, lease={"base_seconds": 60})
    gate = shop.gate()
    first, long = shop.take(pages(1)), shop.take(pages(1, p1=f"gate {gate}"))
    others = [shop.take(pages(2)) for _ in range(4)]
    shop.start_worker()
    shop.reached(gate)
    until(lambda: shop.statuses().get("enqueued") == 4, "the return of the others")
    assert shop.task(first).status == "succeeded"
    shop.start_worker()
    for task_id in others:
        shop.ended(task_id)
    assert shop.task(long).status == "processing"
    assert [shop.outcomes(task_id) for task_id in others] == [[("released", "released"), ("succeeded", "ok")]] * 4
    gate.touch()
    shop.ended(long)
    assert (shop.outcomes(long), _charges(shop)) == ([("succeeded", "ok")], 0)


def test_a_worker_that_drains_finishes_the_document_in_hand_and_gives_the_rest_back(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(worker={**AHEAD, "drain_seconds": 600}, lease={"base_seconds": 60})
    gate = shop.gate()
    shop.take(pages(1))
    long, others = shop.take(pages(1, p1=f"gate {gate}")), [shop.take(pages(2)) for _ in range(4)]
    worker = shop.start_worker()
    shop.reached(gate)
    worker.send_signal(signal.SIGTERM)
    until(lambda: shop.statuses().get("enqueued") == 4, "the return of the others")
    gate.touch()
    assert worker.wait(60) == 0
    assert shop.outcomes(long) == [("succeeded", "ok")]
    assert [shop.outcomes(task_id) for task_id in others] == [[("released", "released")]] * 4
    assert _charges(shop) == 0


def test_a_worker_killed_before_its_results_were_committed_has_them_done_again_once(
    open_for_business: Callable[..., Shop], tmp_path: Path
) -> None:
    shop = open_for_business(worker=AHEAD, lease={"base_seconds": 1.5, "min_seconds": 4})
    shop.take(pages(1))
    ready = [shop.take(pages(2)) for _ in range(5)]
    killer = shop.take(pages(3), opening=f"once {tmp_path / 'killed'} kill_parent")
    worker = shop.start_worker(module=HOARDER)
    until(lambda: worker.poll() is not None, "the end of the worker")
    _took_together(shop, [*ready, killer])
    assert [shop.task(task_id).status for task_id in ready] == ["processing"] * 5
    assert [shop.pages(task_id) for task_id in ready] == [[]] * 5
    shop.work()
    assert shop.statuses() == {"succeeded": 7}
    assert [shop.outcomes(task_id) for task_id in ready] == [[("expired", "lost_lease"), ("succeeded", "ok")]] * 5
    assert [row.attempt_no for task_id in ready for row in shop.pages(task_id)] == [2] * 10
    assert _charges(shop) == 0


def test_a_child_that_dies_in_the_middle_of_a_batch_costs_its_document_only(
    open_for_business: Callable[..., Shop], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = open_for_business(worker=AHEAD, lease={"base_seconds": 60})
    claims: list[list[Claim]] = []
    ask = shop.app.queue.claim

    def noted(worker: str, *, batch: int = 1, suspects: bool = True) -> list[Claim]:
        claims.append(ask(worker, batch=batch, suspects=suspects))
        return claims[-1]

    monkeypatch.setattr(shop.app.queue, "claim", noted)
    before = [shop.take(pages(1)) for _ in range(4)]
    dies = shop.take(pages(1, p1=f"once {tmp_path / 'died'} kill"))
    after = [shop.take(pages(1)) for _ in range(4)]
    shop.work()
    assert shop.statuses() == {"succeeded": 9}
    assert [len(claim) for claim in claims[:2]] == [1, 8]
    assert all(len(claim) == 1 for claim in claims if any(each.is_suspect for each in claim))
    assert shop.outcomes(dies) == [("crashed", "crash"), ("succeeded", "ok")]
    ends = {end for task_id in (*before, *after) for end in shop.outcomes(task_id)}
    assert ends <= {("succeeded", "ok"), ("released", "released")}
    assert [shop.task(task_id).failure_count for task_id in (*before, *after)] == [0] * 8
    assert all(len(shop.pages(task_id)) == 1 for task_id in (*before, dies, *after))

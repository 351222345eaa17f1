"""The kernel runs out of memory for a worker: it may kill the child, the worker, or all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.faults.cgroups import MemoryGroup, memory_group, prefer_as_victim
from tests.worker.shop import Shop, children_of, is_alive, pages, until

pytestmark = pytest.mark.slow

ROOMY = {"max_memory_megabytes": 4096}  # the group's limit is met before the child's own
GROUP_MEGABYTES = 400
TOO_MUCH = "allocate 2000"


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    """Where a worker is short of memory."""
    with memory_group() as made:
        made.limit(GROUP_MEGABYTES)
        yield made


def test_a_child_killed_for_memory_costs_its_document_a_crash_and_the_worker_nothing(
    open_for_business: Callable[..., Shop], group: MemoryGroup
) -> None:
    shop = open_for_business(worker=ROOMY)
    hungry = shop.take(pages(3, p2=TOO_MUCH), priority=10)
    others = [shop.take(pages(2)) for _ in range(3)]
    worker = shop.start_worker(prefix=group.prefix)
    for task_id in (hungry, *others):
        shop.ended(task_id)
    assert worker.poll() is None
    assert (shop.task(hungry).status, shop.task(hungry).reason) == ("succeeded", "ok_with_gaps")
    assert [page.page_no for page in shop.pages(hungry) if page.error] == [2]
    assert {attempt.outcome for attempt in shop.attempts(hungry)[:-1]} == {"crashed"}
    assert [shop.outcomes(task_id) for task_id in others] == [[("succeeded", "ok")]] * 3


def test_a_worker_killed_for_memory_loses_its_document_to_another_and_no_page(
    open_for_business: Callable[..., Shop], group: MemoryGroup
) -> None:
    shop = open_for_business(worker=ROOMY, lease={"base_seconds": 1.5})
    gate = shop.gate()
    task_id = shop.take(pages(4, p3=f"once {shop.home / 'eaten'} gate {gate}\n!once {shop.home / 'full'} {TOO_MUCH}"))
    worker = shop.start_worker(prefix=group.prefix)
    shop.reached(gate)
    until(lambda: len(shop.pages(task_id)) == 2, "the second page")
    (child,) = children_of(worker.pid)
    prefer_as_victim(worker.pid)
    gate.touch()
    until(lambda: worker.poll() is not None, "the end of the worker")
    until(lambda: not is_alive(child), "the end of its child")
    shop.work()
    assert shop.outcomes(task_id) == [("expired", "lost_lease"), ("succeeded", "ok")]
    assert [page.attempt_no for page in shop.pages(task_id)] == [1, 1, 2, 2]


def test_a_pod_that_is_evicted_leaves_its_documents_to_others(
    open_for_business: Callable[..., Shop], group: MemoryGroup
) -> None:
    shop = open_for_business(lease={"base_seconds": 1.5})
    gates = [shop.gate(f"gate{number}") for number in range(2)]
    tasks = [shop.take(pages(4, p3=f"gate {gate}")) for gate in gates]
    worker = shop.start_worker(slots=2, prefix=group.prefix)
    for gate in gates:
        shop.reached(gate)
    group.kill_all()
    assert worker.wait() < 0
    for gate in gates:
        gate.touch()
    shop.work(slots=2)
    assert [shop.outcomes(task_id) for task_id in tasks] == [[("expired", "lost_lease"), ("succeeded", "ok")]] * 2
    assert [shop.task(task_id).crash_count for task_id in tasks] == [0, 0]

"""Idle slots are woken one by one, as many as there are documents."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.worker.shop import Shop, pages

LONG_SECONDS = 600


@pytest.mark.slow
def test_one_notification_wakes_as_many_slots_as_there_are_documents(open_for_business: Callable[..., Shop]) -> None:
    shop = open_for_business(
        queue={"poll_seconds": LONG_SECONDS}, sweep={"interval_seconds": LONG_SECONDS}, lease={"base_seconds": 60}
    )
    later = [_held_up(shop, f"later-{number}") for number in range(3)]
    for task_id in later:
        shop.app.queue.cancel(task_id)
    sooner = [_held_up(shop, f"sooner-{number}") for number in range(3)]
    shop.start_worker(slots=3)
    _let_pass(shop, sooner, "sooner")
    for task_id in later:
        shop.app.queue.retry(task_id)
    shop.app.notifier.notify()
    _let_pass(shop, later, "later")


def _held_up(shop: Shop, name: str) -> int:
    return shop.take(pages(1, p1=f"gate {shop.gate(name)}"))


def _let_pass(shop: Shop, tasks: list[int], name: str) -> None:
    """Open the gates only once all tasks are in work at the same time."""
    gates = [shop.gate(f"{name}-{number}") for number in range(len(tasks))]
    for gate in gates:
        shop.reached(gate)
    for gate in gates:
        gate.touch()
    for task_id in tasks:
        shop.ended(task_id)

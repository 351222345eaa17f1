"""A claim takes as many documents as are worth its time, and few again as soon as they are long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.worker.appetite import MOST, Appetite

AHEAD_SECONDS = 0.2


def _after(*costs: float, ahead_seconds: float = AHEAD_SECONDS) -> int:
    appetite = Appetite(ahead_seconds)
    for seconds in costs:
        appetite.cost(seconds)
    return appetite.tasks


@given(st.floats(0, 100), st.integers(1, 40))
def test_what_always_costs_the_same_is_claimed_for_the_time_it_is_worth(seconds: float, times: int) -> None:
    tasks = _after(*[seconds] * times)
    assert 1 <= tasks <= MOST
    assert tasks == 1 or tasks * seconds <= AHEAD_SECONDS * 1.001
    assert tasks == MOST or (tasks + 1) * seconds >= AHEAD_SECONDS * 0.999


@given(st.lists(st.floats(0, 100), max_size=30), st.floats(0, 100), st.floats(0, 100))
def test_a_longer_document_never_raises_the_next_claim(before: list[float], one: float, other: float) -> None:
    assert _after(*before, max(one, other)) <= _after(*before, min(one, other))


def test_nothing_measured_claims_one_and_so_does_no_time() -> None:
    assert _after() == 1
    assert _after(*[0.001] * 20, ahead_seconds=0) == 1


def test_a_scan_among_invoices_is_one_document_and_a_run_of_scans_is_another_line() -> None:
    invoices = [0.02] * 20
    assert _after(*invoices) == 10
    assert _after(*invoices, 10) <= 2
    assert _after(*invoices, 10, *invoices[:5]) >= 5
    assert _after(*invoices, 10, 10) == 1

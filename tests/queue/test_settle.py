"""What becomes of an attempt that did not succeed: bounded, monotone, and each counter for itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.queue.backoff import backoff_seconds
from pipeline.queue.model import Outcome
from pipeline.queue.settle import Counts, Fault, Limits, decide
from pipeline.queue.states import FINAL, TRANSITIONS, Status

faults = st.sampled_from(Fault)
counts = st.builds(Counts, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
limits = st.builds(
    Limits,
    st.integers(1, 50),
    st.integers(1, 50),
    st.integers(1, 50),
    st.floats(0.001, 3600),
    st.floats(0.001, 86_400),
)
jitters = st.floats(0, 1, exclude_max=True)
SEVERITY = [Status.ENQUEUED, Status.DELAYED, Status.FAILED, Status.QUARANTINED, Status.CANCELLED]


@given(faults, counts, limits, jitters)
def test_a_decision_is_a_move_that_the_table_allows(
    fault: Fault, before: Counts, within: Limits, jitter: float
) -> None:
    decision = decide(fault, before, within, jitter=jitter)
    assert (Status.PROCESSING, decision.status) in TRANSITIONS
    assert decision.status is not Status.SUCCEEDED
    assert decision.outcome not in {Outcome.SUCCEEDED, Outcome.EXPIRED}


@given(faults, counts, limits, jitters)
def test_each_fault_raises_its_own_counter_by_one(fault: Fault, before: Counts, within: Limits, jitter: float) -> None:
    decision = decide(fault, before, within, jitter=jitter)
    raised = (decision.failures, decision.crashes, decision.releases)
    assert (
        raised
        == {
            Fault.PERMANENT: (1, 0, 0),
            Fault.HOSTILE: (1, 0, 0),
            Fault.TRANSIENT: (1, 0, 0),
            Fault.CRASH: (0, 1, 0),
            Fault.RELEASE: (0, 0, 1),
            Fault.PAUSE: (0, 0, 0),
            Fault.CANCEL: (0, 0, 0),
        }[fault]
    )


@given(faults, counts, limits, jitters)
def test_a_wait_is_bounded_and_only_a_delayed_task_waits(
    fault: Fault, before: Counts, within: Limits, jitter: float
) -> None:
    decision = decide(fault, before, within, jitter=jitter)
    if decision.status is Status.DELAYED:
        shortest = min(within.backoff_seconds, within.backoff_cap_seconds) * 0.5
        assert shortest <= decision.delay_seconds <= within.backoff_cap_seconds * 1.5
    else:
        assert decision.delay_seconds == 0


@given(st.sampled_from([Fault.TRANSIENT, Fault.CRASH, Fault.RELEASE]), limits, jitters, st.integers(0, 49))
def test_one_more_of_the_same_never_ends_more_kindly_or_sooner(
    fault: Fault, within: Limits, jitter: float, times: int
) -> None:
    once = decide(fault, Counts(times, times, times), within, jitter=jitter)
    again = decide(fault, Counts(times + 1, times + 1, times + 1), within, jitter=jitter)
    assert SEVERITY.index(again.status) >= SEVERITY.index(once.status)
    if again.status is once.status:
        assert again.delay_seconds >= once.delay_seconds


@given(st.sampled_from([Fault.TRANSIENT, Fault.CRASH, Fault.RELEASE]), limits, jitters)
def test_whatever_goes_on_happening_ends_after_exactly_its_limit(fault: Fault, within: Limits, jitter: float) -> None:
    limit = {
        Fault.TRANSIENT: within.max_failures,
        Fault.CRASH: within.max_crashes,
        Fault.RELEASE: within.max_releases,
    }[fault]
    ends = [decide(fault, Counts(n, n, n), within, jitter=jitter).status in FINAL for n in range(limit)]
    assert ends == [False] * (limit - 1) + [True]


@given(counts, limits, jitters)
def test_counters_do_not_mix(before: Counts, within: Limits, jitter: float) -> None:
    """No deploy uses up a document's retries, and no crash loop hides behind a refund."""
    fresh = Counts()
    kept = {
        Fault.TRANSIENT: Counts(fresh.failures, before.crashes, before.releases),
        Fault.CRASH: Counts(before.failures, fresh.crashes, before.releases),
        Fault.RELEASE: Counts(before.failures, before.crashes, fresh.releases),
    }
    for fault, others_raised in kept.items():
        assert decide(fault, others_raised, within, jitter=jitter) == decide(fault, fresh, within, jitter=jitter)


@given(counts, limits, jitters)
def test_a_permanent_fault_and_a_cancellation_never_come_back(before: Counts, within: Limits, jitter: float) -> None:
    assert decide(Fault.PERMANENT, before, within, jitter=jitter).status is Status.FAILED
    assert decide(Fault.CANCEL, before, within, jitter=jitter).status is Status.CANCELLED


@given(st.integers(-5, 10**9), st.floats(0.001, 10**6), st.floats(0.001, 10**6), jitters)
def test_backoff_stays_within_its_bounds(failures: int, base: float, cap: float, jitter: float) -> None:
    wait = backoff_seconds(failures, base_seconds=base, cap_seconds=cap, jitter=jitter)
    assert min(base, cap) * 0.5 <= wait <= cap * 1.5


@given(st.integers(1, 100), jitters)
def test_backoff_doubles_until_the_cap(failures: int, jitter: float) -> None:
    def wait(times: int) -> float:
        return backoff_seconds(times, base_seconds=5, cap_seconds=600, jitter=jitter)

    assert wait(failures + 1) in (wait(failures) * 2, 600 * (0.5 + jitter))


def test_what_is_hostile_is_quarantined_at_once() -> None:
    decision = decide(Fault.HOSTILE, Counts(), Limits(), jitter=0)
    assert (decision.status, decision.outcome) == (Status.QUARANTINED, Outcome.FAILED)


@given(counts, limits, jitters)
def test_a_crash_further_on_is_the_first_one_at_its_place(before: Counts, within: Limits, jitter: float) -> None:
    decision = decide(Fault.CRASH, before, within, jitter=jitter, came_on=True)
    first = decide(Fault.CRASH, Counts(before.failures, 0, before.releases), within, jitter=jitter)
    assert decision.status is first.status
    assert before.crashes + decision.crashes == 1

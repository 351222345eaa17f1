"""Recoveries are timed from what was done, held against their bound, and only unexplained ones are held against us."""

from __future__ import annotations

from pipeline.trials.faults import Fault
from pipeline.trials.recoveries import Lost, Recoveries, account_for

PID = 77
EXPIRED = Lost(1, 1, PID, "expired", 100, 102, 108.5, None, 6)
CRASHED = Lost(2, 1, PID, "crashed", 100, 102, 103.2, None, 6)
FROZEN = Fault("stop long", "worker", PID, 101, 110)
KILLED = Fault("kill", "child", PID, 103, 103)


def account(*lost: Lost, faults: tuple[Fault, ...] = (), graces: tuple[float, ...] = ()) -> Recoveries:
    return account_for(lost, faults, graces, interval_seconds=1)


def late(lost: Lost, seconds: float) -> Lost:
    """The same, taken back so much later."""
    return Lost(lost.task_id, 1, lost.pid, lost.outcome, 100, 102, lost.ended_at + seconds, None, 6)


def test_a_lease_is_timed_from_the_last_sign_of_progress_against_itself_and_two_sweeps() -> None:
    found = account(EXPIRED, faults=(FROZEN,)).lease
    assert found is not None
    assert (found.longest, found.bound, found.above) == (6.5, 8, 0)
    assert found.is_in_time
    found = account(late(EXPIRED, 1.6), faults=(FROZEN,)).lease
    assert found is not None
    assert found.above == 1
    assert not found.is_in_time


def test_one_late_recovery_in_a_hundred_is_in_time() -> None:
    found = account(*[EXPIRED] * 99, late(EXPIRED, 5)).lease
    assert found is not None
    assert found.above == 1
    assert found.is_in_time
    found = account(*[EXPIRED] * 98, late(EXPIRED, 5), late(EXPIRED, 5)).lease
    assert found is not None
    assert not found.is_in_time


def test_after_an_outage_time_counts_from_the_grace() -> None:
    found = account(late(EXPIRED, 5), graces=(104, 105, 200)).lease
    assert found is not None
    assert found.longest == 8.5


def test_a_child_is_timed_from_the_signal_that_ended_it() -> None:
    found = account(CRASHED, faults=(Fault("kill", "child", PID, 100.5, 100.5), KILLED)).child
    assert found is not None
    assert round(found.longest, 3) == 0.2
    assert found.above == 0
    found = account(late(CRASHED, 0.1), faults=(KILLED,)).child
    assert found is not None
    assert found.above == 1
    assert not found.is_in_time


def test_a_death_that_something_else_got_into_is_not_timed() -> None:
    for kind, role, pid in (("stop long", "worker", PID), ("restart", "database", None), ("cut", "connection", PID)):
        assert account(CRASHED, faults=(KILLED, Fault(kind, role, pid, 103.1, 105))).child is None
    assert account(CRASHED, faults=(KILLED, Fault("cut", "connection", 1, 103.1, 105))).child is not None
    assert account(CRASHED).child is None  # nobody killed it: it hung, and its parent ended it


def test_a_recovery_is_explained_by_what_was_done_to_its_worker_while_it_held_the_task() -> None:
    assert account(EXPIRED, faults=(FROZEN,)).unexplained == ()
    assert account(EXPIRED, faults=(Fault("restart", "database", None, 104, 106),)).unexplained == ()
    # Its claim was under way when it was killed, and the server carried it out.
    assert account(EXPIRED, faults=(Fault("kill", "worker", PID, 99.9, 99.9),)).unexplained == ()
    for unrelated in (
        Fault("stop long", "worker", PID + 1, 101, 110),
        Fault("stop long", "worker", PID, 90, 99),
        Fault("kill", "worker", PID, 109, 109),
        KILLED,  # the parent lives and says so
    ):
        assert len(account(EXPIRED, faults=(unrelated,)).unexplained) == 1
    assert account(CRASHED).unexplained == ()


def test_a_worker_that_finished_late_is_counted() -> None:
    frozen = Lost(1, 1, PID, "expired", 100, 102, 108.5, 111, 6)
    assert account(frozen, EXPIRED, faults=(FROZEN,)).late == 1

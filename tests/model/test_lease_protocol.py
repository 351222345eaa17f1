"""P1 to P6, every order of steps: the lease protocol keeps its promises, and designs that look as good do not.

`python -m tests.model` prints every trace, and explores a world that is too large for a test.
"""

from __future__ import annotations

import pytest

from pipeline.queue.states import TRANSITIONS
from tests.model.lease import OURS
from tests.model.lease_surroundings import explored
from tests.model.lease_variants import BY_NUMBER, COVERED, MUTANTS, OPERATED, PAIR, Covered, Mutant
from tests.model.telling import told

AS_A_TEST = {name: covered for name, covered in COVERED.items() if not covered.by_hand}


@pytest.mark.parametrize("covered", AS_A_TEST.values(), ids=AS_A_TEST.keys())
def test_every_promise_is_kept_in_every_order(covered: Covered) -> None:
    found, _ = explored(OURS, covered.setting)
    assert {fault: told(trace) for fault, trace in found.traces.items()} == {}
    assert found.states == covered.states, "the model covers more or less than it did: say so in lease_variants.py"


def test_the_model_makes_every_move_of_the_table_by_each_of_its_statements() -> None:
    table = {(*move, name) for move, names in TRANSITIONS.items() for name in names.split(", ")}
    assert explored(OURS, OPERATED)[1].moves == table


@pytest.mark.parametrize("mutant", MUTANTS.values(), ids=MUTANTS.keys())
def test_a_missing_guard_breaks_its_promise(mutant: Mutant) -> None:
    found, _ = explored(mutant.design, mutant.setting, wanted=mutant.breaks)
    assert mutant.breaks in found.faults
    for number, label in enumerate(told(found.traces[mutant.breaks]), start=1):
        print(f"{number}. {label}")
    print(mutant.breaks)


def test_every_promise_of_the_queue_is_broken_by_some_mutant() -> None:
    assert {mutant.breaks[:2] for mutant in MUTANTS.values()} == {"P1", "P2", "P3", "P4", "P5", "P6"}


def test_a_number_that_is_never_lowered_fences_until_a_failover_forgets_it() -> None:
    assert explored(BY_NUMBER, PAIR)[0].traces == {}


def test_attempts_are_told_in_the_order_in_which_they_began() -> None:
    trace = ["T1 is claimed: #1 of T1", "#1 of T1 dies", "T1 is claimed: #1 of T1", "#1 of T1 completes"]
    assert told(trace) == [
        "T1 is claimed: attempt 1 of T1",
        "attempt 1 of T1 dies",
        "T1 is claimed: attempt 2 of T1",
        "attempt 2 of T1 completes",
    ]

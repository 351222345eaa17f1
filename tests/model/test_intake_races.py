"""P7, every order of steps: two watchers, a user and crashes lose, double and overwrite nothing.

And the model can tell: protocols that others use, and ours with one thing left out, fail it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from tests.model import protocols
from tests.model.intake import Protocol, explored, first_drop

PAIRS = (("grow", "close"), ("grow", "replace"), ("grow", "remove"), ("replace", "remove"))
FAR = pytest.mark.parametrize("far", [False, True], ids=["one file system", "two file systems"])


def _found(protocol: Protocol, users: Iterable[Iterable[str]] = PAIRS) -> tuple[set[str], int]:
    """All faults and how many states, whatever the user does, whether a writer has the first file open or not."""
    found = [
        explored(protocol, first_drop(open_for_writing=is_open, user=frozenset(user)))
        for is_open, user in itertools.product((False, True), users)
    ]
    return set().union(*(each.faults for each in found)), sum(each.states for each in found)


def _leads_to(fault: str, protocol: Protocol) -> bool:
    """Whether a fault is found in some order; prints the shortest."""
    for is_open, user in itertools.product((True, False), PAIRS):
        first = first_drop(open_for_writing=is_open, user=frozenset(user))
        trace = explored(protocol, first, wanted=fault).traces.get(fault)
        if trace is not None:
            print("\n".join([*trace, fault]))
            return True
    return False


@FAR
def test_nothing_is_lost_doubled_or_overwritten_in_any_order(far: bool) -> None:
    faults, states = _found(protocols.ours(far=far))
    assert faults == set()
    assert states > 30_000


@pytest.mark.slow
def test_nothing_is_lost_when_a_growing_file_is_replaced_as_well() -> None:
    assert _found(protocols.ours(far=True), [("grow", "close", "replace")])[0] == set()


@pytest.mark.parametrize("checked", [False, True])
def test_a_file_that_is_read_where_it_lies_and_removed_loses_its_successor(checked: bool) -> None:
    assert _leads_to("lost", protocols.in_place(checked=checked))


def test_a_file_that_is_moved_after_its_rows_takes_an_unread_successor_along() -> None:
    assert _leads_to("never read", protocols.renamed_after_the_insert())


@FAR
def test_a_file_that_is_moved_before_its_rows_is_never_read_after_a_crash(far: bool) -> None:
    assert _leads_to("never read", protocols.disposed_before_the_commit(far=far))


def test_a_file_that_is_moved_while_it_is_open_is_not_read_to_its_end() -> None:
    assert _leads_to("never read", protocols.without_asking_for_writers(far=False))
    assert _leads_to("lost", protocols.without_asking_for_writers(far=True))


def test_what_a_writer_adds_between_comparing_and_asking_would_be_missed() -> None:
    assert _leads_to("never read", protocols.compared_before_asking(far=False))
    assert _leads_to("never read", protocols.compared_before_asking(far=True))


@FAR
def test_a_move_that_overwrites_loses_the_placed_file(far: bool) -> None:
    assert _leads_to("never placed", protocols.renamed_over(far=far))


def test_without_a_token_in_its_name_a_file_is_taken_twice() -> None:
    assert _leads_to("taken twice", protocols.with_a_new_token_each_time())

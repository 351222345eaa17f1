"""The race tests bite: each guard taken out of a statement makes one of them fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import mutation, races, rows
from tests.queue.mutation import Cut, mutated

Race = Callable[[races.World], None]

MUTANTS: dict[str, tuple[Sequence[Cut], Race]] = {
    "complete by id": (mutation.COMPLETE_BY_ID, races.a_swept_worker_completes_while_another_works),
    "complete by id, nobody works": (mutation.COMPLETE_BY_ID, races.a_swept_worker_completes_while_nobody_works),
    "complete by status": (mutation.COMPLETE_BY_STATUS, races.a_swept_worker_completes_while_another_works),
    "renew by status": (mutation.CHECKPOINT_BY_STATUS, races.a_swept_worker_renews),
    "fail by status": (mutation.FAIL_BY_STATUS, races.a_swept_worker_fails),
    "sweep without a lock, completion open": (mutation.SWEEP_BY_ID, races.a_sweep_meets_an_open_completion),
    "sweep without a lock, completion inside": (mutation.SWEEP_BY_ID, races.a_completion_commits_inside_a_sweep),
    "sweep by status without a lock, renewal inside": (
        mutation.SWEEP_BY_STATUS,
        races.a_renewal_commits_inside_a_sweep,
    ),
    "sweep that decides from its snapshot": (
        mutation.SWEEP_BY_SNAPSHOT,
        races.a_cancellation_commits_inside_a_sweep,
    ),
}


@pytest.fixture
def world(engine: Engine, queue: Queue, clock: Clock) -> races.World:
    """What a race needs."""
    return races.World(engine, queue, clock)


@pytest.mark.parametrize(("cuts", "race"), MUTANTS.values(), ids=MUTANTS.keys())
def test_a_missing_guard_is_noticed(world: races.World, tmp_path: Path, cuts: Sequence[Cut], race: Race) -> None:
    # Either the race's own assertion fails, or the schema's last net does: pytest's own Failed is no Exception.
    with mutated(cuts, tmp_path), pytest.raises((AssertionError, IntegrityError, pytest.fail.Exception)):
        race(world)


def test_the_races_pass_on_untouched_copies(world: races.World, tmp_path: Path) -> None:
    with mutated([], tmp_path):
        races.a_swept_worker_completes_while_another_works(world)
        claim = world.expired()
        assert rows.sweep(world.queue) == {claim.task_id: "enqueued"}

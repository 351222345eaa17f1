"""The race tests bite: each guard taken out of a statement makes one of them fail."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError

from pipeline.queue import statements
from pipeline.queue.store import Queue
from tests.conftest import Clock
from tests.queue import races, rows

OWN = "AND lease_token = :lease_token\n"
ANYBODY = "AND CAST(:lease_token AS uuid) IS NOT NULL\n"
STATUS = "AND status = 'processing'\n"
SWEEP_LOCK = """    ORDER BY task_id
    LIMIT CAST(:batch AS integer)
    FOR NO KEY UPDATE SKIP LOCKED
"""
SWEEP_WITHOUT_LOCK = SWEEP_LOCK.replace("    FOR NO KEY UPDATE SKIP LOCKED\n", "")
TAKEN_GUARD = "WHERE tasks.task_id = decided.task_id\n        AND tasks.status = 'processing'"

Cut = tuple[str, str, str]  # statement, what is cut, what stands in its place
Race = Callable[[races.World], None]

COMPLETE_BY_ID: list[Cut] = [("complete", OWN, ANYBODY), ("complete", STATUS, "")]
MUTANTS: dict[str, tuple[list[Cut], Race]] = {
    "complete by id": (COMPLETE_BY_ID, races.a_swept_worker_completes_while_another_works),
    "complete by id, nobody works": (COMPLETE_BY_ID, races.a_swept_worker_completes_while_nobody_works),
    "complete by status": (
        [("complete", OWN, ANYBODY)],
        races.a_swept_worker_completes_while_another_works,
    ),
    "renew by status": (
        [("checkpoint", OWN, ANYBODY)],
        races.a_swept_worker_renews,
    ),
    "fail by status": (
        [("fail", OWN, ANYBODY)],
        races.a_swept_worker_fails,
    ),
    "sweep without a lock, completion open": (
        [("sweep", SWEEP_LOCK, SWEEP_WITHOUT_LOCK), ("sweep", TAKEN_GUARD, "WHERE tasks.task_id = decided.task_id")],
        races.a_sweep_meets_an_open_completion,
    ),
    "sweep without a lock, completion inside": (
        [("sweep", SWEEP_LOCK, SWEEP_WITHOUT_LOCK), ("sweep", TAKEN_GUARD, "WHERE tasks.task_id = decided.task_id")],
        races.a_completion_commits_inside_a_sweep,
    ),
    "sweep by status without a lock, renewal inside": (
        [("sweep", SWEEP_LOCK, SWEEP_WITHOUT_LOCK)],
        races.a_renewal_commits_inside_a_sweep,
    ),
    "sweep that decides from its snapshot": (
        [
            (
                "sweep",
                "WHEN cancel_requested THEN",
                "WHEN (SELECT cancel_requested FROM tasks WHERE tasks.task_id = judged.task_id) THEN",
            )
        ],
        races.a_cancellation_commits_inside_a_sweep,
    ),
}


@pytest.fixture
def world(engine: Engine, queue: Queue, clock: Clock) -> races.World:
    """What a race needs."""
    return races.World(engine, queue, clock)


@pytest.fixture
def mutate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[list[Cut]], None]]:
    """Lets the queue run on copies of its statements, each with a part cut out."""
    copies = tmp_path / "sql"
    shutil.copytree(statements.FOLDER, copies)

    def apply(cuts: list[Cut]) -> None:
        for name, guard, instead in cuts:
            path = copies / f"{name}.sql"
            whole = path.read_text(encoding="utf-8")
            assert guard in whole, f"{name}.sql has no such guard any more: {guard}"
            path.write_text(whole.replace(guard, instead), encoding="utf-8")
        monkeypatch.setattr(statements, "FOLDER", copies)
        statements.statement.cache_clear()

    yield apply
    statements.statement.cache_clear()


@pytest.mark.parametrize(("cuts", "race"), MUTANTS.values(), ids=MUTANTS.keys())
def test_a_missing_guard_is_noticed(
    world: races.World, mutate: Callable[[list[Cut]], None], cuts: list[Cut], race: Race
) -> None:
    mutate(cuts)
    # Either the race's own assertion fails, or the schema's last net does: pytest's own Failed is no Exception.
    with pytest.raises((AssertionError, IntegrityError, pytest.fail.Exception)):
        race(world)


def test_the_races_pass_on_untouched_copies(world: races.World, mutate: Callable[[list[Cut]], None]) -> None:
    mutate([])
    races.a_swept_worker_completes_while_another_works(world)
    claim = world.expired()
    assert rows.sweep(world.queue) == {claim.task_id: "enqueued"}

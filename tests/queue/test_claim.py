"""A claim gives each task to exactly one worker, best rank first, on a fresh lease."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from sqlalchemy import Engine

from pipeline.queue.front import FRONT
from pipeline.queue.model import Claim
from pipeline.queue.statements import statement
from pipeline.queue.store import Queue
from tests.queue import mutation, races, rows
from tests.tasks import add_task


def test_a_claim_takes_exactly_what_it_asked_for(engine: Engine, queue: Queue) -> None:
    tasks = {add_task(engine, queue) for _ in range(5)}
    first = queue.claim("worker-1", batch=2)
    second = queue.claim("worker-2", batch=10)
    assert len(first) == 2
    assert {claim.task_id for claim in first + second} == tasks
    assert queue.claim("worker-3") == []


def test_the_columns_of_a_claim_stand_in_the_order_of_its_fields(engine: Engine) -> None:
    """They are taken by their places, not by their names."""
    with engine.connect() as connection:
        values = {"worker": "worker-1", "batch": 1, "suspects": True, "from_rank": FRONT}
        found = connection.execute(statement("claim"), values)
        assert list(found.keys()) == [*(field.name for field in fields(Claim)), "rank_ms"]


def test_a_task_that_changes_under_a_claim_is_not_taken_for_none(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    """The claim stops after its snapshot, the task gets another rank and its row another place, the claim goes on."""
    task_id = add_task(engine, queue)
    looking = "    WHERE status = 'enqueued'\n"
    paused = (("claim", looking, f"{looking}        AND paused.queue_now() IS NOT NULL\n"),)
    with races.paused_statement(engine) as resume, mutation.mutated(paused, tmp_path):
        claimer = races.Beside(engine, lambda _: [claim.task_id for claim in queue.claim("worker-1")])
        claimer.start()
        rows.change(engine, "UPDATE tasks SET rank_ms = rank_ms + 1")
        resume()
        assert claimer.result() == [task_id]

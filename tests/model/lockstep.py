"""The model beside the real statements: the same random steps, and after each the rows stand where the model says.

The workers here are plain values that obey the rules of pipeline/worker; what they ask for is done by the real Queue on
a real database. The world that comes of it must be one that the model lets follow.
"""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Engine, Row, text

from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim, Usage
from pipeline.queue.settle import Counts, Fault, decide
from pipeline.queue.states import FINAL, Status
from pipeline.queue.store import Queue
from tests.model.lease import (
    CLOSING,
    DOUBT,
    IDLE,
    NOBODY,
    OURS,
    READING,
    REPEATING,
    At,
    Rules,
    Setting,
    Task,
    World,
)
from tests.model.lease_surroundings import CANCELLED_AT_ONCE, RETRIED, following
from tests.model.lease_workers import KEEPS_NOTHING
from tests.queue import rows

LOST_SHARE = 0.15  # of answers
RARE_SHARE = 0.5  # of steps
OPERATOR_SHARE = 0.15  # of steps, in which somebody may step in
FAULT_SHARE = 0.3  # of steps, in which a worker may die or give up
_TASKS = text(
    "SELECT tasks.*, lease_expires_at >= queue_now() AS has_lease,"
    " (SELECT count(*) FROM attempts WHERE attempts.task_id = tasks.task_id AND outcome = 'expired') AS expiries,"
    " (SELECT count(*) FROM attempts WHERE attempts.task_id = tasks.task_id AND outcome = 'succeeded') AS results"
    " FROM tasks ORDER BY task_id"
)


class Act(NamedTuple):
    """Something that may be done, by a worker or to a task."""

    doing: str
    who: str
    do: Callable[[], None]


@dataclass(slots=True)
class Worker:
    """A worker of the model, and the claim that it really has."""

    name: str
    at: At = NOBODY
    claim: Claim | None = None


@dataclass(slots=True)
class Lockstep:
    """Drives a queue and follows it in the model. `moves` are those that the rows really made."""

    queue: Queue
    engine: Engine
    setting: Setting
    chance: random.Random
    moves: set[tuple[Status, Status]] = field(default_factory=set)
    _task_ids: list[int] = field(default_factory=list)
    _workers: list[Worker] = field(default_factory=list)
    _tokens: dict[uuid.UUID, int] = field(default_factory=dict)
    _operator: int = 0
    _done: Counter[str] = field(default_factory=Counter)

    def walk(self, task_ids: list[int], *, steps: int) -> None:
        """Take random steps from new tasks, the only ones; fails at the first step that the model does not have.

        Ends early when there is nothing left to do.
        """
        rules = Rules(OURS, self.setting)
        self._task_ids, self._operator = task_ids, self.setting.operator
        self._workers = [Worker(self._name()) for _ in range(self.setting.workers)]
        self._tokens.clear()
        world, told = rules.first(), list[str]()
        for _ in range(steps):
            acts = [*self._acts(world)]
            if not acts:
                return
            act = self._chosen(acts)
            told.append(f"{act.doing} {act.who}")
            act.do()
            after = self._seen(rules, world)
            allowed = {step.after for step in following(rules, world)} | {world}
            assert after in allowed, f"the model has no such step: {told}\n{world}\n{after}"
            pairs = zip(world.tasks, after.tasks, strict=True)
            self.moves |= {(then.status, now.status) for then, now in pairs if then.status is not now.status}
            world = after

    def _name(self) -> str:
        return f"worker-{self.chance.getrandbits(64):x}"

    # What may be done

    def _chosen(self, acts: list[Act]) -> Act:
        """Any act, or as often one of those that were done least: so rare ones come about in few steps."""
        if self.chance.random() < RARE_SHARE:
            least = min(self._done[act.doing] for act in acts)
            acts = [act for act in acts if self._done[act.doing] == least]
        act = self.chance.choice(acts)
        self._done[act.doing] += 1
        return act

    def _acts(self, world: World) -> Iterator[Act]:
        for number, task in enumerate(world.tasks):
            if task.status is Status.PROCESSING and task.lease:
                yield Act("expire", f"T{number + 1}", partial(self._expire, self._task_ids[number]))
        if self.chance.random() < OPERATOR_SHARE or self._is_over(world):
            yield from self._acts_of_operator(world)
        for worker in self._workers:
            late = _late(worker.at, world.tasks[worker.at.task])
            for doing, do in self._acts_of(worker, {task.status for task in world.tasks}):
                yield Act(doing + late, worker.name, do)

    def _is_over(self, world: World) -> bool:
        return all(worker.at == NOBODY for worker in self._workers) and all(
            task.status in FINAL for task in world.tasks
        )

    def _acts_of_operator(self, world: World) -> Iterator[Act]:
        for number, task in enumerate(world.tasks):
            who, task_id = f"T{number + 1}", self._task_ids[number]
            if task.status in CANCELLED_AT_ONCE or (task.status is Status.PROCESSING and not task.cancel):
                yield Act(f"cancel {task.status}", who, partial(self._step_in, self.queue.cancel, task_id))
            if task.status in RETRIED:
                yield Act(f"retry {task.status}", who, partial(self._step_in, self.queue.retry, task_id))

    def _acts_of(self, worker: Worker, statuses: set[Status]) -> Iterator[tuple[str, Callable[[], None]]]:
        match worker.at.place:
            case place if place == IDLE:
                if Status.ENQUEUED in statuses:
                    yield "claim", partial(self._claim, worker)
                if Status.PROCESSING in statuses:
                    yield "sweep", partial(self._sweep, worker)
                if Status.DELAYED in statuses:
                    yield "promote", self._promote
                return
            case place if place == DOUBT:
                yield "ask what is held", partial(self._settle, worker)
            case place if place == READING:
                yield from self._acts_in_work(worker)
            case place if place == CLOSING:
                yield "close again", partial(self._close, worker, Fault(worker.at.fault))
            case place if place == REPEATING:
                yield "complete again", partial(self._complete, worker)
        if self.chance.random() < FAULT_SHARE:
            yield "die", partial(self._die, worker)

    def _acts_in_work(self, worker: Worker) -> Iterator[tuple[str, Callable[[], None]]]:
        at = worker.at
        if at.done < self.setting.pages:
            yield "read", partial(self._read, worker)
        else:
            yield "complete", partial(self._complete, worker)
        if at.done > at.stored:
            yield "checkpoint", partial(self._checkpoint, worker)
        if self.chance.random() < FAULT_SHARE:
            yield from self._ends(worker)

    def _ends(self, worker: Worker) -> Iterator[tuple[str, Callable[[], None]]]:
        at = worker.at
        ends = sorted(self.setting.ends, key=lambda fault: fault.value)
        if not (at.came_on and at.done == at.stored):
            ends.remove(Fault.PAUSE)
        fault = self.chance.choice(ends)
        if at.done == at.stored or fault.value in KEEPS_NOTHING:
            yield f"end: {fault.value}", partial(self._close, worker, fault)

    # What is done

    def _expire(self, task_id: int) -> None:
        late = "lease_expires_at = queue_now() - INTERVAL '1 second'"
        rows.change(self.engine, f"UPDATE tasks SET {late} WHERE task_id = :task_id", task_id=task_id)

    def _step_in(self, statement: Callable[[int], object], task_id: int) -> None:
        self._operator -= 1
        statement(task_id)

    def _claim(self, worker: Worker) -> None:
        for claim in self.queue.claim(worker.name):
            start = claim.pages_done
            is_lost = self._is_lost()
            place, pages = (DOUBT, 0) if is_lost else (READING, start)
            worker.claim = claim
            worker.at = At(place, self._task_ids.index(claim.task_id), stored=pages, done=pages)

    def _settle(self, worker: Worker) -> None:
        assert worker.claim is not None
        held = [claim for claim in self.queue.held(worker.name) if claim.lease_token == worker.claim.lease_token]
        worker.at = worker.at._replace(place=CLOSING, fault=Fault.RELEASE.value) if held else NOBODY

    def _sweep(self, worker: Worker) -> None:
        self.queue.sweep(worker=worker.name, interval_seconds=rows.INTERVAL_SECONDS)

    def _promote(self) -> None:
        self.queue.promote(batch=1)

    def _die(self, worker: Worker) -> None:
        worker.name, worker.at, worker.claim = self._name(), NOBODY, None

    def _read(self, worker: Worker) -> None:
        worker.at = worker.at._replace(done=worker.at.done + 1, came_on=True)

    def _checkpoint(self, worker: Worker) -> None:
        claim, at = worker.claim, worker.at
        assert claim is not None
        try:
            with self.queue.checkpointing(
                claim, pages_done=at.done, pages_stored=at.stored, lease_seconds=claim.lease_seconds
            ) as (_, answer):
                pass
        except LeaseLost:
            worker.at = NOBODY
            return
        if not self._is_lost():
            worker.at = at._replace(stored=at.done)
            if answer.cancel_requested:
                worker.at = worker.at._replace(place=CLOSING, fault=Fault.CANCEL.value)

    def _complete(self, worker: Worker) -> None:
        claim, at = worker.claim, worker.at
        assert claim is not None
        try:
            with self.queue.completing(
                claim, reason="ok", pages_done=at.done, pages_stored=at.stored, result={}, usage=Usage()
            ):
                pass
        except LeaseLost:
            worker.at = NOBODY
            return
        worker.at = at._replace(place=REPEATING) if self._is_lost() else NOBODY

    def _close(self, worker: Worker, fault: Fault) -> None:
        claim, at = worker.claim, worker.at
        assert claim is not None
        counts = Counts(claim.failure_count, claim.crash_count, claim.release_count)
        decision = decide(fault, counts, self.queue.limits, jitter=0, came_on=at.came_on)
        try:
            self.queue.fail(claim, decision, reason="io_error", error="it went wrong")
        except LeaseLost:
            worker.at = NOBODY
            return
        worker.at = at._replace(place=CLOSING, fault=fault.value) if self._is_lost() else NOBODY

    def _is_lost(self) -> bool:
        return self.chance.random() < LOST_SHARE

    # What is seen

    def _seen(self, rules: Rules, before: World) -> World:
        """The rows and the workers in the words of the model."""
        with self.engine.connect() as connection:
            found = list(connection.execute(_TASKS))
        for row in found:
            if row.lease_token is not None and row.lease_token not in self._tokens:
                self._tokens[row.lease_token] = before.fresh()
        for worker in self._workers:
            if worker.at != NOBODY and worker.claim is not None:
                worker.at = worker.at._replace(claim=self._tokens[worker.claim.lease_token])
        world = World(
            tasks=(),
            workers=tuple(sorted(worker.at for worker in self._workers)),
            operator=self._operator,
        )
        return world._replace(tasks=tuple(self._task(rules, world, row) for row in found))

    def _task(self, rules: Rules, world: World, row: Row[Any]) -> Task:
        task = Task(
            status=Status(row.status),
            claim=0 if row.lease_token is None else self._tokens[row.lease_token],
            lease=int(bool(row.has_lease)),
            pages=row.pages_done,
            kept=row.pages_done,
            failures=row.failure_count,
            crashes=row.crash_count,
            releases=row.release_count,
            expiries=min(row.expiries, self.setting.limits.max_crashes),
            cancel=row.cancel_requested,
            results=row.results,
        )
        return rules.ended(task, world) if task.status in FINAL else task


def _late(at: At, task: Task) -> str:
    """What makes an act another one although it is called the same: whose the task is by now."""
    if at == NOBODY or at.claim == task.claim:
        return ""
    return " in another's attempt" if task.claim else " when the claim is over"

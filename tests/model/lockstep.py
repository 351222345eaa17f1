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
    """Drives a queue and follows it in the model; `operator` is how often somebody may step in.

    `moves` are those that the rows really made.
    """

    queue: Queue
    engine: Engine
    setting: Setting
    chance: random.Random
    task_ids: list[int]
    moves: set[tuple[Status, Status]] = field(default_factory=set)
    _workers: list[Worker] = field(default_factory=list)
    _tokens: dict[uuid.UUID, int] = field(default_factory=dict)
    _operator: int = 0
    _done: Counter[str] = field(default_factory=Counter)

    def walk(self, steps: int) -> None:
        """Take random steps; fails at the first one that the model does not have."""
        rules = Rules(OURS, self.setting)
        self._workers = [Worker(self._name()) for _ in range(self.setting.workers)]
        self._operator = self.setting.operator
        world, told = rules.first(), list[str]()
        for _ in range(steps):
            act = self._chosen([*self._acts(world)])
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
            who, task_id = f"T{number + 1}", self.task_ids[number]
            if task.status is Status.PROCESSING and task.lease:
                yield Act("expire", who, partial(self._expire, task_id))
            if task.status in CANCELLED_AT_ONCE or (task.status is Status.PROCESSING and not task.cancel):
                yield Act(f"cancel {task.status}", who, partial(self._step_in, self.queue.cancel, task_id))
            if task.status in RETRIED:
                yield Act(f"retry {task.status}", who, partial(self._step_in, self.queue.retry, task_id))
        for worker in self._workers:
            for doing, do in self._acts_of(worker):
                yield Act(doing, worker.name, do)

    def _acts_of(self, worker: Worker) -> Iterator[tuple[str, Callable[[], None]]]:
        match worker.at.place:
            case place if place == IDLE:
                yield "claim", partial(self._claim, worker)
                yield "sweep", partial(self._sweep, worker)
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
        yield "die", partial(self._die, worker)

    def _acts_in_work(self, worker: Worker) -> Iterator[tuple[str, Callable[[], None]]]:
        at = worker.at
        if at.done < self.setting.pages:
            yield "read", partial(self._read, worker)
        else:
            yield "complete", partial(self._complete, worker)
        if at.done > at.stored:
            yield "checkpoint", partial(self._checkpoint, worker)
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
            worker.at = At(place, self.task_ids.index(claim.task_id), stored=pages, done=pages)

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

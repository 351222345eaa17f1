"""A model of the lease protocol: rows of tasks, workers, sweepers and an operator, step by step.

Nothing here touches a database. A step is what the database does at once: a transaction. In between anything may come:
a worker that waits while others go on is one that was paused, and needs no step of its own. Time is abstract: a lease
has a few ticks, and they may pass whenever they like.

A `Design` says which guards the protocol has; the one without arguments is that of pipeline/queue. A `Setting` says how
large the world is and what may go wrong in it. The rules of the schema (trigger, constraints, unique indexes) are left
out on purpose: the guards of the statements must hold alone.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.queue.settle import Counts, Decision, Fault, Limits, decide
from pipeline.queue.states import FINAL, TRANSITIONS, Status

# Faults, by the promise they break
STALE = "P1: a write is accepted from a worker whose claim is over"
DOUBLED = "P1: a second result is accepted"
UNDONE = "P2: a task that has ended is taken back"
NO_RESULT = "P2: a task has ended well and has no result"
TAKEN = "P3: a task is taken away although its lease is valid"
ROBBED = "P3: a task is taken away although nobody could renew its lease"
HUNG = "P3: a hung document keeps its lease"
OVERDUE = "P3: a lease goes past the deadline of its attempt"
POISON = "P4: a document that kills goes round without end"
BLAMED = "P4: a crash is charged that was none"
EARLY = "P4: a document is quarantined before it crashed as often as it may"
AGAIN = "P5: a stored page is read again"
GAP = "P5: a result lacks a page that was read"
CHARGED = "P6: being stopped is charged to a document"
LEFT = "P6: a worker that was stopped leaves a task in work"
STRAY = "a move that is not in the table"

IDLE, DOUBT, READING, CLOSING, REPEATING, HALF_DONE, CHOOSING = range(7)  # where a worker stands


class Fence(enum.Enum):
    """What a worker's write asks of the row."""

    TOKEN = "the token of its claim"  # noqa: S105 - no password
    NUMBER = "the number of its attempt"
    NAME = "the name of its holder"
    STATUS = "that it is in work"
    ID = "nothing"


class Recheck(enum.Enum):
    """What a sweep asks again of a row it found expired, once it has locked it."""

    EXPIRED = "that it is in work and its lease is over"
    STATUS = "that it is in work"
    NOTHING = "nothing"


class Order(enum.Enum):
    """Where the other half of a fenced write goes: pages beside a renewal, a result beside the end of its task."""

    TOGETHER = "in one transaction"
    BEFORE = "in a transaction before"
    AFTER = "in a transaction after"


@dataclass(frozen=True, slots=True)
class Design:
    """The guards of the protocol. The defaults are those of pipeline/queue; every mutant differs in one or two."""

    claims_at_once: bool = True
    complete: Fence = Fence.TOKEN
    fail: Fence = Fence.TOKEN
    checkpoint: Fence = Fence.TOKEN
    release_refunds_the_number: bool = False
    retry_resets_the_number: bool = False
    sweep: Recheck = Recheck.EXPIRED
    result: Order = Order.TOGETHER
    pages: Order = Order.TOGETHER
    resumes: bool = True
    deadline_caps_renewals: bool = True
    renewal_needs_progress: bool = True
    progress_is_fenced: bool = True
    charge_of_an_expiry: int = 1
    crashes_are_charged: bool = True
    releases_are_free: bool = True
    stopping_gives_back: bool = True
    workers_sweep: bool = True
    anybody_promotes: bool = True
    retry_spares_live_tasks: bool = True
    has_grace: bool = True

    @property
    def counts_attempts(self) -> bool:
        """Whether the number of an attempt makes a difference; where it does not, states are fewer without."""
        return Fence.NUMBER in (self.complete, self.fail, self.checkpoint)


OURS = Design()
FEW = Limits(max_failures=2, max_crashes=2, max_releases=2)
EVERY_END = frozenset(Fault) - {Fault.CANCEL}  # cancelling is the operator's


@dataclass(frozen=True, slots=True)
class Setting:
    """How large the world is and what may go wrong in it.

    `poison` tasks kill whoever reads them. With `in_company` the evidence of who is to blame for an expiry may come out
    either way; without, a worker holds one task and the task is to blame. `deadline` is in ticks; None leaves it out.
    """

    workers: int = 2
    tasks: int = 1
    pages: int = 1
    sweepers: int = 1
    lease: int = 1
    deadline: int | None = None
    extensions: int = 0
    limits: Limits = FEW
    ends: frozenset[Fault] = frozenset()
    poison: int = 0
    operator: int = 0
    workers_die: bool = True
    answers_are_lost: bool = True
    one_name: bool = False
    in_company: bool = False
    outages: int = 0
    failovers: int = 0


class Task(NamedTuple):
    """A row of tasks, as far as the protocol reads it, and what became of its pages and results.

    `claim` stands for the token, 0 for none; `age` and `still` are ticks since the claim and since progress; `absent`
    are ticks of the lease during which the database was away. `kept` pages are stored, `pages` are counted on the row.
    `wrecks` are crashes and expiries, charged or not.
    """

    status: Status = Status.ENQUEUED
    claim: int = 0
    number: int = 0
    lease: int = 0
    age: int = 0
    still: int = 0
    absent: int = 0
    pages: int = 0
    kept: int = 0
    failures: int = 0
    crashes: int = 0
    releases: int = 0
    expiries: int = 0
    wrecks: int = 0
    cancel: bool = False
    results: int = 0


class At(NamedTuple):
    """Where a worker stands and what it knows: its claim, the pages it knows to be stored and those it has finished."""

    place: int = IDLE
    task: int = 0
    claim: int = 0
    number: int = 0
    stored: int = 0
    done: int = 0
    came_on: bool = False
    extensions: int = 0
    fault: str = ""


NOBODY = At()


class World(NamedTuple):
    """Everything there is. A sweeper is the tasks that it found expired and has not taken back yet.

    `earlier` are the rows one commit ago, for a failover that forgets the last one.
    """

    tasks: tuple[Task, ...]
    workers: tuple[At, ...]
    sweepers: tuple[tuple[int, ...], ...] = ()
    operator: int = 0
    is_away: bool = False
    was_away: bool = False
    outages: int = 0
    failovers: int = 0
    earlier: tuple[Task, ...] = ()

    def fresh(self) -> int:
        """A token that nobody has or remembers; the smallest, so that equal worlds are found to be equal."""
        known = {task.claim for task in self.tasks + self.earlier} | {at.claim for at in self.workers}
        return next(number for number in range(1, len(known) + 2) if number not in known)

    def put(self, number: int, task: Task) -> World:
        """After a commit that changed one task."""
        tasks = (*self.tasks[:number], task, *self.tasks[number + 1 :])
        return self._with(tasks, self.workers, self.tasks if self.failovers else ())

    def standing(self, before: At, after: At) -> World:
        """One worker elsewhere. Sorted: which of them it is makes no difference."""
        workers = [*self.workers]
        workers.remove(before)
        return self._with(self.tasks, tuple(sorted([*workers, after])), self.earlier)

    def _with(self, tasks: tuple[Task, ...], workers: tuple[At, ...], earlier: tuple[Task, ...]) -> World:
        """Written out: it is done for every step, and `_replace` costs three times as much."""
        return World(
            tasks,
            workers,
            self.sweepers,
            self.operator,
            self.is_away,
            self.was_away,
            self.outages,
            self.failovers,
            earlier,
        )


@dataclass(slots=True)
class Rules:
    """A design in a setting, and the moves of tasks.status that were seen to be made."""

    design: Design
    setting: Setting
    moves: set[tuple[Status, Status, str]] = field(default_factory=set)
    _decisions: dict[tuple[str, int, int, int, bool], Decision] = field(default_factory=dict)

    def first(self) -> World:
        """Everything waits in line and nobody has begun."""
        setting = self.setting
        return World(
            tasks=(Task(),) * setting.tasks,
            workers=(NOBODY,) * setting.workers,
            sweepers=((),) * setting.sweepers,
            operator=setting.operator,
            outages=setting.outages,
            failovers=setting.failovers,
        )

    def decided(self, fault: str, task: Task, came_on: bool) -> Decision:
        """What settle.decide says. A claim carries the counts of its row, which do not change while it is held."""
        key = (fault, task.failures, task.crashes, task.releases, came_on)
        if key not in self._decisions:
            counts = Counts(task.failures, task.crashes, task.releases)
            self._decisions[key] = decide(Fault(fault), counts, self.setting.limits, jitter=0, came_on=came_on)
        return self._decisions[key]

    def granted(self, age: int) -> int:
        """The ticks of a lease for an attempt that is so old."""
        if self.setting.deadline is None or not self.design.deadline_caps_renewals:
            return self.setting.lease
        return min(self.setting.lease, self.setting.deadline - age)

    def moved(self, before: Task, after: Task, by: str) -> str:
        """The fault of a move of tasks.status, if it is one; legal moves are noted."""
        if before.status is after.status:
            return ""
        if by not in TRANSITIONS.get((before.status, after.status), "").split(", "):
            return UNDONE if before.status in FINAL else STRAY
        self.moves.add((before.status, after.status, by))
        return ""

    def blamed(self, number: int, after: Task) -> str:
        """The fault of a quarantine that comes too early. Only what happens to poison is counted."""
        is_early = number < self.setting.poison and after.wrecks < self.setting.limits.max_crashes
        return EARLY if after.status is Status.QUARANTINED and is_early else ""

    def ended(self, task: Task, world: World) -> Task:
        """A row without a lease. What no statement can read any more is left out, so that states are fewer."""
        bare = task._replace(claim=0, lease=0, age=0, still=0, absent=0)
        if task.status not in FINAL:
            return bare
        if task.status is Status.SUCCEEDED or not world.operator:
            return Task(task.status, number=task.number, results=task.results)
        return bare._replace(cancel=False)

    def faults(self, world: World) -> Iterator[str]:
        """What is wrong with a world as it stands."""
        setting = self.setting
        for number, task in enumerate(world.tasks):
            if task.results > 1:
                yield DOUBLED
            if task.status is Status.SUCCEEDED and not task.results and not _is_awaited(world, number):
                yield NO_RESULT
            if task.lease and setting.deadline is not None:
                if task.age >= setting.deadline:
                    yield OVERDUE
                if task.still >= setting.lease * (1 + setting.extensions):
                    yield HUNG
            if task.wrecks > self.most_wrecks:
                yield POISON

    @property
    def most_wrecks(self) -> int:
        """How often a document may take its worker down before it is quarantined."""
        return self.setting.limits.max_crashes * (2 if self.setting.in_company else 1)

    def is_end(self, world: World) -> bool:
        """Whether every task has ended."""
        return all(task.status in FINAL for task in world.tasks)


def _is_awaited(world: World, number: int) -> bool:
    return any(at.place == HALF_DONE and at.task == number for at in world.workers)

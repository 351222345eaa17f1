"""A fleet at work under one policy: discrete events over documents that come, attempts that end, sweeps, calibrations.

Only claims, ends and sweeps are events, as bench/leases_attempts.py works an attempt out at its start. What becomes of
an attempt is decided by pipeline/queue/settle.py; of an expiry it is charged as sweep.sql does it, when its worker held
nothing else.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bench.leases_attempts import Course, Ended, Kind, Policy
from bench.leases_learning import Logged, learned
from bench.leases_world import Paper, World
from pipeline.queue.settle import Counts, Fault, Limits, decide
from pipeline.queue.states import Status
from pipeline.queue.sweeper import CALIBRATE_SECONDS

DRAIN_SECONDS = 2 * 3600.0  # after the last document came
SKIP_AFTER = 2  # crashes on a page: worker.skip_page_after_crashes
OUTCOMES = {Kind.FINISHED: "succeeded", Kind.EVICTED: "expired", Kind.PAUSED: "released"}


@dataclass
class Task:
    """A document in the queue."""

    paper: Paper
    lease_seconds: float
    deadline_seconds: float
    attempt_no: int = 0
    pages_done: int = 0
    crashes: int = 0
    expiries: int = 0
    page_crashes: Counter[int] = field(default_factory=Counter)
    ended: Status | None = None


@dataclass
class Outcome:
    """What came of a run. Times in seconds: from the fault until the task could be claimed again, backoff left out."""

    documents: int = 0
    finished: int = 0
    sound_unfinished: int = 0
    hanging_unfinished: int = 0
    false_recoveries: int = 0
    renewals: int = 0
    after_evictions: list[float] = field(default_factory=list)
    after_hangs: list[float] = field(default_factory=list)
    rates: Mapping[str, float] = field(default_factory=dict)


class Fleet:
    """Runs a world to its end. `relearn` makes the policy anew of what was learned; None does not learn.

    `presence_seconds` are the least and most until a dead worker is noticed by itself, None where only its leases tell.
    """

    def __init__(
        self,
        world: World,
        policy: Policy,
        *,
        relearn: Callable[[Mapping[str, float]], Policy] | None = None,
        sweep_seconds: float = 5,
        presence_seconds: tuple[float, float] | None = None,
    ) -> None:
        self._world, self._policy, self._relearn = world, policy, relearn
        self._sweep_seconds, self._presence_seconds = sweep_seconds, presence_seconds
        self._end = world.weather.hours * 3600 + DRAIN_SECONDS
        self._limits = Limits()
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._line: list[tuple[int, Task]] = []
        self._free = [host for host in range(len(world.hosts)) for _ in range(world.weather.slots)]
        self._tasks: list[Task] = []
        self._dead: Counter[tuple[int, float]] = Counter()  # how many tasks a worker held when it was killed
        self._stuck: dict[int, float] = {}  # documents that hang now, and since when
        self._log: list[Logged] = []
        self._count = 0
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """All of it."""
        papers = iter(self._world.papers)

        def arrive(now: float) -> None:
            paper = next(papers, None)
            if paper is not None:
                self._at(paper.comes_at, lambda at: self._take_in(paper, at))
                self._at(paper.comes_at, arrive)

        self._at(0, arrive)
        if self._relearn:
            self._at(CALIBRATE_SECONDS, self._calibrate)
        while self._events and self._events[0][0] <= self._end:
            now, _, act = heapq.heappop(self._events)
            act(now)
        return self._told()

    def _at(self, moment: float, act: Callable[[float], None]) -> None:
        self._count += 1
        if moment < math.inf:
            heapq.heappush(self._events, (moment, self._count, act))

    def _take_in(self, paper: Paper, now: float) -> None:
        task = Task(paper, *self._policy.promised(paper))
        self._tasks.append(task)
        self._put_in_line(task)(now)

    def _put_in_line(self, task: Task) -> Callable[[float], None]:
        def act(now: float) -> None:
            heapq.heappush(self._line, (task.paper.number, task))
            self._claim(now)

        return act

    def _free_slot(self, host: int) -> Callable[[float], None]:
        def act(now: float) -> None:
            self._free.append(host)
            self._claim(now)

        return act

    def _claim(self, now: float) -> None:
        while self._line and self._free:
            host = self._free.pop()
            back_at = self._world.hosts[host].back_at(now)
            if back_at > now:
                self._at(back_at, self._free_slot(host))
            else:
                self._begin(heapq.heappop(self._line)[1], host, now)

    def _begin(self, task: Task, host: int, now: float) -> None:
        task.attempt_no += 1
        course = self._course(task, host, now)
        ended = self._policy.run(course)
        self.outcome.renewals += ended.renewals
        self._at(ended.at, self._free_slot(host))
        if ended.hung_at is not None:
            self._stuck.setdefault(task.paper.number, ended.hung_at)
        if ended.kind is Kind.EVICTED:
            self._dead[host, ended.at] += 1
            self._at(self._noticed(task, ended), lambda at: self._after_eviction(task, ended, host, at))
        elif ended.kind is Kind.LAPSED:
            self._at(self._next_sweep(ended.lease_ends_at), lambda at: self._settle(task, ended, at))
        else:
            self._at(ended.at, lambda at: self._settle(task, ended, at))
        self._note(task, course, ended)

    def _course(self, task: Task, host: int, now: float) -> Course:
        chance = self._world.chance(task.paper.number, task.attempt_no)
        parts = len(task.paper.parts)
        crashes = chance.random() < self._world.weather.crash_share
        return Course(
            task.paper,
            self._world.hosts[host],
            now,
            done=task.pages_done,
            skip=frozenset(page for page, times in task.page_crashes.items() if times >= SKIP_AFTER),
            crashes_in=chance.randrange(task.pages_done + 1, parts) if crashes else None,
            lease_seconds=task.lease_seconds,
            deadline_seconds=task.deadline_seconds,
            is_suspect=task.crashes > 0,
            watched_until=self._end,
        )

    def _note(self, task: Task, course: Course, ended: Ended) -> None:
        if self._relearn and ended.at < math.inf:
            self._log.append(
                Logged(
                    OUTCOMES.get(ended.kind, "crashed"),
                    course.start,
                    ended.at,
                    ended.progressed_at,
                    ended.pages_done - course.done,
                    task.paper.ocr_pages,
                    None if ended.kind is Kind.EVICTED else ended.cpu_seconds,
                )
            )

    def _next_sweep(self, moment: float) -> float:
        return (math.floor(moment / self._sweep_seconds) + 1) * self._sweep_seconds

    def _noticed(self, task: Task, ended: Ended) -> float:
        swept_at = self._next_sweep(ended.lease_ends_at)
        if self._presence_seconds is None:
            return swept_at
        chance = self._world.chance("presence", task.paper.number, task.attempt_no)
        return min(swept_at, ended.at + chance.uniform(*self._presence_seconds))

    def _after_eviction(self, task: Task, ended: Ended, host: int, now: float) -> None:
        if ended.hung_at is None:
            self.outcome.after_evictions.append(now - ended.at)
        self._keep_pages(task, ended)
        task.expiries += 1
        if self._dead[host, ended.at] == 1 or task.expiries > self._limits.max_crashes:
            self._crash(task, ended, now, came_on=False)
        else:
            self._put_in_line(task)(now)

    def _settle(self, task: Task, ended: Ended, now: float) -> None:
        if ended.kind is Kind.FINISHED:
            task.ended = Status.SUCCEEDED
            self._stuck.pop(task.paper.number, None)
            return
        if ended.hung_at is not None:
            self.outcome.after_hangs.append(now - ended.hung_at)
        elif ended.kind in (Kind.GIVEN_UP, Kind.LAPSED, Kind.PAUSED):
            self.outcome.false_recoveries += 1
        came_on = ended.pages_done > task.pages_done
        self._keep_pages(task, ended)
        if ended.kind is Kind.PAUSED:
            self._put_in_line(task)(now)
        else:
            self._crash(task, ended, now, came_on=came_on)

    def _keep_pages(self, task: Task, ended: Ended) -> None:
        self._stuck.pop(task.paper.number, None)
        task.pages_done = ended.pages_done if self._policy.knows_pages else 0

    def _crash(self, task: Task, ended: Ended, now: float, *, came_on: bool) -> None:
        if ended.page is not None and ended.kind is not Kind.EVICTED:
            task.page_crashes[ended.page] += 1
        jitter = self._world.chance("jitter", task.paper.number, task.attempt_no).random()
        decision = decide(Fault.CRASH, Counts(crashes=task.crashes), self._limits, jitter=jitter, came_on=came_on)
        task.crashes += decision.crashes
        if decision.status is Status.QUARANTINED:
            task.ended = decision.status
        else:
            self._at(now + decision.delay_seconds, self._put_in_line(task))

    def _calibrate(self, now: float) -> None:
        assert self._relearn
        past = [each for each in self._log if each.ended_at <= now]
        self.outcome.rates = learned(past)
        self._policy = self._relearn(self.outcome.rates)
        self._at(now + CALIBRATE_SECONDS, self._calibrate)

    def _told(self) -> Outcome:
        told = self.outcome
        told.after_hangs += [self._end - since for since in self._stuck.values()]
        unfinished = [task for task in self._tasks if task.ended is not Status.SUCCEEDED]
        told.documents, told.finished = len(self._tasks), len(self._tasks) - len(unfinished)
        told.hanging_unfinished = sum(task.paper.hangs_on is not None for task in unfinished)
        told.sound_unfinished = len(unfinished) - told.hanging_unfinished
        return told

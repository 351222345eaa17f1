"""One attempt under one policy: what a worker and its lease do from the claim to an end. For bench/leases.py.

An attempt depends on nothing but its document, its host and its policy, so all of it is worked out at its start. What a
policy renews and when it gives up differ; that a worker sees the death of its child within PATIENCE_SECONDS does not.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from bench.leases_world import Host, Paper
from pipeline.config import LeaseSettings, WorkerSettings
from pipeline.queue.lease import LeasePolicy
from pipeline.worker.attempt import PATIENCE_SECONDS
from pipeline.worker.held import LAST_WORD_SECONDS

NEVER = math.inf


class Kind(enum.Enum):
    """How an attempt ends."""

    FINISHED = "finished"
    CRASHED = "its child died, which its worker sees"
    GIVEN_UP = "its worker gave it up: its time was over"
    LAPSED = "its lease ran out, its worker lives"
    EVICTED = "its worker died"
    PAUSED = "given back at its deadline, some pages further"


@dataclass(frozen=True, slots=True)
class Ended:
    """An end: when, what was stored by then, on which page, until when the lease ran, and when it was last renewed."""

    kind: Kind
    at: float
    pages_done: int
    renewals: int
    cpu_seconds: float
    lease_ends_at: float
    progressed_at: float
    page: int | None = None
    hung_at: float | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """What is ahead of an attempt. `crashes_in` is a part whose first half is its child's last; nobody looks on for
    longer than `watched_until`.
    """

    paper: Paper
    host: Host
    start: float
    done: int = 0
    skip: frozenset[int] = frozenset()
    crashes_in: int | None = None
    lease_seconds: float = 0
    deadline_seconds: float = NEVER
    is_suspect: bool = False
    watched_until: float = NEVER

    @property
    def hangs_on(self) -> int | None:
        """The page on which it will hang, if it gets there."""
        page = self.paper.hangs_on
        return None if page is None or page in self.skip or page <= self.done else page

    @property
    def is_smooth(self) -> bool:
        """Whether no fault of its own is ahead."""
        return self.crashes_in is None and self.hangs_on is None

    @property
    def work(self) -> float:
        """Seconds of all that is ahead, on a quiet machine, without faults."""
        return sum(work for _, work in self.parts())

    def parts(self) -> Iterator[tuple[int, float]]:
        """What is ahead: opening, the pages that are not done, and what follows them."""
        for part, work in enumerate(self.paper.parts):
            if part == 0 or part > self.done:
                yield part, 0 if part in self.skip else work


class Policy(Protocol):
    """How long leases are and what renews them."""

    def promised(self, paper: Paper) -> tuple[float, float]:
        """Lease and deadline, in seconds, as they are stored with a new task."""

    def run(self, course: Course) -> Ended:
        """The attempt."""

    @property
    def knows_pages(self) -> bool:
        """Whether finished pages outlive an attempt, and a page that hangs is left out the third time."""


@dataclass(frozen=True, slots=True)
class Whole:
    """One lease for the whole document, never renewed: the same for all, or by the number of pages."""

    seconds: float = 0
    by_pages: LeasePolicy | None = None
    knows_pages: bool = False

    def promised(self, paper: Paper) -> tuple[float, float]:
        """What covers the document."""
        lease = self.by_pages.lease_seconds(paper.pages, paper.ocr_pages) if self.by_pages else self.seconds
        return lease, NEVER

    def run(self, course: Course) -> Ended:
        """Until its own end, or the lease's."""
        own, limit = _own_end(course), course.start + course.lease_seconds
        ended = _earliest(own, course, limit)
        return _ended(ended, course, own, 0, limit)


@dataclass(frozen=True, slots=True)
class Beaten:
    """A timer renews a third into each lease, whatever the document does."""

    seconds: float = 30
    knows_pages: bool = False

    def promised(self, paper: Paper) -> tuple[float, float]:
        """The same for all."""
        return self.seconds, NEVER

    def run(self, course: Course) -> Ended:
        """Until its own end, or for ever."""
        own = _own_end(course)
        ended = _earliest(own, course, NEVER)
        beats = int((min(ended[1], course.watched_until) - course.start) / (self.seconds / 3))
        return _ended(ended, course, own, beats, course.start + beats * self.seconds / 3 + self.seconds)


@dataclass(frozen=True, slots=True)
class Stepped:
    """doclease: a lease covers the next step, progress renews, a page that is busy gets a few more."""

    policy: LeasePolicy
    pace: LeaseSettings = field(default_factory=LeaseSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    knows_pages: bool = True

    def promised(self, paper: Paper) -> tuple[float, float]:
        """Of the first step, and of the attempt."""
        pages, ocr_pages = paper.pages, paper.ocr_pages
        return self.policy.lease_seconds(pages, ocr_pages), self.policy.deadline_seconds(pages, ocr_pages)

    def run(self, course: Course) -> Ended:
        """Step by step, or at once when no step of it can matter."""
        return _at_once(course, self) or _Steps(course, self).run()


def _at_once(course: Course, stepped: Stepped) -> Ended | None:
    """A smooth document that ends before any time could be up, as nearly all do."""
    if not course.is_smooth:
        return None
    work = course.work
    end = course.host.finish(course.start, work)
    soonest = min(stepped.pace.checkpoint_seconds, course.lease_seconds * 2 / 3, course.deadline_seconds - 1)
    if end - course.start >= soonest or course.host.eviction(course.start) <= end:
        return None
    step = 1 if course.is_suspect else stepped.policy.step_pages
    renewals = (course.paper.pages - course.done) // step
    return Ended(Kind.FINISHED, end, course.paper.pages, renewals, work, end + course.lease_seconds, end)


class _Steps:
    """An attempt of doclease on its way, as pipeline/worker/attempt.py drives it."""

    def __init__(self, course: Course, stepped: Stepped) -> None:
        self._course, self._stepped = course, stepped
        self._policy, self._pace, self._worker = stepped.policy, stepped.pace, stepped.worker
        self._now = self._renewed_at = course.start
        self._lease = course.lease_seconds
        self._stored, self._unsaved = course.done, 0
        self._renewals = self._extensions = 0
        self._cpu = 0.0
        self._deadline_at = course.start + course.deadline_seconds
        self._evicted_at = course.host.eviction(course.start)

    def run(self) -> Ended:
        """To the first end it comes to."""
        for part, work in self._course.parts():
            ended = self._work_on(part, work)
            if ended:
                return ended
            if 0 < part <= self._course.paper.pages:
                self._unsaved, self._extensions = self._unsaved + 1, 0
        return self._end(Kind.FINISHED, self._now, None)

    def _work_on(self, part: int, work: float) -> Ended | None:
        began, hangs, crashes = self._now, part == self._course.hangs_on, part == self._course.crashes_in
        own_end = NEVER if hangs else self._course.host.finish(began, work / 2 if crashes else work)
        page = part if 0 < part <= self._course.paper.pages else None
        allowed = self._worker.page_seconds if page else self._worker.open_seconds
        out_of_time = min(began + allowed, self._deadline_at - LAST_WORD_SECONDS)
        until = min(own_end, self._evicted_at, out_of_time)
        self._keep_renewed(until, is_busy=not hangs or self._course.paper.spins)
        given_up_at = min(self._lease_ends_at - min(LAST_WORD_SECONDS, self._lease / 5), until)
        self._cpu += work if own_end == until else (given_up_at - began) * (not hangs or self._course.paper.spins)
        self._now = given_up_at
        if given_up_at < until:
            return self._end(Kind.GIVEN_UP, given_up_at, page, began if hangs else None)
        if until == self._evicted_at:
            return self._end(Kind.EVICTED, until, page, began if hangs else None)
        if until == own_end:
            return self._end(Kind.CRASHED, until + PATIENCE_SECONDS, page) if crashes else None
        came_on = self._stored + self._unsaved > self._course.done and until < began + allowed
        return self._end(Kind.PAUSED if came_on else Kind.GIVEN_UP, until, page, began if hangs else None)

    @property
    def _lease_ends_at(self) -> float:
        return self._renewed_at + self._lease

    @property
    def _runs_out_at(self) -> float:
        return self._lease_ends_at - self._lease / 3

    def _keep_renewed(self, until: float, *, is_busy: bool) -> None:
        """Checkpoint finished pages, then extend for the page in work as often as may be, before that moment."""
        if self._unsaved:
            step = 1 if self._course.is_suspect else self._policy.step_pages
            due = min(self._renewed_at + self._pace.checkpoint_seconds, self._runs_out_at)
            self._renew(max(self._now, 0 if self._unsaved >= step else due), until)
        while is_busy and self._extensions < self._pace.busy_extensions and self._runs_out_at < until:
            self._renew(max(self._now, self._runs_out_at), until)
            self._extensions += 1

    def _renew(self, at: float, until: float) -> None:
        if at >= until:
            return
        self._stored, self._unsaved = self._stored + self._unsaved, 0
        left = self._course.paper.pages - self._stored
        seconds = self._policy.lease_seconds(left, min(self._course.paper.ocr_pages, left))
        self._renewed_at, self._lease = at, min(seconds, self._deadline_at - at)
        self._renewals += 1

    def _end(self, kind: Kind, at: float, page: int | None, hung_at: float | None = None) -> Ended:
        done = self._stored if kind is Kind.EVICTED else self._stored + self._unsaved
        progressed_at = self._renewed_at if done == self._stored else at
        return Ended(kind, at, done, self._renewals, self._cpu, self._lease_ends_at, progressed_at, page, hung_at)


@dataclass(frozen=True, slots=True)
class _OwnEnd:
    """The end an attempt comes to if nobody ends it."""

    kind: Kind
    at: float
    cpu_seconds: float
    hung_at: float | None = None


def _own_end(course: Course) -> _OwnEnd:
    if course.is_smooth:
        return _OwnEnd(Kind.FINISHED, course.host.finish(course.start, course.work), course.work)
    before = 0.0
    for part, work in course.parts():
        if part == course.hangs_on:
            return _OwnEnd(Kind.FINISHED, NEVER, before, course.host.finish(course.start, before))
        if part == course.crashes_in:
            before += work / 2
            return _OwnEnd(Kind.CRASHED, course.host.finish(course.start, before) + PATIENCE_SECONDS, before)
        before += work
    return _OwnEnd(Kind.FINISHED, course.host.finish(course.start, before), before)


def _earliest(own: _OwnEnd, course: Course, limit: float) -> tuple[Kind, float]:
    ends = ((own.kind, own.at), (Kind.LAPSED, limit), (Kind.EVICTED, course.host.eviction(course.start)))
    return min(ends, key=lambda end: end[1])


def _ended(first: tuple[Kind, float], course: Course, own: _OwnEnd, renewals: int, lease_ends_at: float) -> Ended:
    kind, at = first
    hung_at = own.hung_at if own.hung_at is not None and own.hung_at < at else None
    done = course.paper.pages if kind is Kind.FINISHED else 0
    return Ended(kind, at, done, renewals, own.cpu_seconds, lease_ends_at, course.start, None, hung_at)

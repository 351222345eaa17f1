"""Discrete events: activities are generators that yield what they wait for. Nothing here knows of documents."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, TypeVar

Request = Callable[["Activity"], None]
Activity = Generator[Request, None, None]
T = TypeVar("T")


class Kernel:
    """The clock, in seconds, and what happens when."""

    def __init__(self) -> None:
        self.now = 0.0
        self._numbers = itertools.count()
        self._agenda: list[tuple[float, int, Callable[[Any], None], Any]] = []

    def start(self, activity: Activity, after: float = 0.0) -> None:
        """Begin an activity."""
        self.later(after, self.go_on, activity)

    def later(self, seconds: float, act: Callable[[T], None], about: T) -> None:
        """Call after so many seconds; what comes at the same time comes in the order it was asked for."""
        heapq.heappush(self._agenda, (self.now + seconds, next(self._numbers), act, about))

    def go_on(self, activity: Activity) -> None:
        """Let an activity run until it waits again."""
        request = next(activity, None)
        if request is not None:
            request(activity)

    def wait(self, seconds: float) -> Request:
        """Only time."""
        return lambda activity: self.later(seconds, self.go_on, activity)

    def run(self, is_over: Callable[[], bool]) -> None:
        """Until it is over; looked at after every event."""
        while self._agenda and not is_over():
            self.now, _, act, about = heapq.heappop(self._agenda)
            act(about)


class Processors:
    """Cores that all who compute share alike, each at most one: what a scheduler comes to over some milliseconds."""

    def __init__(self, kernel: Kernel, cores: float) -> None:
        self.busy_seconds = 0.0  # of cores at full speed
        self._kernel = kernel
        self._cores = cores
        self._jobs: list[tuple[float, int, Activity]] = []  # by what each will have been given when it is done
        self._numbers = itertools.count()
        self._given = 0.0  # to each, since the beginning
        self._at = 0.0
        self._version = 0

    def use(self, seconds: float) -> Request:
        """So much of a core at full speed."""

        def request(activity: Activity) -> None:
            self._catch_up()
            self.busy_seconds += seconds
            heapq.heappush(self._jobs, (self._given + seconds, next(self._numbers), activity))
            self._plan()

        return request

    @property
    def _speed(self) -> float:
        return min(1.0, self._cores / len(self._jobs)) if self._jobs else 0.0

    def _catch_up(self) -> None:
        self._given += (self._kernel.now - self._at) * self._speed
        self._at = self._kernel.now

    def _plan(self) -> None:
        self._version += 1
        if self._jobs:
            seconds = max(self._jobs[0][0] - self._given, 0.0) / self._speed
            self._kernel.later(seconds, self._end, self._version)

    def _end(self, version: int) -> None:
        if version != self._version:  # somebody came or went since
            return
        self._catch_up()
        activity = heapq.heappop(self._jobs)[2]
        self._plan()
        self._kernel.go_on(activity)


class Disk:
    """Writes the log: one flush at a time, and it takes all that wait when it begins (group commit)."""

    def __init__(self, kernel: Kernel, seconds: float, bytes_per_second: float) -> None:
        self.busy_seconds, self.bytes, self.flushes, self.commits = 0.0, 0.0, 0, 0
        self._kernel = kernel
        self._seconds = seconds
        self._rate = bytes_per_second
        self._waiting: list[Activity] = []
        self._unwritten = 0.0
        self._is_busy = False

    def commit(self, log_bytes: float) -> Request:
        """Until so much is on the disk."""

        def request(activity: Activity) -> None:
            self._waiting.append(activity)
            self._unwritten += log_bytes
            if not self._is_busy:
                self._flush()

        return request

    def _flush(self) -> None:
        group, self._waiting = self._waiting, []
        seconds, self._is_busy = self._seconds + self._unwritten / self._rate, True
        self.busy_seconds += seconds
        self.bytes += self._unwritten
        self._unwritten = 0.0
        self.flushes += 1
        self.commits += len(group)
        self._kernel.later(seconds, self._flushed, group)

    def _flushed(self, group: list[Activity]) -> None:
        self._is_busy = False
        if self._waiting:
            self._flush()
        for activity in group:
            self._kernel.go_on(activity)


class Places:
    """So many at a time, first come first served: a session of a process, the sessions of a pooler."""

    def __init__(self, kernel: Kernel, places: int) -> None:
        self.busy_seconds = 0.0
        self._kernel = kernel
        self._free = places
        self._line: deque[Activity] = deque()

    def take(self, activity: Activity) -> None:
        """A request: until there is a place."""
        if self._free:
            self._free -= 1
            self._kernel.go_on(activity)
        else:
            self._line.append(activity)

    def give(self, held_since: float) -> None:
        """Leave a place."""
        self.busy_seconds += self._kernel.now - held_since
        if self._line:
            self._kernel.start(self._line.popleft())
        else:
            self._free += 1


class Bell:
    """Wakes all who wait on it; who waits in vain goes on after his time."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._asleep: dict[int, Activity] = {}
        self._numbers = itertools.count()

    def wait(self, seconds: float) -> Request:
        """Until it rings, at most so long."""

        def request(activity: Activity) -> None:
            number = next(self._numbers)
            self._asleep[number] = activity
            self._kernel.later(seconds, self._in_vain, number)

        return request

    def ring(self, number: int | None = None) -> int:
        """Wake them, or so many of them; returns how many."""
        woken = list(self._asleep.items())[:number]
        for key, activity in woken:
            del self._asleep[key]
            self._kernel.start(activity)
        return len(woken)

    def _in_vain(self, number: int) -> None:
        activity = self._asleep.pop(number, None)
        if activity is not None:
            self._kernel.go_on(activity)

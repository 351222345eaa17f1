"""What is done to whom: faults drawn from a seed, done to real processes, a real server and real connections.

The sequence of choices depends on the seed alone: each choice draws the same numbers whatever state the trial is in,
and only then looks for a victim. Which victims there are at that moment is the operating system's doing.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from pipeline.trials.home import Member, Trial
from pipeline.trials.proxy import Losable, Proxy, Sessions

T = TypeVar("T")
KINDS = ("kill", "stop", "term", "restart", "cut", "lose", "late", "clocks", "pieces")


@dataclass(frozen=True, slots=True)
class Card:
    """A kind of fault and its victim's role. `long` is a stop of more than a lease."""

    kind: str
    role: str = ""
    long: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A card and three numbers from 0 to 1: which of the victims, how long within its kind, how long until the next."""

    card: Card
    whom: float
    how_long: float
    pause: float


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that was done. `pid` is the member that was hit, the parent's for a child; None when it hit all.

    `at` and `until` are seconds since 1970; `until` is later only for what lasts.
    """

    kind: str
    role: str
    pid: int | None
    at: float
    until: float


# How often each card is in the deck: what hits work in progress most, what takes everything along least.
DECK: Sequence[tuple[Card, int]] = (
    (Card("kill", "child"), 4),
    (Card("kill", "worker"), 2),
    (Card("kill", "sweeper"), 1),
    (Card("kill", "watcher"), 1),
    (Card("stop", "worker", long=True), 3),
    (Card("stop", "worker"), 2),
    (Card("stop", "child", long=True), 1),
    (Card("stop", "child"), 1),
    (Card("stop", "watcher", long=True), 1),
    (Card("stop", "sweeper", long=True), 1),
    (Card("term", "child"), 1),
    (Card("term", "worker"), 2),
    (Card("term", "watcher"), 1),
    (Card("term", "sweeper"), 1),
    (Card("restart", "database"), 1),
    (Card("cut", "connection"), 3),
    (Card("lose", "commit"), 3),
    (Card("lose", "claim"), 2),
    (Card("lose", "fenced"), 1),
    (Card("lose", "write"), 1),
    (Card("late", "request", long=True), 3),
)


def choices(seed: int, kinds: Sequence[str]) -> Iterator[Choice]:
    """Without end: the deck of these kinds, shuffled, again and again, so that every card comes up in each round."""
    chance = random.Random(f"{seed}/faults")  # noqa: S311 - choices that can be repeated
    deck = [card for card, times in DECK for _ in range(times) if card.kind in kinds]
    while deck:
        chance.shuffle(deck)
        for card in deck:
            yield Choice(card, chance.random(), chance.random(), chance.random())


class Saboteur:
    """Does what was chosen, and keeps a record of it.

    `busy` tells the workers that hold a task now, `restart_database` brings it down and is back when it is up.
    """

    def __init__(
        self,
        place: Trial,
        proxy: Proxy,
        *,
        lease_seconds: float,
        busy: Callable[[], set[int]],
        restart_database: Callable[[], None],
    ) -> None:
        self.faults: list[Fault] = []
        self._place = place
        self._proxy = proxy
        self._lease_seconds = lease_seconds
        self._busy = busy
        self._restart_database = restart_database
        self._stopped: list[tuple[float, int]] = []  # until when, by pidfd: a number might be another's by then

    def strike(self, choice: Choice) -> None:
        """Do it, if there is anybody to do it to."""
        match choice.card.kind:
            case "restart":
                began = time.time()
                self._restart_database()
                self._note(choice.card, None, began, time.time())
            case "cut":
                pid = self._proxy.cut(choice.whom)
                if pid is not None:
                    self._note(choice.card, pid)
            case "lose":
                self._proxy.lose(cast(Losable, choice.card.role))
            case "late":
                self._proxy.hold(self._length(choice))
            case _:
                self._signal(choice)

    def tend(self) -> None:
        """Let go on who was stopped for long enough."""
        now = time.monotonic()
        for until, handle in list(self._stopped):
            if until <= now:
                self._resume(handle)
                self._stopped.remove((until, handle))

    def end(self) -> None:
        """No more faults: let everybody go on, lose nothing more."""
        self._proxy.forgive()
        for _, handle in self._stopped:
            self._resume(handle)
        self._stopped.clear()

    def hear(self, pid: int, kind: str, what: str, seconds: float) -> None:
        """Note what the proxy has done to a process, for so long."""
        now = time.time()
        self._note(Card(kind, what), pid, now, now + seconds)

    @property
    def sessions(self) -> Sessions:
        """Who was behind which session of the database."""
        return self._proxy.sessions

    def counts(self) -> Counter[str]:
        """How often what was done, by kind and victim."""
        return Counter(f"{fault.kind} {fault.role}" for fault in self.faults)

    def _signal(self, choice: Choice) -> None:
        card = choice.card
        member = _pick(self._candidates(card.role), choice.whom)
        if member is None or member.pid is None:
            return
        target = member.pid
        if card.role == "child":
            child = _pick(_children(member.pid), choice.whom)
            if child is None:
                return
            target = child
        if card.kind == "stop":
            self._stop(choice, member.pid, target)
        elif card.role == "child":
            self._note(card, member.pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(target, signal.SIGKILL if card.kind == "kill" else signal.SIGTERM)
        else:
            self._note(card, member.pid)
            member.end(signal.SIGKILL if card.kind == "kill" else signal.SIGTERM)

    def _candidates(self, role: str) -> list[Member]:
        """Of workers, those that hold a task now: the others would not mind."""
        busy = self._busy() if role in ("child", "worker") else None
        wanted = "worker" if role == "child" else role
        members = [each for each in self._place.members if each.role == wanted and each.pid is not None]
        return members if busy is None else [each for each in members if each.pid in busy]

    def _stop(self, choice: Choice, pid: int, target: int) -> None:
        seconds = self._length(choice)
        try:
            handle = os.pidfd_open(target)
            signal.pidfd_send_signal(handle, signal.SIGSTOP)
        except ProcessLookupError:
            return
        self._stopped.append((time.monotonic() + seconds, handle))
        now = time.time()
        length = "long" if choice.card.long else "short"
        self.faults.append(Fault(f"stop {length}", choice.card.role, pid, now, now + seconds))

    def _length(self, choice: Choice) -> float:
        """Seconds: well below a lease, or past it and two sweeps."""
        return self._lease_seconds * (1.4 + choice.how_long if choice.card.long else 0.1 + 0.5 * choice.how_long)

    def _resume(self, handle: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGCONT)
        os.close(handle)

    def _note(self, card: Card, pid: int | None, at: float | None = None, until: float | None = None) -> None:
        now = time.time()
        self.faults.append(Fault(card.kind, card.role, pid, at or now, until or now))


def _pick(candidates: Sequence[T], whom: float) -> T | None:
    return candidates[int(whom * len(candidates))] if candidates else None


def _children(parent: int) -> list[int]:
    """The processes that a process started, from proc(5): those that compute now, if any, for they have a document."""
    found = [(pid, state) for pid, state, of in _processes() if of == parent]
    computing = [pid for pid, state in found if state == "R"]
    return sorted(computing or [pid for pid, _ in found])


def _processes() -> Iterator[tuple[int, str, int]]:
    """Every process, its state and its parent."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        yield int(path.parent.name), fields[0], int(fields[1])

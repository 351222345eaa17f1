"""A fleet of workers on one PostgreSQL, simulated: discrete events, seeded, with what each call was measured to cost.

A slot does what pipeline/worker/slot.py does: claim, ask what attempts start from, work, complete, claim again. Each
process has one session for all its slots, sweeps and looks on its own, and wakes an idle slot when it hears of work.
Processors serve who comes first, a flush of the log takes all commits that wait. Left out: locks inside PostgreSQL, its
memory and its reads from disk, and the network but for a fixed time a message.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from bench.demand import Demand
from bench.fleet_parts import Fleet, Kind, Ran, Server, many, more
from bench.kernel import Activity, Bell, Disk, Kernel, Places, Processors
from pipeline.queue.sweeper import Rhythm
from pipeline.queue.wakeup import NOTIFY_PAUSE_SECONDS

INTAKE_A_SECOND = 50.0  # of one process that takes documents in
LOOKS_A_POLL = 10
PILE = 20


@dataclass
class Ended:
    """Documents of a slot whose results wait for a commit; of one kind, which is the last one's."""

    kind: Kind
    number: int = 0


class Simulation:
    """One run. `costs` are those of bench.demand by name, with their slopes."""

    def __init__(self, fleet: Fleet, server: Server, costs: Mapping[str, Demand], seed: int = 1) -> None:
        self._fleet = fleet
        self._costs = costs
        self._chance = random.Random(seed)  # noqa: S311 - a simulation
        self._kernel = Kernel()
        self._processors = Processors(self._kernel, server.cores)
        self._disk = Disk(self._kernel, server.commit_seconds, server.log_bytes_per_second)
        self._pool = Places(self._kernel, server.sessions or fleet.slots + 10**6)
        self._server = server
        self._sessions = [Places(self._kernel, 1) for _ in range(fleet.processes)]
        self._bells = [Bell(self._kernel) for _ in range(fleet.processes)]
        self._ready, self._in_work, self._done = 0, 0, 0
        self._is_swept = False
        self._swept_seconds = 0.0
        self._spent: Counter[str] = Counter()
        self._waits: list[float] = []
        self._pile: list[Kind] = []

    def run(self, documents: int) -> Ran:
        """Let as many documents go by to warm up, and then so many."""
        fleet = self._fleet
        for number in range(fleet.slots):
            self._kernel.start(self._slot(number // fleet.slots_a_process))
        for session, bell in zip(self._sessions, self._bells, strict=True):
            self._kernel.start(self._sweeper(session), self._chance.random() * fleet.sweep_seconds)
            self._kernel.start(self._looker(session, bell), self._chance.random() * fleet.poll_seconds)
        rate = fleet.arrivals_a_second or 0.0
        intakes = math.ceil(rate / INTAKE_A_SECOND)
        for _ in range(intakes):
            self._kernel.start(self._arrivals(rate / intakes))
        self._kernel.run(lambda: self._done >= documents)
        before, self._waits = self._state(), []
        self._kernel.run(lambda: self._done >= 2 * documents)
        return self._ran(before, self._state())

    # Who does what

    def _slot(self, number: int) -> Activity:
        """It keeps the session from a completion to the next claim: the thread that gives it back asks first again."""
        fleet, kernel, session = self._fleet, self._kernel, self._sessions[number]
        wanted, ended, was_idle = fleet.claim_at_once, Ended(fleet.kinds[0]), False
        if fleet.arrivals_a_second is None:
            yield from self._go_on(ended)
        while True:
            asked_at = kernel.now
            yield session.take
            held_since = kernel.now
            if ended.number:
                yield from self._complete(ended)
                asked_at = kernel.now
            claimed = self._take(wanted)
            if claimed:
                yield from self._claim(claimed, asked_at)
            else:
                yield from self._serve(self._costs["poll"], "polls")
            session.give(held_since)
            if claimed and was_idle:
                self._bells[number].ring(1)
            was_idle = not claimed
            if claimed:
                yield from self._work(session, claimed, ended)
            elif not self._ready:
                yield self._bells[number].wait(LOOKS_A_POLL * fleet.slots_a_process * fleet.poll_seconds)

    def _go_on(self, ended: Ended) -> Activity:
        """Be found in the middle of a document, as at any moment of a fleet that has worked for long."""
        kinds = self._fleet.kinds
        kind = self._chance.choices(kinds, [each.share * each.seconds for each in kinds])[0]
        self._in_work += 1
        yield self._kernel.wait(kind.seconds * self._chance.random())
        ended.kind, ended.number = kind, 1

    def _take(self, number: int) -> int:
        if self._fleet.arrivals_a_second is None:
            return number
        taken = min(number, self._ready)
        self._ready -= taken
        return taken

    def _claim(self, number: int, asked_at: float) -> Activity:
        yield from self._serve(many(self._costs["claim"], self._costs["claims"], number))
        self._waits.append(self._kernel.now - asked_at)
        self._in_work += number
        yield from self._serve(many(self._costs["material"], self._costs["materials"], number))

    def _complete(self, ended: Ended) -> Activity:
        end = self._costs[ended.kind.end]
        yield from self._serve(many(end, self._costs.get(f"{ended.kind.end}s", end), ended.number))
        self._in_work -= ended.number
        self._done += ended.number
        ended.number = 0

    def _work(self, session: Places, claimed: int, ended: Ended) -> Activity:
        """Read one after the other; the last ones are left to be completed."""
        fleet, kernel = self._fleet, self._kernel
        for kind in [self._drawn() for _ in range(claimed)]:
            if ended.number >= ended.kind.complete_at_once:
                yield session.take
                held_since = kernel.now
                yield from self._complete(ended)
                session.give(held_since)
            seconds = kind.seconds * self._chance.uniform(0.75, 1.25)
            while seconds > fleet.checkpoint_seconds:
                yield kernel.wait(fleet.checkpoint_seconds)
                kernel.start(self._call(session, self._costs["renewal"]))
                seconds -= fleet.checkpoint_seconds
            yield kernel.wait(seconds)
            ended.kind, ended.number = kind, ended.number + 1

    def _drawn(self) -> Kind:
        """As from a pile that is mixed anew when it is used up: the mix is kept in short runs too."""
        if not self._pile:
            self._pile = [kind for kind in self._fleet.kinds for _ in range(round(kind.share * PILE))]
            self._chance.shuffle(self._pile)
        return self._pile.pop()

    def _sweeper(self, session: Places) -> Activity:
        while True:
            yield from self._sweep(session)
            yield self._kernel.wait(self._fleet.sweep_seconds * self._chance.uniform(0.9, 1.1))

    def _looker(self, session: Places, bell: Bell) -> Activity:
        fleet, costs = self._fleet, self._costs
        pause = Rhythm(fleet.sweep_seconds, fleet.poll_seconds).pause(fleet.processes)
        look = more(costs["look"], costs["look a worker"], fleet.processes)
        while True:
            yield self._kernel.wait(pause * self._chance.uniform(0.9, 1.1))
            yield from self._call(session, look, "looks")
            if self._ready:
                bell.ring(1)

    def _sweep(self, session: Places) -> Activity:
        """Whoever comes while another one sweeps leaves it to that one."""
        yield session.take
        held_since = self._kernel.now
        if self._is_swept:
            yield from self._serve(self._costs["sweep elsewhere"], "sweeps")
        else:
            self._is_swept = True
            yield from self._serve(more(self._costs["sweep"], self._costs["sweep a task"], self._in_work), "sweeps")
            self._is_swept = False
            self._swept_seconds += self._kernel.now - held_since
        session.give(held_since)

    def _arrivals(self, share: float) -> Activity:
        """Of one process that takes documents in."""
        session, told_at = Places(self._kernel, 1), -1.0
        while True:
            yield self._kernel.wait(self._chance.expovariate(share))
            is_told = self._fleet.listens and self._kernel.now - told_at >= NOTIFY_PAUSE_SECONDS
            told_at = self._kernel.now if is_told else told_at
            self._kernel.start(self._arrival(session, is_told))

    def _arrival(self, session: Places, is_told: bool) -> Activity:
        yield from self._call(session, self._costs["intake"])
        self._ready += 1
        if is_told:
            costs, workers = self._costs, self._fleet.processes
            yield from self._call(session, more(costs["notify"], costs["notify a worker"], workers), "polls")
            for bell in self._bells:
                bell.ring(1)

    # What it takes

    def _call(self, session: Places, demand: Demand, purpose: str = "documents") -> Activity:
        """On the one session of a process."""
        yield session.take
        held_since = self._kernel.now
        yield from self._serve(demand, purpose)
        session.give(held_since)

    def _serve(self, demand: Demand, purpose: str = "documents") -> Activity:
        if self._fleet.is_local:
            yield from self._use(demand.client_us / 1e6, "clients")
            away = demand.trips * self._fleet.trip_seconds
        else:
            away = demand.trips * self._fleet.trip_seconds + demand.client_us / 1e6
        if self._server.sessions:
            yield self._pool.take
        held_since = self._kernel.now
        yield self._kernel.wait(away)
        yield from self._use(demand.server_us / 1e6 * (0.5 + self._chance.expovariate(2)), purpose)
        if demand.commits:
            yield self._disk.commit(demand.log_bytes)
        if self._server.sessions:
            self._pool.give(held_since)

    def _use(self, seconds: float, purpose: str) -> Activity:
        self._spent[purpose] += seconds  # type: ignore[assignment]
        yield self._processors.use(seconds)

    # What came of it

    def _state(self) -> dict[str, float]:
        sessions = sum(each.busy_seconds for each in self._sessions)
        disk = self._disk
        return {
            "now": self._kernel.now,
            "done": self._done,
            "processors": self._processors.busy_seconds,
            "disk": disk.busy_seconds,
            "log": disk.bytes,
            "flushes": disk.flushes,
            "commits": disk.commits,
            "sessions": sessions,
            "pool": self._pool.busy_seconds,
            "sweeping": self._swept_seconds,
            **{name: self._spent[name] for name in ("sweeps", "polls", "looks")},
        }

    def _ran(self, before: Mapping[str, float], after: Mapping[str, float]) -> Ran:
        fleet, server = self._fleet, self._server
        of = {name: after[name] - before[name] for name in after}
        seconds = of["now"]
        ideal = fleet.slots / fleet.document_seconds
        waits = sorted(self._waits) or [0.0]
        sessions = max(of["sessions"] / fleet.processes, of["pool"] / (server.sessions or math.inf))
        return Ran(
            documents_a_second=of["done"] / seconds,
            ideal_a_second=ideal if fleet.arrivals_a_second is None else min(ideal, fleet.arrivals_a_second),
            claim_p50_ms=waits[len(waits) // 2] * 1000,
            claim_p99_ms=waits[len(waits) * 99 // 100] * 1000,
            processors=of["processors"] / seconds / server.cores,
            for_sweeps=of["sweeps"] / seconds / server.cores,
            for_polls=of["polls"] / seconds / server.cores,
            for_looks=of["looks"] / seconds / server.cores,
            disk=of["disk"] / seconds,
            log=of["log"] / seconds / server.log_bytes_per_second,
            sessions=sessions / seconds,
            sweeping=of["sweeping"] / seconds,
            commits_a_flush=of["commits"] / max(of["flushes"], 1),
        )

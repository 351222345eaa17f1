"""What a simulated fleet is made of, what it does, and what its calls cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from bench.demand import MANY, WORKERS, Demand
from pipeline.worker.appetite import MOST
from pipeline.worker.delivery import SHORT_SECONDS
from pipeline.worker.outbox import LONGEST_SECONDS

ENOUGH = 0.9


@dataclass(frozen=True, slots=True)
class Server:
    """The database's machine. `sessions`: how many work at a time behind a pooler; 0 = each process has its own."""

    cores: float
    commit_seconds: float
    log_bytes_per_second: float = 300e6
    sessions: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """Documents that take so long, a quarter more or less; `end` names what their completion costs."""

    seconds: float
    share: float = 1.0
    end: str = "complete invoice"

    @property
    def complete_at_once(self) -> int:
        """How many share a commit: what takes less than a tenth of a second waits for others at most that long."""
        return 1 + int(LONGEST_SECONDS / self.seconds) if self.seconds < SHORT_SECONDS else 1


@dataclass(frozen=True, slots=True)
class Fleet:
    """The workers, and what there is to do.

    `arrivals_a_second`: None for a backlog that never ends. `is_local`: what the queue costs the workers themselves is
    spent on the server's cores, as it is on one machine.
    """

    slots: int
    kinds: Sequence[Kind]
    slots_a_process: int = 8
    arrivals_a_second: float | None = None
    poll_seconds: float = 1.5
    sweep_seconds: float = 5.0
    checkpoint_seconds: float = 5.0
    ahead_seconds: float = 0.2
    trip_seconds: float = 0.0002
    listens: bool = True
    is_local: bool = False

    @property
    def document_seconds(self) -> float:
        """The mean."""
        return sum(kind.seconds * kind.share for kind in self.kinds)

    @property
    def claim_at_once(self) -> int:
        """How many a claim takes: pipeline/worker/appetite.py."""
        usual = math.exp(sum(kind.share * math.log(kind.seconds) for kind in self.kinds))
        return max(1, min(MOST, int(self.ahead_seconds / usual)))

    @property
    def processes(self) -> int:
        """How many workers there are."""
        return math.ceil(self.slots / self.slots_a_process)


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of it. Shares are of the whole: 1 is all cores busy, the disk never idle, sessions never free."""

    documents_a_second: float
    ideal_a_second: float
    claim_p50_ms: float
    claim_p99_ms: float
    processors: float
    for_sweeps: float
    for_polls: float
    for_looks: float
    disk: float
    log: float
    sessions: float
    sweeping: float
    commits_a_flush: float

    @property
    def efficiency(self) -> float:
        """Documents done, to those that the slots would do if the queue cost nothing."""
        return self.documents_a_second / self.ideal_a_second

    @property
    def limit(self) -> str:
        """What keeps it from doing more, in a word."""
        if self.efficiency >= ENOUGH:
            return "slots"
        if self.processors > 0.95:
            others = {"sweeps": self.for_sweeps, "idle slots": self.for_polls, "looks": self.for_looks}
            worst = max(others, key=lambda name: others[name])
            return f"processors, {others[worst]:.0%} for {worst}" if others[worst] > 0.1 else "processors"
        if self.log > 0.9:
            return "log"
        return "sessions" if self.sessions > 0.85 else "waits"


def many(one: Demand, ten: Demand, number: int) -> Demand:
    """What `number` cost together, by what one does and MANY do."""
    return Demand(*(a + (b - a) * (number - 1) / (MANY - 1) for a, b in zip(astuple(one), astuple(ten), strict=True)))


def more(base: Demand, each: Demand, number: int) -> Demand:
    """What it costs with so many of what makes it dearer."""
    return replace(base, server_us=base.server_us + each.server_us * number)


def dearer(costs: Mapping[str, Demand], times: float) -> dict[str, Demand]:
    """The same where a processor second does less: others are at work beside it."""
    return {
        name: replace(each, server_us=each.server_us * times, client_us=each.client_us * times)
        for name, each in costs.items()
    }


def slopes(measured: Mapping[str, Demand], in_work: int) -> dict[str, Demand]:
    """What was measured, with what each task in work and each worker adds."""
    tasks = (measured["sweep of tasks"].server_us - measured["sweep"].server_us) / in_work
    workers = (measured["look among workers"].server_us - measured["look"].server_us) / WORKERS
    told = measured["heard"].server_us + measured["notify"].server_us / WORKERS
    added = {"sweep a task": tasks, "look a worker": workers, "notify a worker": told}
    return {**measured, "notify": Demand(0.0, commits=1.0), **{name: Demand(max(us, 0)) for name, us in added.items()}}

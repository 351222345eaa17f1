"""How long it took until a lost attempt's task was claimable again, and which recoveries nobody had given a reason for.

Each lost attempt is laid beside what was done to its worker. Where the parent saw its child die, time counts from our
signal. Where a lease ran out, it counts from the last sign of progress, or from the grace that an outage of the
database gave to all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, text

from pipeline.trials.faults import Fault

CHILD_BOUND_SECONDS = 0.25
DATABASE_FAULTS = ("restart", "cut", "lose")

_LOST = text(
    """
    SELECT
        task_id,
        attempt_no,
        CAST(split_part(worker, '/', -2) AS integer) AS pid,
        outcome,
        EXTRACT(EPOCH FROM started_at) AS started_at,
        EXTRACT(EPOCH FROM progressed_at) AS progressed_at,
        EXTRACT(EPOCH FROM ended_at) AS ended_at,
        EXTRACT(EPOCH FROM late_finish_at) AS late_finish_at,
        lease_seconds
    FROM attempts
    WHERE outcome IN ('crashed', 'expired')
    ORDER BY ended_at
    """
)


@dataclass(frozen=True, slots=True)
class Lost:
    """An attempt whose child died or whose lease ran out. Times in seconds since 1970; `pid` is its worker's."""

    task_id: int
    attempt_no: int
    pid: int
    outcome: str
    started_at: float
    progressed_at: float
    ended_at: float
    late_finish_at: float | None
    lease_seconds: float


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds to take back, of so many recoveries; `above` took longer than their bound, at most `bound`."""

    count: int
    p50: float
    p99: float
    longest: float
    bound: float
    above: int

    @property
    def is_in_time(self) -> bool:
        """Whether all but one in a hundred kept their bound."""
        return self.above * 100 <= self.count or self.p99 <= self.bound


@dataclass(frozen=True, slots=True)
class Recoveries:
    """What became of the lost attempts. `late` had a worker that still lived, `unexplained` one that we left alone."""

    child: Times | None
    lease: Times | None
    late: int
    unexplained: tuple[str, ...]


def lost_attempts(connection: Connection) -> list[Lost]:
    """Every attempt that was lost, by when it was taken back."""
    names = Lost.__dataclass_fields__
    rows = connection.execute(_LOST)
    return [Lost(*(_plain(row._mapping[name]) for name in names)) for row in rows]


def account_for(
    lost: Sequence[Lost], faults: Sequence[Fault], graces: Sequence[float], *, interval_seconds: float
) -> Recoveries:
    """Judge them. A task has to be claimable again within its lease and two sweep intervals."""
    died = [each for each in lost if each.outcome == "crashed"]
    expired = [each for each in lost if each.outcome == "expired"]
    child = [seconds for each in died if (seconds := _since_its_death(each, faults)) is not None]

    def since(each: Lost) -> float:
        return each.ended_at - max([each.progressed_at, *(grace for grace in graces if grace <= each.ended_at)])

    return Recoveries(
        child=_times([(seconds, CHILD_BOUND_SECONDS) for seconds in child]),
        lease=_times([(since(each), each.lease_seconds + 2 * interval_seconds) for each in expired]),
        late=sum(each.late_finish_at is not None for each in expired),
        unexplained=tuple(
            f"task {each.task_id}, attempt {each.attempt_no}: nothing had been done to worker {each.pid}"
            for each in expired
            if not any(_hits(fault, each) and fault.role != "child" for fault in faults)
        ),
    )


def _since_its_death(lost: Lost, faults: Sequence[Fault]) -> float | None:
    """Seconds since our signal killed its child; None when no signal did, or something else was done meanwhile."""
    signals = [
        fault.at
        for fault in faults
        if _ends_a_child(fault) and fault.pid == lost.pid and lost.started_at <= fault.at <= lost.ended_at
    ]
    if not signals:
        return None
    died_at = max(signals)
    others = [fault for fault in faults if not _ends_a_child(fault)]
    if any(_overlaps(fault, lost.pid, died_at, lost.ended_at) for fault in others):
        return None
    return lost.ended_at - died_at


def _ends_a_child(fault: Fault) -> bool:
    return fault.role == "child" and fault.kind in ("kill", "term")


def _hits(fault: Fault, lost: Lost) -> bool:
    if fault.kind == "kill" and fault.pid == lost.pid:
        return fault.at <= lost.ended_at  # it stays dead; its last claim may have been carried out after its death
    return _overlaps(fault, lost.pid, lost.started_at, lost.ended_at)


def _overlaps(fault: Fault, pid: int, start: float, end: float) -> bool:
    return fault.pid in (None, pid) and fault.at <= end and fault.until >= start


def _times(measured: Sequence[tuple[float, float]]) -> Times | None:
    if not measured:
        return None
    seconds = sorted(each for each, _ in measured)
    return Times(
        count=len(seconds),
        p50=_quantile(seconds, 0.5),
        p99=_quantile(seconds, 0.99),
        longest=seconds[-1],
        bound=max(bound for _, bound in measured),
        above=sum(each > bound for each, bound in measured),
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _plain(value: Any) -> Any:
    """Decimals of the database as Python's own floats."""
    return value if value is None or isinstance(value, int | str) else float(value)

"""The worlds in which the lease protocol is explored, and the designs that look as good and are not: as data.

How many states a world has is part of the data: a model that reaches fewer than it did covers less, and a test says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pipeline.queue.settle import Fault
from tests.model import lease
from tests.model.exploring import STUCK
from tests.model.lease import EVERY_END, FEW, OURS, Design, Fence, Order, Recheck, Setting


@dataclass(frozen=True, slots=True)
class Covered:
    """A world in which the protocol keeps every promise, and how many states it has there.

    `by_hand` ones take minutes: `python -m tests.model` goes through them as well.
    """

    setting: Setting
    states: int
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Mutant:
    """A design with a guard left out, a world that shows it, and the promise it breaks there."""

    design: Design
    setting: Setting
    breaks: str


CRASHES = frozenset({Fault.CRASH})
STOPS = frozenset({Fault.RELEASE, Fault.PAUSE})
THREE_CRASHES = replace(FEW, max_crashes=3)

ALONE = Setting(workers=1)
PAIR = Setting()
ENDS = Setting(ends=EVERY_END)
PAGES = Setting(pages=2, ends=STOPS, sweepers=2)
POISON = Setting(tasks=2, poison=1, answers_are_lost=False, limits=THREE_CRASHES)
UNSURE = Setting(poison=1, in_company=True, limits=THREE_CRASHES)
UNSWEPT = Setting(sweepers=0, ends=CRASHES | STOPS, operator=1)
TIMED = Setting(workers=1, pages=2, lease=2, deadline=5, extensions=1, ends=STOPS)
NAMESAKES = Setting(one_name=True, answers_are_lost=False, ends=EVERY_END, operator=1)
OPERATED = Setting(workers=1, ends=EVERY_END, operator=2, limits=THREE_CRASHES, answers_are_lost=False)
OUTAGES = Setting(outages=2)
FAILOVERS = Setting(pages=2, failovers=1)

COVERED: Mapping[str, Covered] = {
    "two workers and an operator; every end an attempt can come to": Covered(replace(ENDS, operator=1), 32_497),
    "two workers and two sweepers; every end an attempt can come to": Covered(replace(ENDS, sweepers=2), 9_270),
    "two workers, a document of two pages, stopped in the middle": Covered(PAGES, 7_232),
    "two workers, two documents": Covered(Setting(tasks=2, answers_are_lost=False, ends=CRASHES), 21_609),
    "two workers, two documents, answers lost, nobody dies": Covered(
        Setting(tasks=2, workers_die=False, sweepers=0), 22_226
    ),
    "three workers": Covered(Setting(workers=3, ends=CRASHES | STOPS), 7_872),
    "an operator who cancels and retries": Covered(OPERATED, 2_362),
    "a document that kills beside one that does not": Covered(POISON, 26_351),
    "a document that kills, and doubtful evidence of who is to blame": Covered(UNSURE, 6_550),
    "no sweeper alive: workers sweep before they claim": Covered(UNSWEPT, 4_285),
    "two processes with one name": Covered(NAMESAKES, 3_478),
    "leases of two ticks, extensions and a deadline": Covered(TIMED, 3_984),
    "two outages of the database": Covered(OUTAGES, 5_640),
    "a failover that forgets the last commit": Covered(FAILOVERS, 13_946),
    "two workers, two documents, answers lost, anybody dies": Covered(
        Setting(tasks=2, ends=CRASHES), 492_519, by_hand=True
    ),
}


def _weak(fence: Fence) -> Mapping[str, Mutant]:
    """Each write with a weaker fence."""
    setting = NAMESAKES if fence is Fence.NAME else ENDS
    asks = f"asks only {fence.value}" if fence is not Fence.ID else "asks for nothing but the id"
    return {
        f"a completion {asks}": Mutant(Design(complete=fence), setting, lease.STALE),
        f"a checkpoint {asks}": Mutant(Design(checkpoint=fence), setting, lease.STALE),
        f"a failure or a release {asks}": Mutant(Design(fail=fence), setting, lease.STALE),
    }


BY_NUMBER = Design(complete=Fence.NUMBER, checkpoint=Fence.NUMBER, fail=Fence.NUMBER)
BY_ID = Design(complete=Fence.ID, checkpoint=Fence.ID, fail=Fence.ID, sweep=Recheck.NOTHING)
MUTANTS: Mapping[str, Mutant] = {
    "a claim selects, then updates by id": Mutant(Design(claims_at_once=False), PAIR, lease.TAKEN),
    **_weak(Fence.ID),
    **_weak(Fence.STATUS),
    **_weak(Fence.NAME),
    "the number of the attempt fences, and a release gives it back": Mutant(
        replace(BY_NUMBER, release_refunds_the_number=True), Setting(ends=STOPS), lease.STALE
    ),
    "the number of the attempt fences, and a retry resets it": Mutant(
        replace(BY_NUMBER, retry_resets_the_number=True), Setting(operator=2), lease.STALE
    ),
    "the number of the attempt fences, and a failover forgets a claim": Mutant(BY_NUMBER, FAILOVERS, lease.STALE),
    "everything by id": Mutant(BY_ID, PAIR, lease.DOUBLED),
    "the result in a transaction before": Mutant(Design(result=Order.BEFORE), PAIR, lease.DOUBLED),
    "the result in a transaction after": Mutant(Design(result=Order.AFTER), ALONE, lease.NO_RESULT),
    "the sweep selects, then updates by id": Mutant(Design(sweep=Recheck.NOTHING), ALONE, lease.UNDONE),
    "the sweep selects, then updates what is in work": Mutant(Design(sweep=Recheck.STATUS), ALONE, lease.TAKEN),
    "two sweeps charge one expiry": Mutant(Design(sweep=Recheck.NOTHING), Setting(sweepers=2), lease.BLAMED),
    "nobody sweeps": Mutant(Design(workers_sweep=False), Setting(workers=1, sweepers=0), STUCK),
    "nobody promotes": Mutant(Design(anybody_promotes=False), Setting(workers=1, ends=EVERY_END), STUCK),
    "a retry takes a task in work": Mutant(Design(retry_spares_live_tasks=False), Setting(operator=1), lease.TAKEN),
    "no grace after an outage": Mutant(Design(has_grace=False), OUTAGES, lease.ROBBED),
    "a worker's name is used twice, and the answer to a claim is lost": Mutant(
        OURS, Setting(one_name=True), lease.TAKEN
    ),
    "a timer renews": Mutant(Design(renewal_needs_progress=False), TIMED, lease.HUNG),
    "a renewal goes past the deadline": Mutant(Design(deadline_caps_renewals=False), TIMED, lease.OVERDUE),
    "an expiry is not charged": Mutant(Design(charge_of_an_expiry=0), POISON, lease.POISON),
    "an expiry is charged twice": Mutant(Design(charge_of_an_expiry=2), POISON, lease.EARLY),
    "a crash is not charged": Mutant(Design(crashes_are_charged=False), POISON, lease.POISON),
    "a release counts as a crash": Mutant(Design(releases_are_free=False), Setting(ends=STOPS), lease.CHARGED),
    "a stopped worker just leaves": Mutant(Design(stopping_gives_back=False), ALONE, lease.LEFT),
    "pages are stored in a transaction before the renewal": Mutant(
        Design(pages=Order.BEFORE), Setting(pages=2), lease.AGAIN
    ),
    "every attempt begins at page 1": Mutant(Design(resumes=False), Setting(pages=2), lease.AGAIN),
    "a write asks for no page that the holder knows to be stored": Mutant(
        Design(progress_is_fenced=False), FAILOVERS, lease.GAP
    ),
}

"""Which leases serve a fleet best: fixed, renewed by a timer, by pages, by progress, or learned. A simulation, seeded.

    python -m bench.leases [--quick] [--plot FILE] [--json FILE]

8 workers with 2 slots each read 80 % 2-page invoices, 15 % 200-page contracts and 5 % scans of 1 to 200 pages. What
these take is measured at the start, through the recipe of a worker's child (bench/leases_measured.py). What goes wrong
is assumed, and is more than anybody has (bench/leases_world.py): documents that hang, half of them using the processor;
workers that are killed, once an hour each; children that crash; hosts on which everything takes five times as long for
some minutes of each hour. All policies meet the same documents and the same faults. doclease's own are run by its code:
LeasePolicy, its settings, settle.decide; what they learn is what calibrate.sql learns (bench/leases_learning.py).

- A false recovery takes an attempt away that would have ended by itself.
- Time stuck is from the fault, a killed worker or a document that begins to hang, until the task is taken back.
- Leases alone: a sweep every 5 s finds what expired. With presence, a dead worker is noticed within 1.5 to 3 s.
- Policies that know no pages neither keep them nor limit the time of one; everything else is the same worker.

The second table, not with --quick, changes one figure of the defaults at a time, for a fleet that learns: time stuck
after a kill (p99), false recoveries on hosts that are 5 and 6 times slower in their bad minutes, and the same time
where nothing is scanned. Workers are killed every five minutes there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.figures import Figure, Table, add_json, tell
from bench.leases_attempts import Beaten, Policy, Stepped, Whole
from bench.leases_fleet import Fleet, Outcome
from bench.leases_measured import Measured, measured
from bench.leases_told import Told, figures, killed, page, plotted, quantile
from bench.leases_world import Weather, World, made
from pipeline.config import LeaseSettings
from pipeline.queue.lease import LeasePolicy

PRESENCE_SECONDS = (1.5, 3.0)  # two looks at a session that is gone, queue.poll_seconds apart
SLOWER = 6.0
DIGITAL = {"invoice": 84, "contract": 16}
DEFAULTS, SETTINGS = LeasePolicy(), LeaseSettings()
OURS = ("by progress", "learned")
NEIGHBOURS: Mapping[str, Sequence[int]] = {
    "max_seconds": (25, 30, 60, 900),
    "step_pages": (20, 100, 20_000),
    "base_seconds": (5, 20),
    "min_seconds": (10, 30),
    "ocr_per_page_seconds": (5, 40),
    "slack": (1, 8),
    "learn_margin": (1, 4),
}


@dataclass(frozen=True, slots=True)
class Contender:
    """A policy, and how it is made anew of what was learned."""

    name: str
    policy: Policy
    relearn: Callable[[Mapping[str, float]], Policy] | None = None

    def outcomes(self, worlds: Sequence[World], presence: tuple[float, float] | None = None) -> list[Outcome]:
        """A run in each world."""
        return [Fleet(world, self.policy, relearn=self.relearn, presence_seconds=presence).run() for world in worlds]


def learning(name: str, policy: LeasePolicy, margin: float = SETTINGS.learn_margin) -> Contender:
    """doclease with these figures, learning as it goes."""

    def relearned(rates: Mapping[str, float]) -> Policy:
        known = {source: rate * margin for source, rate in rates.items()}
        return Stepped(policy.with_rates(text=known.get("text"), ocr=known.get("ocr")))

    return Contender(name, Stepped(policy), relearned)


def contenders() -> list[Contender]:
    """The policies that are compared; the last one is what doclease does unless told otherwise."""
    whole = replace(DEFAULTS, step_pages=DEFAULTS.max_pages, max_seconds=900)
    return [
        Contender("fixed, 5 minutes", Whole(300)),
        Contender("timer, 30 s", Beaten(30)),
        Contender("by pages", Whole(by_pages=whole)),
        Contender("by progress", Stepped(DEFAULTS)),
        learning("learned", DEFAULTS),
    ]


def compared(worlds: Sequence[World]) -> list[Told]:
    """Every policy in every world."""
    return [Told(each.name, each.outcomes(worlds), each.outcomes(worlds, PRESENCE_SECONDS)) for each in contenders()]


def to_the_best(found: Sequence[Told]) -> Figure:
    """What doclease does beside the best of the policies that know no progress."""
    *others, ours = (quantile(each.stuck, 0.99) for each in found if each.name != OURS[0])
    return Figure("learned, to the best that knows no progress: time stuck, p99", ours / min(others), "times", most=1)


def neighbours() -> Iterator[Contender]:
    """The defaults, then with one figure changed."""
    yield learning("the defaults", DEFAULTS)
    for key, values in NEIGHBOURS.items():
        for value in values:
            name = f"{key} {value:g}"
            if key == "learn_margin":
                yield learning(name, DEFAULTS, value)
            else:
                yield learning(name, replace(DEFAULTS, **{key: value}))


def beside(timed: Measured, weather: Weather, seeds: int) -> Iterator[Figure]:
    """The defaults and their neighbours, a figure each."""
    worlds, slower, digital = (
        [made(timed, each, seed) for seed in range(seeds)]
        for each in (weather, replace(weather, slowness=SLOWER), replace(weather, mix=DIGITAL))
    )
    for each in neighbours():
        runs = each.outcomes(worlds)
        false, later = (sum(run.false_recoveries for run in some) for some in (runs, each.outcomes(slower)))
        written = sum(run.renewals for run in runs) / sum(run.finished for run in runs)
        short = quantile(killed(each.outcomes(digital)), 0.99)
        taken = f"false recoveries: {false} at 5 times slower, {later} at 6"
        note = f"{taken}; without scans {short:.0f} s; renewals a document: {written:.2g}"
        yield Figure(each.name, quantile(killed(runs), 0.99), "s", note=note)


def main() -> None:
    """Simulate and tell."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="an hour in each of 3 runs, no neighbours")
    options.add_argument("--plot", type=Path, metavar="FILE", help="draw what was found")
    add_json(options)
    chosen = options.parse_args()
    timed = measured(scans=1 if chosen.quick else 3)
    weather, seeds = (Weather(hours=1), 3) if chosen.quick else (Weather(), 5)
    found = compared([made(timed, weather, seed) for seed in range(seeds)])
    print(page(found), flush=True)
    if chosen.plot:
        plotted(found, chosen.plot)
    told = [figure for each in found for figure in figures(each, has_goals=each.name in OURS)]
    tables = [Table("Leases compared", [*told, to_the_best(found)])]
    if not chosen.quick:
        near = list(beside(timed, replace(weather, hours=0.5, eviction_seconds=300), 2))
        tables.append(Table("After a kill, with the defaults and beside them", near))
    tell(tables, chosen.json)


if __name__ == "__main__":
    main()

"""What a simulated fleet meets: documents, hosts with slow spells, workers that are evicted. For bench/leases.py.

What a document takes is drawn from what was measured (bench/leases_measured.py). What goes wrong, and how often, is
assumed: `Weather` has it, and makes it worse than any fleet has it, so that there is something to compare. One seed
gives every policy the same documents and the same faults.
"""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bench.leases_measured import Measured

MIX: Mapping[str, float] = {"invoice": 80, "contract": 15, "scan": 5}  # percent of documents
SCAN_PAGES = {1: 40, 3: 25, 10: 20, 40: 10, 200: 5}  # percent of scans
POOR_SHARE = 0.25  # of scanned pages; of 32 receipts that were recognised, 8 asked for the second look


@dataclass(frozen=True, slots=True)
class Weather:
    """What comes, and what goes wrong. Seconds, and shares of 1."""

    hours: float = 2
    mix: Mapping[str, float] = field(default_factory=lambda: MIX)
    workers: int = 8
    slots: int = 2
    use: float = 0.5  # of the slots, if nothing went wrong
    hang_share: float = 0.001  # of documents; half of them use the processor meanwhile
    crash_share: float = 0.002  # of attempts lose their child
    eviction_seconds: float = 3600  # between evictions of a worker, on average
    down_seconds: float = 30  # until an evicted worker is back
    spell_seconds: float = 300  # a slow spell, on average
    between_spells_seconds: float = 3600
    slowness: float = 5


@dataclass(frozen=True, slots=True)
class Paper:
    """A document: when it comes and what its parts take. Part 0 is the opening, the last one what follows the pages."""

    number: int
    kind: str
    comes_at: float
    parts: tuple[float, ...]
    ocr_pages: int
    hangs_on: int | None = None  # that page
    spins: bool = False  # it uses the processor while it hangs

    @property
    def pages(self) -> int:
        """How many."""
        return len(self.parts) - 2


class Host:
    """A worker's machine: when it is slow, and when its worker is killed. `finish` is the clock of whatever it does."""

    def __init__(self, weather: Weather, chance: random.Random) -> None:
        self._slowness = weather.slowness
        self._edges: list[float] = []  # begin and end of each spell in turn
        for begin in _moments(weather.between_spells_seconds, weather.hours * 3600, chance):
            if not self._edges or begin > self._edges[-1]:
                self._edges += [begin, begin + chance.expovariate(1 / weather.spell_seconds)]
        self._down_seconds = weather.down_seconds
        evicted = list(_moments(weather.eviction_seconds, weather.hours * 3600, chance))
        gaps = [moment for index, moment in enumerate(evicted) if not index or moment - evicted[index - 1] > 60]
        self._evictions = [*gaps, math.inf]

    def finish(self, start: float, work: float) -> float:
        """When work is done that takes so many seconds on a quiet machine."""
        now, left, index = start, work, bisect.bisect_right(self._edges, start)
        while index < len(self._edges):
            pace = self._slowness if index % 2 else 1.0
            if now + left * pace <= self._edges[index]:
                break
            left -= (self._edges[index] - now) / pace
            now, index = self._edges[index], index + 1
        return now + left * (self._slowness if index % 2 else 1.0)

    def eviction(self, after: float) -> float:
        """When its worker is killed next."""
        return self._evictions[bisect.bisect_right(self._evictions, after)]

    def back_at(self, moment: float) -> float:
        """When a worker of this host may begin something: then, or when it is up again."""
        index = bisect.bisect_right(self._evictions, moment)
        return max(moment, self._evictions[index - 1] + self._down_seconds) if index else moment


@dataclass(frozen=True, slots=True)
class World:
    """All of it, by one seed."""

    weather: Weather
    seed: int
    papers: Sequence[Paper]
    hosts: Sequence[Host]

    def chance(self, *about: object) -> random.Random:
        """A source of chance for something, the same for every policy."""
        return random.Random(f"{self.seed}/{about}")  # noqa: S311 - a simulation


def made(measured: Measured, weather: Weather, seed: int) -> World:
    """Draw a world."""
    chance = random.Random(seed)  # noqa: S311 - a simulation
    hosts = [Host(weather, chance) for _ in range(weather.workers)]
    return World(weather, seed, list(_papers(measured, weather, chance)), hosts)


def _papers(measured: Measured, weather: Weather, chance: random.Random) -> Iterator[Paper]:
    sample = [sum(_parts(measured, weather, chance)[1]) for _ in range(2000)]
    gap = sum(sample) / len(sample) / (weather.use * weather.workers * weather.slots)
    for number, moment in enumerate(_moments(gap, weather.hours * 3600, chance)):
        kind, parts = _parts(measured, weather, chance)
        pages = len(parts) - 2
        hangs = chance.random() < weather.hang_share
        place, spins = chance.randint(1, pages), chance.random() < 0.5
        yield Paper(number, kind, moment, parts, pages * (kind == "scan"), place if hangs else None, spins)


def _parts(measured: Measured, weather: Weather, chance: random.Random) -> tuple[str, tuple[float, ...]]:
    kind = chance.choices(list(weather.mix), list(weather.mix.values()))[0]
    if kind == "scan":
        count = chance.choices(list(SCAN_PAGES), list(SCAN_PAGES.values()))[0]
        kinds = (measured.poor.pages if chance.random() < POOR_SHARE else measured.scan.pages for _ in range(count))
        return kind, (measured.scan.opening, *(chance.choice(each) for each in kinds), measured.scan.ending)
    timed = chance.choice(measured.invoices) if kind == "invoice" else measured.contract
    return kind, (timed.opening, *timed.pages, timed.ending)


def _moments(gap: float, until: float, chance: random.Random) -> Iterator[float]:
    moment = chance.expovariate(1 / gap)
    while moment < until:
        yield moment
        moment += chance.expovariate(1 / gap)

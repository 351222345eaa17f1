"""What the simulation of fleets starts from, measured on a server of this machine, and how far it is right there."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import small_fleet
from bench.demand import WARM, Demand, Meter, complete, demands
from bench.figures import Figure, Table
from bench.fleet import Simulation
from bench.fleet_parts import Fleet, Kind, Server, dearer, many
from bench.growing import FINISHED, READY, THEIR_ATTEMPTS, Growing
from bench.pages_touched import Bench, installed
from bench.peers.servers import Postgres
from bench.small_fleet import Seen
from bench.typical import an_invoice
from pipeline.config import DatabaseSettings
from pipeline.database import open_engine
from pipeline.results import Results

IN_WORK = 2_000
MOST_WRONG = 1.25
FINISHED_BEFORE = 10_000
SECONDS_TOGETHER = 5
DOCUMENTS_A_ROUND = 20


@dataclass(frozen=True, slots=True)
class Real:
    """A fleet that this machine can have."""

    slots: int
    seconds: float
    slots_a_process: int

    @property
    def fleet(self) -> Fleet:
        """As it is simulated: what it costs itself is spent on the same cores, and no network is between."""
        return Fleet(
            self.slots,
            (Kind(self.seconds),),
            slots_a_process=self.slots_a_process,
            trip_seconds=0.00005,
            is_local=True,
        )

    @property
    def ready(self) -> int:
        """More tasks than it can do in the time."""
        return int(self.slots / self.seconds * 6) + 500


REAL = (Real(8, 0.1, 4), Real(32, 0.3, 8), Real(16, 0.1, 8), Real(16, 0.02, 8))


def costs(postgres: Postgres, times: int) -> dict[str, Demand]:
    """What each call costs."""
    with installed(postgres, "calls") as engine:
        bench = Growing(engine)
        bench.fill(FINISHED_BEFORE, FINISHED, THEIR_ATTEMPTS)
        return demands(bench, times, IN_WORK)


def of_calls(found: Mapping[str, Demand]) -> Table:
    """The costs as a table."""
    figures = []
    for name, each in found.items():
        note = f"{each.client_us:,.0f} us of the caller, {each.trips:g} messages"
        if each.commits:
            note += f", {each.pages:,.0f} pages, {each.log_bytes / 1024:,.1f} kB of log"
        figures.append(Figure(name, each.server_us, "CPU us of the server", note=note))
    return Table("What each call costs one PostgreSQL", figures)


def unprepared(postgres: Postgres, rounds: int) -> tuple[Table, float]:
    """What a document's calls cost where a pooler forbids prepared statements, to what they cost with them, in turn."""
    with installed(postgres, "unprepared") as engine:
        bench = Growing(engine)
        bench.fill(FINISHED_BEFORE, FINISHED, THEIR_ATTEMPTS)
        bench.fill(2 * rounds * (DOCUMENTS_A_ROUND + WARM), READY)
        pooled = open_engine(engine.url, DatabaseSettings(pooler="transaction"), name="bench")
        try:
            pairs = [(_of_a_document(Bench(engine)), _of_a_document(Bench(pooled))) for _ in range(rounds)]
        finally:
            pooled.dispose()
    ratio = statistics.median(without / prepared for prepared, without in pairs)
    prepared, without = (statistics.median(pair[which] for pair in pairs) for which in (0, 1))
    note = f"medians of {rounds} rounds: {without:,.0f} and {prepared:,.0f} us"
    name = "a document's claim, start and completion, to prepared"
    figures = [Figure(name, ratio, "times the server's processor", note=note)]
    return Table("Without prepared statements, as behind a pooler", figures), ratio


def _of_a_document(bench: Bench) -> float:
    """Processor microseconds of the server."""
    results = Results(bench.engine)

    def act() -> None:
        (claim,) = bench.queue.claim("worker-1")
        results.material(claim)
        complete(bench.queue, results, [claim], an_invoice())

    return Meter(bench).of(act, DOCUMENTS_A_ROUND).server_us


def beside(seen: Seen, fleet: Fleet, found: Mapping[str, Demand]) -> float:
    """What a document costs the server in a real fleet, to what its calls cost alone."""
    number, kind = fleet.claim_at_once, fleet.kinds[0]
    share = min(kind.complete_at_once, number)
    alone = (
        many(found["claim"], found["claims"], number).server_us / number
        + many(found["material"], found["materials"], number).server_us / number
        + many(found[kind.end], found[f"{kind.end}s"], share).server_us / share
    )
    return seen.server_us / alone


def held_against(postgres: Postgres, found: Mapping[str, Demand], points: Sequence[Real]) -> tuple[Table, float]:
    """A real fleet on this machine beside the simulated one, and how much dearer calls are in it than alone."""
    disk = commit_seconds(Path(tempfile.gettempdir()))
    fleets = [point.fleet for point in points]
    seen = [
        small_fleet.run(postgres, fleet, f"real_{number}", point.ready)
        for number, (fleet, point) in enumerate(zip(fleets, points, strict=True))
    ]
    factor = statistics.median(beside(each, fleet, found) for each, fleet in zip(seen, fleets, strict=True))
    figures = [Figure("a document's processor time at the server, in a fleet to alone", factor, "times")]
    ratios = []
    for each, fleet in zip(seen, fleets, strict=True):
        ran = Simulation(fleet, Server(each.cores, disk), dearer(found, factor)).run(1000 + 20 * fleet.slots)
        ratio = ran.documents_a_second / each.documents_a_second
        ratios.append(max(ratio, 1 / ratio))
        said = f"{fleet.slots} slots, {fleet.processes} processes, documents of {fleet.document_seconds:g} s"
        note = (
            f"{ran.documents_a_second:,.0f} and {each.documents_a_second:,.0f} documents a second, claims p50"
            f" {ran.claim_p50_ms:.1f} and {each.claim_p50_ms:.1f} ms, on {each.cores:.1f} cores that others left"
        )
        figures.append(Figure(f"simulated to real: {said}", ratio, "times", note=note))
    figures.append(Figure("the worst of them", max(ratios), "times", most=MOST_WRONG, note="off, up or down"))
    figures.append(Figure("a commit of this disk", disk * 1000, "ms", note="a page and fdatasync, the median"))
    return Table("The simulation beside a real fleet on this machine", figures), factor


def together(postgres: Postgres, levels: Sequence[int]) -> Table:
    """Sessions that have nothing to do but claim and complete: do commits share flushes, do calls get dearer?"""
    figures = []
    for level in levels:
        fleet = Fleet(level, (Kind(0.001),), slots_a_process=1, ahead_seconds=0.0)
        seen = small_fleet.run(postgres, fleet, f"together_{level}", 1500 * SECONDS_TOGETHER)
        note = f"{seen.documents_a_second:,.0f} documents a second, {seen.commits_a_flush:.1f} commits a flush"
        figures.append(Figure(f"{level} sessions", seen.server_us, "CPU us of the server a document", note=note))
    return Table("Sessions that claim and complete one invoice after the other", figures)


def commit_seconds(folder: Path, times: int = 200) -> float:
    """How long the disk takes for a page of the log; the median."""
    taken = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(times):
            file.seek(0)
            file.write(os.urandom(8192))
            file.flush()
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - started)
    return statistics.median(taken)

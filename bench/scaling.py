"""How many workers one PostgreSQL carries: `python -m bench.scaling [--quick] [--json FILE] [--plot FILE]`

Measures what each call of the queue costs a server of its own, holds a simulated fleet that has these costs against a
real one on this machine, and then simulates fleets of up to 10,000 slots on servers that this machine is not. What the
simulation leaves out is said in bench/fleet.py. --quick takes fewer samples and no larger fleets once a server is full.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import small_fleet
from bench.demand import Demand, Meter, demands, of_documents
from bench.figures import Figure, Table, add_json, tell
from bench.fleet import Fleet, Kind, Ran, Server, Simulation, dearer, many, slopes
from bench.growing import FINISHED, THEIR_ATTEMPTS, Growing
from bench.pages_touched import installed, server
from bench.peers.servers import Postgres
from bench.small_fleet import Seen
from pipeline.config import DatabaseSettings
from pipeline.database import open_engine

IN_WORK = 2_000
SIZES, QUICK_SIZES = (8, 32, 128, 512, 2_000, 5_000, 10_000), (8, 64, 512, 4_000)
CORES, COMMIT_MS = (2, 8, 32), (0.1, 1.0, 5.0)
MIX = (Kind(0.1, 0.8), Kind(1.0, 0.15, "complete contract"), Kind(10.0, 0.05))
DOCUMENTS: Mapping[str, Sequence[Kind]] = {
    "0.1 s": (Kind(0.1),),
    "1 s": (Kind(1.0),),
    "10 s": (Kind(10.0),),
    "a mix": MIX,
}
COLOURS = {2: "#c2572b", 8: "#2a7f4f", 32: "#2b5fa8"}
STYLES = {0.0001: "dotted", 0.001: "solid", 0.005: "dashed"}
CARRIED = 0.9  # of what a slot does in a fleet of two
CLOSER = 3  # fleets more, about where they begin to do less
FULL = 0.3
MOST_WRONG = 1.25
FINISHED_BEFORE = 10_000
SECONDS_TOGETHER = 5
OF_A_DOCUMENT = ("claim", "material", "complete invoice")


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


@dataclass(frozen=True, slots=True)
class Row:
    """Fleets that grow, on one server, with one kind of documents."""

    documents: str
    server: Server
    ran: Mapping[int, Ran]

    @property
    def carried(self) -> float:
        """How many slots there may be until each does less than nine tenths of what it does in a single process."""
        below, above = bracket(self.ran)
        wanted = CARRIED * next(iter(self.ran.values())).efficiency
        before, after = self.ran[below].efficiency, self.ran[above].efficiency
        if after >= wanted:
            return above
        return below * math.pow(above / below, (before - wanted) / (before - after))

    @property
    def most(self) -> Ran:
        """The fleet that did most."""
        return max(self.ran.values(), key=lambda each: each.documents_a_second)

    @property
    def last(self) -> Ran:
        """The largest fleet."""
        return self.ran[max(self.ran)]


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


def unprepared(postgres: Postgres, found: Mapping[str, Demand], times: int) -> Table:
    """What a document's calls cost where a pooler forbids prepared statements, to what they cost with them."""
    with installed(postgres, "unprepared") as engine:
        pooled = open_engine(engine.url, DatabaseSettings(pooler="transaction"), name="bench")
        bench = Growing(pooled)
        bench.fill(FINISHED_BEFORE, FINISHED, THEIR_ATTEMPTS)
        without = dict(of_documents(bench, Meter(bench), times))
        pooled.dispose()
    figures = []
    for name in OF_A_DOCUMENT:
        with_us, without_us = found[name].server_us, without[name].server_us
        note = f"{with_us:,.0f} and {without_us:,.0f} us of the server's processor"
        figures.append(Figure(name, without_us / with_us, "times", note=note))
    of_all = sum(without[name].server_us for name in OF_A_DOCUMENT) / sum(
        found[name].server_us for name in OF_A_DOCUMENT
    )
    return Table(
        "Without prepared statements, as behind a pooler", [*figures, Figure("a document's, together", of_all, "times")]
    )


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


def rows(found: Mapping[str, Demand], *, is_quick: bool) -> Iterator[Row]:
    """Every kind of documents on every server."""
    for documents, kinds in DOCUMENTS.items():
        for cores in CORES:
            for commit_ms in COMMIT_MS[1:2] if is_quick else COMMIT_MS:
                machine = Server(cores, commit_ms / 1000)
                yield Row(documents, machine, _grown(kinds, machine, found, is_quick=is_quick))


def _grown(kinds: Sequence[Kind], machine: Server, found: Mapping[str, Demand], *, is_quick: bool) -> dict[int, Ran]:
    """By size; with a few sizes more where a slot begins to do less."""

    def run(size: int) -> Ran:
        return Simulation(Fleet(size, kinds), machine, found).run(max(size, 1000))

    ran: dict[int, Ran] = {}
    for size in QUICK_SIZES if is_quick else SIZES:
        ran[size] = run(size)
        if is_quick and ran[size].efficiency < FULL:
            break
    for _ in range(CLOSER):
        below, above = bracket(ran)
        if above > below + 1:
            between = round(math.sqrt(below * above))
            ran[between] = run(between)
    return dict(sorted(ran.items()))


def bracket(ran: Mapping[int, Ran]) -> tuple[int, int]:
    """The largest fleet whose slots do nine tenths of what they do in the smallest, and the next one.

    The last two of all where there is none.
    """
    sizes = sorted(ran)
    wanted = CARRIED * ran[sizes[0]].efficiency
    above = next((size for size in sizes if ran[size].efficiency < wanted), sizes[-1])
    return sizes[sizes.index(above) - 1], above


def of_rows(grown: Sequence[Row]) -> Iterator[Table]:
    """How many slots each server carries, and what the largest fleets come to."""
    for documents in DOCUMENTS:
        figures = [_carried(row) for row in grown if row.documents == documents]
        yield Table(f"Slots that one PostgreSQL carries, documents of {documents}", figures)


def _carried(row: Row) -> Figure:
    last = row.last
    note = (
        f"at most {row.most.documents_a_second:,.0f} documents a second; {max(row.ran):,} slots do"
        f" {last.documents_a_second:,.0f}, held back by {last.limit}; a claim there p50 {last.claim_p50_ms:,.0f},"
        f" p99 {last.claim_p99_ms:,.0f} ms"
    )
    return Figure(_said(row.server), round(row.carried), "slots", note=note)


def of_processes(found: Mapping[str, Demand]) -> Table:
    """What slots of one process do that share its session, on a server that has nothing else to do."""
    figures = []
    for documents, kinds in DOCUMENTS.items():
        for slots in (2, 8, 32, 64):
            ran = Simulation(Fleet(slots, kinds, slots_a_process=slots), Server(32, 0.001), found).run(1000)
            note = f"{ran.documents_a_second:,.1f} documents a second, its session is busy {ran.sessions:.0%}"
            figures.append(Figure(f"{slots} slots, documents of {documents}", ran.efficiency * 100, "%", note=note))
    return Table("One worker process: documents done, to those of slots that wait for nothing", figures)


def _said(machine: Server) -> str:
    return f"{machine.cores:g} cores, a commit {machine.commit_seconds * 1000:g} ms"


def of_the_idle(found: Mapping[str, Demand], sizes: Sequence[int]) -> Table:
    """Fleets that have a third of the work they could do, woken by notifications or finding it by looks alone."""
    figures = []
    for size in sizes:
        for listens in (True, False):
            fleet = Fleet(size, (Kind(1.0),), arrivals_a_second=size * 0.3, listens=listens)
            ran = Simulation(fleet, Server(8, 0.001), found).run(max(size, 500))
            said = f"{size:,} slots, {'woken by notifications' if listens else 'looks alone'}"
            note = (
                f"processors {ran.processors:.0%} in all; {ran.documents_a_second:,.0f} of {size * 0.3:,.0f} a second"
            )
            figures.append(Figure(said, ran.for_polls * 100, "% of 8 cores", note=note))
    return Table("What being woken costs while most slots are idle, documents of 1 s", figures)


def measured(*, is_quick: bool) -> tuple[list[Table], list[Row]]:
    """Everything; rows for the plot."""
    with server() as postgres:
        alone = costs(postgres, 60 if is_quick else 300)
        tables = [of_calls(alone), unprepared(postgres, alone, 40 if is_quick else 200)]
        tables.append(together(postgres, (1, 4) if is_quick else (1, 2, 4, 8)))
        found = slopes(alone, IN_WORK)
        checked, factor = held_against(postgres, found, REAL[:3] if is_quick else REAL)
        tables.append(checked)
    found = dearer(found, factor)
    grown = list(rows(found, is_quick=is_quick))
    idle = of_the_idle(found, (50, 200) if is_quick else (100, 1000))
    return [*tables, *of_rows(grown), of_processes(found), idle], grown


def plotted(grown: Sequence[Row], path: Path) -> None:
    """Documents a second by slots, a picture a kind of documents. Needs matplotlib (extra `bench`)."""
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415 - an extra, and half a second

    canvas = Canvas(figsize=(11, 8), layout="constrained")
    for axes, documents in zip(canvas.subplots(2, 2).flat, DOCUMENTS, strict=True):
        for row in grown:
            if row.documents == documents:
                style = {"color": COLOURS[int(row.server.cores)], "linestyle": STYLES[row.server.commit_seconds]}
                speeds = [ran.documents_a_second for ran in row.ran.values()]
                axes.plot(list(row.ran), speeds, label=_said(row.server), marker=".", **style)
        ideal = [size / Fleet(size, DOCUMENTS[documents]).document_seconds for size in SIZES]
        axes.plot(SIZES, ideal, color="grey", linewidth=0.5, label="slots alone")
        axes.set(title=f"documents of {documents}", xscale="log", yscale="log", xlabel="slots")
        axes.set_ylabel("documents a second")
        axes.set_ylim(top=20_000)
    canvas.axes[0].legend(fontsize=7)
    canvas.savefig(path, dpi=90, metadata={"Software": None})


def main() -> None:
    """Measure, simulate, print, write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer samples, fewer servers")
    options.add_argument("--plot", type=Path, metavar="FILE", help="draw documents a second by slots")
    add_json(options)
    chosen = options.parse_args()
    tables, grown = measured(is_quick=chosen.quick)
    tell(tables, chosen.json)
    if chosen.plot:
        plotted(grown, chosen.plot)


if __name__ == "__main__":
    main()

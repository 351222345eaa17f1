"""How many workers one PostgreSQL carries: `python -m bench.scaling [--quick] [--json FILE] [--plot FILE] [--page]`

Measures what each call of the queue costs a server of its own, holds a simulated fleet that has these costs against a
real one on this machine, and then simulates fleets of up to 10,000 slots on servers that this machine is not. What the
simulation leaves out is said in bench/fleet.py. --quick takes fewer samples, servers and sizes.
"""

from __future__ import annotations

import argparse
import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.demand import Demand
from bench.figures import Figure, Table, add_json, machine, markdown, tell
from bench.fleet import Simulation
from bench.fleet_parts import Fleet, Kind, Ran, Server, dearer, slopes
from bench.pages_touched import server
from bench.scaling_measured import IN_WORK, REAL, costs, held_against, of_calls, together, unprepared

PAGE = Path(__file__).parents[1] / "docs" / "scaling.md"
BEGIN, END = "<!-- measured -->", "<!-- measured until here -->"
SIZES, QUICK_SIZES = (8, 64, 512, 2_000, 5_000, 10_000), (8, 64, 512, 4_000)
SERVERS = (Server(2, 0.001), Server(8, 0.001), Server(32, 0.001))
DISKS = (Server(8, 0.0001), Server(8, 0.005))
MEASURED = 2_500  # documents of a run, after as many to warm up
MIX = (Kind(0.1, 0.8), Kind(1.0, 0.15, "complete contract"), Kind(10.0, 0.05))
DOCUMENTS: Mapping[str, Sequence[Kind]] = {
    "0.1 s": (Kind(0.1),),
    "1 s": (Kind(1.0),),
    "10 s": (Kind(10.0),),
    "a mix": MIX,
}
COLOURS = {2: "#c2572b", 8: "#2a7f4f", 32: "#2b5fa8"}
STYLES = {0.0001: "dotted", 0.001: "solid", 0.005: "dashed"}
CARRIED = 0.9  # of what a slot does in a single process
CLOSER = 3  # fleets more, about where they begin to do less
FULL = 0.3  # larger fleets do no more
TEN_SECONDS = 10  # twice the longest pause between looks


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


def rows(found: Mapping[str, Demand], *, is_quick: bool) -> Iterator[Row]:
    """Every kind of documents on every server."""
    for documents, kinds in DOCUMENTS.items():
        for where in SERVERS if is_quick else (*SERVERS, *DISKS):
            yield Row(documents, where, _grown(kinds, where, found, is_quick=is_quick))


def _grown(kinds: Sequence[Kind], machine: Server, found: Mapping[str, Demand], *, is_quick: bool) -> dict[int, Ran]:
    """By size; with a few sizes more where a slot begins to do less."""

    def run(size: int) -> Ran:
        return Simulation(Fleet(size, kinds), machine, found).run(MEASURED)

    ran: dict[int, Ran] = {}
    for size in QUICK_SIZES if is_quick else SIZES:
        ran[size] = run(size)
        if ran[size].efficiency < FULL:
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


def of_poolers(found: Mapping[str, Demand], factor: float) -> Table:
    """A large fleet whose processes share a few sessions, and prepare no statements."""
    figures = []
    for sessions in (0, 64, 16, 4):
        fleet = Fleet(4_000, (Kind(10.0),), listens=not sessions)
        costs_there = dearer(found, max(factor, 1.0)) if sessions else found
        ran = Simulation(fleet, Server(8, 0.001, sessions=sessions), costs_there).run(MEASURED)
        said = f"{sessions} sessions of a pooler" if sessions else f"{2 * fleet.processes:,} sessions, no pooler"
        note = (
            f"processors busy {ran.processors:.0%}, a claim p50 {ran.claim_p50_ms:,.0f}, p99 {ran.claim_p99_ms:,.0f} ms"
        )
        figures.append(Figure(said, ran.documents_a_second, "documents a second", note=note))
    return Table("4,000 slots behind a pooler, documents of 10 s, 8 cores, a commit 1 ms", figures)


def of_the_idle(found: Mapping[str, Demand], sizes: Sequence[int]) -> Table:
    """Fleets that have a third of the work they could do, woken by notifications or finding it by looks alone."""
    figures = []
    for size in sizes:
        for listens in (True, False):
            fleet = Fleet(size, (Kind(1.0),), arrivals_a_second=size * 0.3, listens=listens)
            ran = Simulation(fleet, Server(8, 0.001), found).run(int(size * 0.3 * TEN_SECONDS))
            said = f"{size:,} slots, {'woken by notifications' if listens else 'looks alone'}"
            note = (
                f"processors {ran.processors:.0%} in all; {ran.documents_a_second:,.0f} of {size * 0.3:,.0f} a second"
            )
            figures.append(Figure(said, ran.for_polls * 100, "% of 8 cores", note=note))
    return Table("What being woken costs while most slots are idle, documents of 1 s", figures)


def measured(*, is_quick: bool) -> tuple[list[Table], list[Row]]:
    """Everything; rows for the plot."""
    with server() as postgres:
        alone = costs(postgres, 60 if is_quick else 150)
        behind_a_pooler, without = unprepared(postgres, 3 if is_quick else 7)
        tables = [of_calls(alone), behind_a_pooler]
        tables.append(together(postgres, (1, 4) if is_quick else (1, 2, 4, 8)))
        found = slopes(alone, IN_WORK)
        checked, factor = held_against(postgres, found, REAL[:3] if is_quick else REAL)
        tables.append(checked)
    found = dearer(found, factor)
    grown = list(rows(found, is_quick=is_quick))
    idle = of_the_idle(found, (50, 150) if is_quick else (100, 500, 1000))
    return [*tables, *of_rows(grown), of_processes(found), of_poolers(found, without), idle], grown


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


def write_page(tables: Sequence[Table], page: Path) -> None:
    """Put the tables between the page's marks, with the machine and the date."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    told = f"Measured on {dt.datetime.now(dt.UTC).date().isoformat()}: {machine()}.\n\n{markdown(tables)}"
    page.write_text(f"{before}{BEGIN}\n{told}{END}{after}", encoding="utf-8")


def main() -> None:
    """Measure, simulate, print, write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer samples, fewer servers")
    options.add_argument("--plot", type=Path, metavar="FILE", help="draw documents a second by slots")
    options.add_argument("--page", action="store_true", help="write the tables into docs/scaling.md, and its plot")
    add_json(options)
    chosen = options.parse_args()
    tables, grown = measured(is_quick=chosen.quick)
    tell(tables, chosen.json)
    if chosen.plot or chosen.page:
        plotted(grown, chosen.plot or PAGE.with_suffix(".png"))
    if chosen.page:
        write_page(tables, PAGE)


if __name__ == "__main__":
    main()

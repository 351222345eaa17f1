"""doclease beside what else reads documents, on the same files.

    python -m bench.extraction [--quick] [--peers LIST] [--files FOLDER] [--json FILE]

Each reader runs in a process of its own, from a virtual environment of its own with pinned versions, on one thread, as
its documentation shows it. In every round each reads the same files; processor time is user and system of the reader
and of the programs that it starts, without what it costs to start the reader. Ratios are taken within a round, over the
files that both read: a slow reader gets fewer. Recall is the share of the drawn words that its text has.

`python -m bench.peers.venvs` makes the environments; tesseract, poppler-utils and ghostscript are Debian's packages.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench.extraction_papers import CONTRACT_PAGES, Paper, Pile, drawn, found
from bench.extraction_readers import INSTALLED, KREUZBERG, PEERS, RECIPE, TEXT, Answer, Peer, Reading, chosen, running
from bench.figures import Figure, Table, add_json, tell

GOAL = 1.8  # times the processor time of doclease that kreuzberg takes
MIX = (0.80, 0.15, 0.05)  # of invoices, contracts and scans
MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured.

    A reader gets no further file of a pile once it took `patience` CPU seconds in a round, and no further round of a
    pile that took twice that.
    """

    invoices: int
    contracts: int
    scans: int
    rounds: int
    patience: float


FULL, QUICK = Size(20, 4, 4, 5, 20.0), Size(6, 1, 1, 2, 2.0)


@dataclass(slots=True)
class Cell:
    """A reader on a pile: for every round, what it told of each file, the whole pile for a reader of folders."""

    peer: Peer
    pile: Pile
    rounds: list[dict[Paper | None, Answer]] = field(default_factory=list)

    @property
    def cpu_ms(self) -> float:
        """A page, as a median over rounds."""
        spent = (sum(each.cpu_seconds for each in told.values()) / self._pages(told) for told in self.rounds)
        return 1000 * statistics.median(spent)

    def times(self, other: Cell) -> float:
        """Its processor time to another's on the same files of the same round."""
        pairs = zip(self.rounds, other.rounds, strict=False)
        return statistics.median(_spent(one, two) / _spent(two, one) for one, two in pairs)

    @property
    def said(self) -> str:
        """What one gets, and what else it costs."""
        answers = [(paper, answer) for told in self.rounds for paper, answer in told.items()]
        recalls = [share for paper, answer in answers if paper and (share := paper.recall(answer.text)) is not None]
        values = [answer.values for _, answer in answers if answer.values is not None]
        speed = statistics.median(self._speed(told) for told in self.rounds)
        peak = max(each.peak_rss_bytes for each in self.rounds[0].values()) / MEGABYTE
        parts = (
            f"recall {statistics.fmean(recalls):.3f}" if recalls else "",
            f"{statistics.fmean(values):.0f} values with names" if values else "",
            f"{speed:.3g} documents/s, {peak:.0f} MB",
            self.peer.said,
        )
        return "; ".join(filter(None, parts))

    def is_slow(self, patience: float) -> bool:
        """Whether what it took so far is enough to have seen."""
        return any(sum(each.cpu_seconds for each in told.values()) > 2 * patience for told in self.rounds)

    def _pages(self, told: Mapping[Paper | None, Answer]) -> int:
        return sum(paper.pages for paper in (self.pile.papers if None in told else told) if paper)

    def _speed(self, told: Mapping[Paper | None, Answer]) -> float:
        count = len(self.pile.papers) if None in told else len(told)
        return count / sum(each.seconds for each in told.values())


def _spent(one: Mapping[Paper | None, Answer], other: Mapping[Paper | None, Answer]) -> float:
    shared = one if None in one or None in other else one.keys() & other.keys()
    return sum(one[each].cpu_seconds for each in shared)


Cells = dict[tuple[str, str], Cell]


def measured(peers: Sequence[Peer], piles: Sequence[Pile], size: Size, missing: dict[str, str]) -> Cells:
    """All readers on all piles they can read. One that fails is left out, and `missing` says why."""
    cells = {
        (peer.name, pile.name): Cell(peer, pile) for peer in peers for pile in piles if peer.scans or not pile.scans
    }
    with ExitStack() as stack:
        readings: list[Reading] = []
        for peer in peers:
            try:
                readings.append(stack.enter_context(running(peer)))
            except RuntimeError as error:
                missing[peer.name] = str(error)
        for _ in range(size.rounds):
            _round(readings, cells, size, missing)
    return {key: cell for key, cell in cells.items() if cell.peer.name not in missing}


def _round(readings: Sequence[Reading], cells: Cells, size: Size, missing: dict[str, str]) -> None:
    for cell in cells.values():
        reading = next((each for each in readings if each.peer is cell.peer), None)
        if reading is None or cell.peer.name in missing or cell.is_slow(size.patience):
            continue
        try:
            if not cell.rounds and (cell.pile.scans or reading.is_new):  # models are loaded at the first file
                reading.ask(cell.pile.folder if reading.peer.whole else cell.pile.papers[0].path)
            cell.rounds.append(_read(reading, cell.pile, size.patience))
        except RuntimeError as error:
            missing[cell.peer.name] = str(error)


def _read(reading: Reading, pile: Pile, patience: float) -> dict[Paper | None, Answer]:
    if reading.peer.whole:
        return {None: reading.ask(pile.folder)}
    told: dict[Paper | None, Answer] = {}
    for paper in pile.papers:
        told[paper] = reading.ask(paper.path)
        if sum(each.cpu_seconds for each in told.values()) > patience:
            break
    return told


def tables(cells: Cells, piles: Sequence[Pile], missing: Mapping[str, str]) -> Iterator[Table]:
    """What is asked for first, then a table for each pile."""
    told = list(_goals(cells, piles))
    count = len({cell.peer.name for cell in cells.values()})
    absent = "; ".join(f"{name}: {why}" for name, why in missing.items())
    told.append(Figure("readers measured", count, f"of {count + len(missing)}", note=absent))
    yield Table("Reading documents: what kreuzberg takes to what doclease takes", told)
    for pile in piles:
        of_pile = [cell for (_, name), cell in cells.items() if name == pile.name]
        if of_pile:
            yield Table(f"Processor time of reading {pile.name}", [_figure(cell) for cell in of_pile])


def _goals(cells: Cells, piles: Sequence[Pile]) -> Iterator[Figure]:
    """Kreuzberg against the pages as doclease reads them, like with like; then against all that doclease does."""
    for own in (TEXT, RECIPE, INSTALLED):
        goal = GOAL if own is not RECIPE else None
        for pile in piles:
            theirs, ours = (cells.get((peer.name, pile.name)) for peer in (KREUZBERG, own))
            if theirs and ours:
                yield Figure(f"to {own.name}: {pile.name}", theirs.times(ours), "times", least=goal, note=own.said)
        costs = [_mixed(cells, peer, piles) for peer in (KREUZBERG, own)]
        if all(costs):
            shares = ", ".join(f"{share:.0%} {pile.name}" for share, pile in zip(MIX, piles, strict=True))
            yield Figure(f"to {own.name}: the mix", costs[0] / costs[1], "times", least=goal, note=shares)


def _mixed(cells: Cells, peer: Peer, piles: Sequence[Pile]) -> float:
    """CPU ms a document of the mix; 0.0 when a kind was not measured."""
    kinds = [cells.get((peer.name, pile.name)) for pile in piles]
    if len(kinds) != len(MIX) or not all(kinds):
        return 0.0
    pages = (2, CONTRACT_PAGES, 1)
    return sum(share * cell.cpu_ms * count for share, cell, count in zip(MIX, kinds, pages, strict=True) if cell)


def _figure(cell: Cell) -> Figure:
    return Figure(f"{cell.peer.name} ({cell.peer.version})", cell.cpu_ms, "CPU ms a page", note=cell.said)


def main() -> None:
    """Measure what was asked for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer files and rounds, within three minutes")
    options.add_argument("--peers", help="names of readers or of their environments, joined by commas")
    options.add_argument("--files", type=Path, metavar="FOLDER", help="measure the PDFs in this folder and below")
    add_json(options)
    given = options.parse_args()
    size = QUICK if given.quick else FULL
    peers, absent = chosen(given.peers.split(",") if given.peers else None, PEERS)
    missing: defaultdict[str, str] = defaultdict(str, absent)
    with tempfile.TemporaryDirectory(prefix="doclease-bench-") as folder:
        if given.files:
            piles = [found(given.files, size.invoices)]
        else:
            piles = list(drawn(Path(folder, "papers"), size.invoices, size.contracts, size.scans))
        cells = measured(peers, piles, size, missing)
        tell(list(tables(cells, piles, missing)), given.json)
    for name, why in missing.items():
        print(f"{name}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()

"""What the whole pipeline costs beside bare reading.

    python bench/pipeline.py [--documents N] [--rounds N] [--corpus FOLDER | --memory] [--json]

Born-digital documents go from files to rows, on an embedded PostgreSQL in a temporary folder. They are taken in by this
process as `doclease ingest` does it, with a child that inspects them, while `doclease work -n 2` reads them in two more
children. In turn with that, a plain loop of pypdfium2 reads the same files in one process: load each page, take its
text, nothing else. It has another one for company, as a slot has the other slot: on two threads of one core each takes
up to half as much again as it would alone, and `alone` tells what it takes then. Measured are processor seconds, user
and system, of everything that is doclease's; PostgreSQL's are told apart and are not in the ratio. So is what processes
cost to start, as a worker lives for long: a new child for every `worker.max_documents_per_child` documents.

By itself it makes 30-page contracts and 2-page invoices. `--corpus FOLDER` measures the PDFs in a folder instead;
copies of them get a comment at their end, so that no round meets the bytes of another. `--memory` measures the peak
memory of a child on contracts of 40 and of 400 pages instead.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from multiprocessing.synchronize import Event
from pathlib import Path

import pypdfium2
from sqlalchemy import TextClause, text

from bench.paper import contract, invoice
from bench.processes import children_seconds, own_seconds
from pipeline.app import App, open_app
from pipeline.intake.ingesting import Wanted, take
from pipeline.intake.recipe import Intake
from pipeline.trials.home import trial

MEGABYTE = 1_000_000
PATIENCE_SECONDS = 600.0
LOOK_SECONDS = 0.1
WANTED = Wanted(handler="auto", priority=0, batch=None)

_LIVE = text("SELECT count(*) FROM tasks WHERE finished_at IS NULL")
_BAD = text("SELECT count(*) FROM tasks WHERE status <> 'succeeded'")
_PEAK = text("SELECT max(peak_rss_bytes) FROM attempts")


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of the processor since the start, but for `wall`; or what something cost, as a difference of two."""

    ingest: float
    inspector: float
    worker: float
    children: float
    postgres: float
    wall: float

    @property
    def own(self) -> float:
        """All that is doclease's."""
        return self.ingest + self.inspector + self.worker + self.children

    def scaled(self, other: Spent, count: float) -> Spent:
        """This less `other`, by `count`."""
        return Spent(*((getattr(self, each.name) - getattr(other, each.name)) / count for each in fields(self)))


@dataclass(frozen=True, slots=True)
class Round:
    """What one document of a batch cost in the pipeline, in the plain loop, and in that alone, in seconds."""

    spent: Spent
    plain: float
    alone: float

    @property
    def ratio(self) -> float:
        """Doclease's own processes to the plain loop."""
        return self.spent.own / self.plain


class Site:
    """An installation that takes documents in here, with a worker that runs."""

    def __init__(self, app: App, intake: Intake, worker: int) -> None:
        assert app.server is not None
        self._app, self._intake, self._worker = app, intake, worker
        self._postmaster = int((app.server.cluster_dir / "postmaster.pid").read_text().split()[0])

    def work_off(self, folder: Path) -> None:
        """Take in the files of a folder and wait until each was read. Raises SystemExit when one was not."""
        for path in sorted(folder.iterdir()):
            take(self._intake, path, WANTED)
        until = time.monotonic() + PATIENCE_SECONDS
        while self._count(_LIVE) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
        if bad := self._count(_BAD):
            raise SystemExit(f"{bad} documents did not succeed")

    def spent(self) -> Spent:
        """What was used so far."""
        own, below = own_seconds(self._worker), children_seconds(self._worker)
        inspector = children_seconds(os.getpid()) - own  # the worker is a child of this process as well
        postgres = own_seconds(self._postmaster) + children_seconds(self._postmaster)
        return Spent(time.process_time(), inspector, own, below, postgres, time.monotonic())

    def peak_bytes(self) -> int:
        """The most memory that a child said it held."""
        return self._count(_PEAK)

    def _count(self, statement: TextClause) -> int:
        with self._app.engine.connect() as connection:
            return int(connection.execute(statement).scalar_one())


def main() -> None:
    """Measure what was asked for and print it."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--documents", type=int, default=20, help="documents of a round (default: 20)")
    arguments.add_argument("--rounds", type=int, default=5, help="rounds (default: 5)")
    arguments.add_argument("--corpus", type=Path, help="measure the PDFs in this folder and below")
    arguments.add_argument("--memory", action="store_true", help="measure the peak memory of a child")
    arguments.add_argument("--json", action="store_true", help="print JSON")
    chosen = arguments.parse_args()
    found: dict[str, dict[str, float]] = {}
    if chosen.memory:
        found["peak memory of a child, MB"] = _memory((40, 400))
    else:
        for name, papers in _papers(chosen.corpus, chosen.documents).items():
            found[name] = _told(*_measured(papers, chosen.rounds))
    print(json.dumps(found, indent=2) if chosen.json else _table(found))


def _papers(corpus: Path | None, count: int) -> dict[str, list[bytes]]:
    """The documents of each kind."""
    if corpus is not None:
        found = [path.read_bytes() for path in sorted(corpus.rglob("*.pdf"))[:count]]
        if not found:
            raise SystemExit(f"{corpus} has no PDFs")
        return {corpus.name: found}
    makers: dict[str, Callable[[int], bytes]] = {
        "30-page contracts": lambda seed: contract(30, seed),
        "2-page invoices": invoice,
    }
    return {name: [make(seed) for seed in range(1, count + 1)] for name, make in makers.items()}


@contextmanager
def _site(slots: int) -> Iterator[Site]:
    with (
        tempfile.TemporaryDirectory(prefix="doclease-bench-") as folder,
        trial(Path(folder, "home"), {}) as place,
        open_app(place.settings, name="bench") as app,
        app.intake() as intake,
    ):
        worker = place.start("worker", "work", "-n", str(slots)).pid
        assert worker is not None
        yield Site(app, intake, worker)


def _measured(papers: Sequence[bytes], rounds: int) -> tuple[Spent, list[Round]]:
    """What the start of all processes cost, and the rounds after that."""
    with _site(slots=2) as site, _Company(papers) as company:
        began = site.spent()
        with _copies(papers, "warming up") as folder:
            site.work_off(folder)
        start = site.spent().scaled(began, len(papers))
        found = [_round(site, company, papers, number) for number in range(1, rounds + 1)]
    return start.scaled(_usual(found), 1 / len(papers)), found


def _usual(rounds: Sequence[Round]) -> Spent:
    return Spent(*(statistics.median(getattr(each.spent, part.name) for each in rounds) for part in fields(Spent)))


@contextmanager
def _copies(papers: Sequence[bytes], mark: str) -> Iterator[Path]:
    """A folder with the papers, a comment at the end of each."""
    with tempfile.TemporaryDirectory() as folder:
        for place, paper in enumerate(papers, 1):
            Path(folder, f"paper-{place}.pdf").write_bytes(paper + f"\n% {mark}\n".encode())
        yield Path(folder)


def _round(site: Site, company: _Company, papers: Sequence[bytes], number: int) -> Round:
    """The plain loop before and after, as the machine may be faster now than then."""
    with _copies(papers, f"round {number}") as folder:
        first, alone = company.plain(papers), _plain(papers)
        before = site.spent()
        site.work_off(folder)
        spent = site.spent().scaled(before, len(papers))
        second = company.plain(papers)
        return Round(spent, (first + second) / 2 / len(papers), alone / len(papers))


class _Company:
    """A process that runs the plain loop beside this one, while it is wanted. A context."""

    def __init__(self, papers: Sequence[bytes]) -> None:
        context = multiprocessing.get_context("spawn")
        self._wanted, self._running, self._over = (context.Event() for _ in range(3))
        arguments = (papers, self._wanted, self._running, self._over)
        self._process = context.Process(target=_keep_company, args=arguments, daemon=True)

    def __enter__(self) -> _Company:
        self._process.start()
        self.plain(())
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._wanted.set()
        self._process.join()

    def plain(self, papers: Sequence[bytes]) -> float:
        """Processor seconds of the plain loop here, while the other runs."""
        self._running.clear()
        self._wanted.set()
        self._running.wait()
        seconds = _plain(papers)
        self._running.clear()
        self._wanted.clear()
        self._running.wait()  # it has stopped
        return seconds


def _keep_company(papers: Sequence[bytes], wanted: Event, running: Event, over: Event) -> None:
    while wanted.wait() and not over.is_set():
        running.set()
        while wanted.is_set():
            _plain(papers[:1])
        running.set()


def _plain(papers: Sequence[bytes]) -> float:
    """Processor seconds of the plain loop."""
    started = time.process_time()
    for paper in papers:
        document = pypdfium2.PdfDocument(paper)
        for page in document:
            page.get_textpage().get_text_range()
        document.close()
    return time.process_time() - started


def _memory(sizes: Sequence[int]) -> dict[str, float]:
    """Peak memory of a child by pages; each document meets a child that is new."""
    peaks: dict[str, float] = {}
    for pages in sizes:
        with _site(slots=1) as site, tempfile.TemporaryDirectory() as folder:
            Path(folder, f"{pages}.pdf").write_bytes(contract(pages, seed=pages))
            site.work_off(Path(folder))
            peaks[f"{pages} pages"] = site.peak_bytes() / MEGABYTE
    least, most = peaks.values()
    return peaks | {"ratio": most / least}


def _told(start: Spent, rounds: Sequence[Round]) -> dict[str, float]:
    ratios = [each.ratio for each in rounds]
    usual = _usual(rounds)
    return {
        "ratio, least": min(ratios),
        "ratio, median": statistics.median(ratios),
        "plain loop, ms a document": statistics.median(each.plain for each in rounds) * 1000,
        "  alone, ms a document": statistics.median(each.alone for each in rounds) * 1000,
        "pipeline, ms a document": usual.own * 1000,
        **{f"  {part.name}, ms a document": getattr(usual, part.name) * 1000 for part in fields(Spent)},
        "start of all processes, s": start.own,
    }


def _table(found: dict[str, dict[str, float]]) -> str:
    lines: list[str] = []
    for name, told in found.items():
        lines += [name, *(f"  {what:36s} {figure:8.2f}" for what, figure in told.items())]
    return "\n".join(lines)


if __name__ == "__main__":
    main()

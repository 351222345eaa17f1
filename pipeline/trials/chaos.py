"""Chaos: documents go through the whole pipeline while its processes are killed at random; at the end the books are
closed.

Every kill is a real SIGKILL of a real process: parser children, whole workers, sweepers, watchers. What was killed is
started again, as a supervisor would. The random choices come from a seed that is printed; the operating system's
timing does not.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from pipeline.app import open_app
from pipeline.trials.home import Member, Trial, trial
from pipeline.trials.ledger import Ledger, Paper, close_books
from pipeline.trials.paper import make_pdf

# Short leases, so that many recoveries fit in a minute. The limits are high: these deaths are not the documents' fault.
CHANGES: Mapping[str, Any] = {
    "inbox": {"quiet_for_seconds": 0.2, "rescan_seconds": 0.5},
    "lease": {"base_seconds": 2, "per_page_seconds": 0.05, "min_seconds": 3, "step_pages": 5}
    | {"checkpoint_seconds": 0.5},
    "sweep": {"interval_seconds": 1},
    "queue": {"max_crashes": 100_000, "max_failures": 100_000, "max_releases": 100_000, "backoff_seconds": 0.1}
    | {"backoff_cap_seconds": 0.5, "poll_seconds": 0.5},
    "worker": {"skip_page_after_crashes": 100_000},
}
WORKERS = 2
TICK_SECONDS = 0.05
WAVES = 10
SETTLE_SECONDS = 180
MEAN_PAGE_SECONDS = 0.015
VICTIMS = {"child": 12, "worker": 3, "sweeper": 1, "watcher": 1}

_LEFT = text("SELECT (SELECT count(*) FROM tasks WHERE finished_at IS NULL), (SELECT count(*) FROM documents)")
_HOLDERS = text("SELECT DISTINCT lease_holder FROM tasks WHERE status = 'processing'")
_UNPLACED = text("SELECT count(*) FROM arrivals WHERE placed_at IS NULL")


@dataclass(slots=True)
class Chaos:
    """One run. `say` is told what happens, in lines."""

    documents: int
    seconds: float
    seed: int
    say: Callable[[str], None]
    kills: Counter[str] = field(default_factory=Counter)

    def run(self, folder: Path) -> Ledger:
        """Feed, kill, let it settle, count. `folder` must be empty or new."""
        chance = random.Random(self.seed)  # noqa: S311 - choices that can be repeated
        with trial(folder, CHANGES) as place, open_app(place.settings, name="chaos") as app:
            papers = self._print_papers(place, chance)
            for number in range(1, WORKERS + 1):
                place.start("worker", "work", "-n", "2")
                self.say(f"worker {number} started")
            place.start("sweeper", "sweep")
            place.start("watcher", "watch")
            self._rampage(place, app.engine, chance)
            self._settle(place, app.engine)
            place.stop()
            settings = place.settings
            return close_books(app.engine, papers, inbox=settings.inbox_path, processed=settings.processed_path)

    def _print_papers(self, place: Trial, chance: random.Random) -> dict[str, Paper]:
        """Write the documents beside the inbox, on its file system, sized to last about the time given."""
        staged = place.settings.home / "staged"
        staged.mkdir()
        sizes = [_size(chance) for _ in range(self.documents)]
        scale = min(1.0, self.seconds * WORKERS * 0.6 / (sum(sizes) * MEAN_PAGE_SECONDS))
        papers = {}
        for number, size in enumerate(sizes, start=1):
            pages = max(1, round(size * scale))
            content = make_pdf(number, pages, self.seed)
            (staged / f"{number:06d}.pdf").write_bytes(content)
            papers[hashlib.sha256(content).hexdigest()] = Paper(number, pages)
        self.say(f"{self.documents} documents, {sum(paper.pages for paper in papers.values())} pages, seed {self.seed}")
        return papers

    def _rampage(self, place: Trial, engine: Engine, chance: random.Random) -> None:
        began = time.monotonic()
        waves = self._waves(place)
        pause = max(self.seconds / 150, 0.1)
        next_kill = began + 1
        while (elapsed := time.monotonic() - began) < self.seconds:
            if waves and elapsed >= self.seconds * 0.5 * (WAVES - len(waves)) / WAVES:
                _drop(waves.pop(0), place.settings.inbox_path)
            if time.monotonic() >= next_kill:
                self._kill_one(place, engine, chance)
                next_kill = time.monotonic() + pause * chance.uniform(0.5, 1.5)
            _raise_the_dead(place)
            if not waves and self._is_done(engine):
                break
            time.sleep(TICK_SECONDS)
        for wave in waves:
            _drop(wave, place.settings.inbox_path)
        killed = ", ".join(f"{count} {role}" for role, count in self.kills.items())
        self.say(f"faults end after {elapsed:.0f} s; killed: {killed}")

    def _waves(self, place: Trial) -> list[list[Path]]:
        files = sorted((place.settings.home / "staged").iterdir())
        return [files[start::WAVES] for start in range(WAVES)]

    def _kill_one(self, place: Trial, engine: Engine, chance: random.Random) -> None:
        """Kill one process, of workers and children only those of a worker that holds a task now."""
        role = chance.choices(list(VICTIMS), weights=list(VICTIMS.values()))[0]
        busy = _busy_workers(place, engine)
        members = busy if role in ("child", "worker") else [each for each in place.members if each.role == role]
        if not members:
            return
        member = chance.choice(members)
        if role == "child":
            children = _children(member)
            if not children:
                return
            os.kill(chance.choice(children), signal.SIGKILL)
        else:
            place.kill(member)
        self.kills[role] += 1

    def _settle(self, place: Trial, engine: Engine) -> None:
        """No more faults: everything must come to its end by itself."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline:
            _raise_the_dead(place)
            if self._is_done(engine) and _all_placed(engine):
                return
            time.sleep(0.2)
        self.say(f"not settled within {SETTLE_SECONDS} s")

    def _is_done(self, engine: Engine) -> bool:
        with engine.connect() as connection:
            live, known = connection.execute(_LEFT).one()
        return bool(live == 0 and known >= self.documents)


def _size(chance: random.Random) -> int:
    """Pages: four of five documents are short, one is long enough to be killed in the middle."""
    return chance.randint(1, 8) if chance.random() < 0.8 else chance.randint(20, 100)


def _drop(files: list[Path], inbox: Path) -> None:
    for path in files:
        path.rename(inbox / path.name)


def _raise_the_dead(place: Trial) -> None:
    for member in place.members:
        if member.pid is None:
            place.restart(member)


def _busy_workers(place: Trial, engine: Engine) -> list[Member]:
    """Workers that hold a task now: the process id is the second part of a worker's name."""
    with engine.connect() as connection:
        pids = {int(row.lease_holder.split("/")[-2]) for row in connection.execute(_HOLDERS)}
    return [member for member in place.members if member.role == "worker" and member.pid in pids]


def _children(member: Member) -> list[int]:
    return sorted(pid for pid, parent in _processes() if parent == member.pid)


def _processes() -> Iterator[tuple[int, int]]:
    """Every process and its parent, from proc(5)."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        yield int(path.parent.name), int(fields[1])


def _all_placed(engine: Engine) -> bool:
    with engine.connect() as connection:
        return bool(connection.execute(_UNPLACED).scalar_one() == 0)

"""Chaos: documents go through the whole pipeline while everything around them fails; at the end the books are closed.

Real processes, real signals, a real server that is really killed, and connections that are really cut. What ended is
started again, as a supervisor would. The choices come from a seed that is printed: the same seed makes the same
documents and the same sequence of faults. When a process runs and which one holds a task at that moment is the
operating system's doing, and is not repeated.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, Row, TextClause, make_url, text
from sqlalchemy.exc import DBAPIError

from pipeline.app import App, open_app
from pipeline.embedded.keeper import postmaster_of
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import DocleaseError
from pipeline.trials import audit, clocks, faults, feeding
from pipeline.trials.faults import KINDS, Saboteur
from pipeline.trials.feeding import Feeder
from pipeline.trials.home import Trial, trial
from pipeline.trials.ledger import Ended, Evidence, Ledger, close_books
from pipeline.trials.proxy import proxy_before

# Leases as short as they can be above the five seconds for which a frozen session may hide a row. The limits are high:
# these deaths are not the documents' fault.
CHANGES: Mapping[str, Any] = {
    "inbox": {"quiet_for_seconds": 0.5, "rescan_seconds": 1},
    "lease": {"base_seconds": 5.9, "per_page_seconds": 0.02, "min_seconds": 6, "step_pages": 5, "slack": 20}
    | {"checkpoint_seconds": 0.5, "learn": False},
    "sweep": {"interval_seconds": 1},
    "queue": {"max_crashes": 100_000, "max_failures": 100_000, "max_releases": 100_000, "backoff_seconds": 0.1}
    | {"backoff_cap_seconds": 0.5, "poll_seconds": 0.5},
    "worker": {"skip_page_after_crashes": 100_000, "drain_seconds": 5},
}
LEASE_SECONDS = 6.0
WORKER_CLOCK_HOURS = (1, 0, -1)  # one worker each
SWEEPER_CLOCK_HOURS = (-1, 0)
WATCHERS = 2
SLOTS = 2
TICK_SECONDS = 0.05
LOOK_SECONDS = 1.0
FEEDING_SHARE = 0.8  # of the time with faults
STUCK_SECONDS = 60.0
PATIENCE_SECONDS = 60.0
# What a document costs of a processor, and what faults leave of two of them.
DOCUMENT_SECONDS, PAGE_SECONDS, PROCESSORS = 0.04, 0.004, 0.8
LONGER = 8.0  # as much longer documents may be than they usually are, so that a few last as long as many

_LEFT = text(
    "SELECT (SELECT count(*) FROM tasks WHERE finished_at IS NULL) AS live,"
    " (SELECT count(*) FROM documents) AS known,"
    " (SELECT count(*) FROM arrivals WHERE placed_at IS NULL) AS unplaced"
)
_MOVED = text(
    "SELECT (SELECT count(*) FROM pages), (SELECT count(finished_at) FROM tasks),"
    " (SELECT count(placed_at) FROM arrivals)"
)
_HOLDERS = text("SELECT DISTINCT split_part(lease_holder, '/', -2) AS pid FROM tasks WHERE status = 'processing'")


@dataclass(slots=True)
class Chaos:
    """One run. `say` is told what happens, in lines; `kinds` are the faults there may be, of faults.KINDS."""

    documents: int
    seconds: float
    seed: int
    say: Callable[[str], None]
    kinds: Sequence[str] = KINDS
    ended: list[Ended] = field(default_factory=list)

    def run(self, folder: Path) -> tuple[Ledger, Evidence]:
        """Feed, break, let it settle, count. `folder` must be empty or new."""
        with trial(folder, CHANGES) as place, open_app(place.settings, name="chaos") as app:
            audit.install(app.engine)
            with self._saboteur(place, app) as saboteur:
                feeder = self._feeder(place)
                self._start_members(place)
                self._await_members(place, saboteur)
                feeder.start()
                self._rampage(place, app, saboteur, feeder)
                self._settle(place, app, feeder)
            self._stop(place)
            app.archive.sweep_temporaries(older_than_seconds=0)  # as it is done for copies that were left for an hour
            evidence = Evidence(
                papers=feeder.papers,
                settings=place.settings,
                log_path=place.log_path,
                scratch_path=_scratch(place),
                sessions=saboteur.sessions,
                faults=tuple(saboteur.faults),
                ended=tuple(self.ended),
            )
            self.say(_told("faults", saboteur.counts()))
            # In autocommit: the books of thousands of documents take longer than a transaction may stand idle.
            with app.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                return close_books(connection, evidence), evidence

    @contextmanager
    def _saboteur(self, place: Trial, app: App) -> Iterator[Saboteur]:
        """A proxy before the database that all members go through, and who does the damage."""
        server = app.server
        assert server is not None

        def socket_path() -> Path | None:
            found = postmaster_of(server.cluster_dir)
            return None if found is None else found.socket

        def tell(pid: int, kind: str, what: str, seconds: float) -> None:
            saboteur.hear(pid, kind, what, seconds)

        with proxy_before(make_url(server.url), socket_path, tell) as (url, proxy):
            saboteur = Saboteur(
                place,
                proxy,
                lease_seconds=LEASE_SECONDS,
                busy=lambda: _busy(app.engine),
                restart_database=lambda: _restart(server),
            )
            place.environment["DOCLEASE_DATABASE_URL"] = url.render_as_string(hide_password=False)
            try:
                yield saboteur
            finally:
                saboteur.end()
                self._stop(place)

    def _feeder(self, place: Trial) -> Feeder:
        wanted = self.seconds * PROCESSORS - self.documents * DOCUMENT_SECONDS
        scale = wanted / (self.documents * feeding.mean_pages() * PAGE_SECONDS)
        deliveries = feeding.plan(
            self.documents,
            seed=self.seed,
            seconds=self.seconds * FEEDING_SHARE,
            scale=min(LONGER, max(scale, 0.0)),
            in_pieces="pieces" in self.kinds,
        )
        pages = sum(each.paper.pages for each in deliveries)
        self.say(f"{self.documents} documents, {pages} pages, seed {self.seed}")
        return Feeder(
            deliveries,
            seed=self.seed,
            staged=place.settings.home / "staged",
            inbox=place.settings.inbox_path,
            quiet_for_seconds=place.settings.inbox.quiet_for_seconds,
        )

    def _start_members(self, place: Trial) -> None:
        _scratch(place).mkdir()
        place.environment["TMPDIR"] = str(_scratch(place))
        library = clocks.shifting_library() if "clocks" in self.kinds else None
        if library is None and "clocks" in self.kinds:
            self.say(clocks.NOT_SHIFTED)
        for hours in WORKER_CLOCK_HOURS:
            place.start("worker", "work", "-n", str(SLOTS), environment=clocks.shifted(library, hours))
        for hours in SWEEPER_CLOCK_HOURS:
            place.start("sweeper", "sweep", environment=clocks.shifted(library, hours))
        for _ in range(WATCHERS):
            place.start("watcher", "watch")
        self.say(f"started {_told('members', Counter(member.role for member in place.members))}")

    def _await_members(self, place: Trial, saboteur: Saboteur) -> None:
        """Until all of them talk to the database: faults are for what is under way."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not {member.pid for member in place.members} <= saboteur.sessions.clients():
            if time.monotonic() > deadline:
                raise DocleaseError(f"the members of the trial do not start; see {place.log_path}")
            time.sleep(TICK_SECONDS)

    def _rampage(self, place: Trial, app: App, saboteur: Saboteur, feeder: Feeder) -> None:
        choices = faults.choices(self.seed, self.kinds)
        began = looked = time.monotonic()
        next_at = began + 1
        pause = min(max(self.seconds / 40, 0.5), 1.0)
        while (now := time.monotonic()) - began < self.seconds:
            saboteur.tend()
            self._raise_the_dead(place)
            if now >= next_at and (choice := next(choices, None)) is not None:
                saboteur.strike(choice)
                next_at = now + pause * (0.5 + choice.pause)
            if now - looked > LOOK_SECONDS:
                looked = now
                if feeder.is_done() and self._is_done(place, app.engine, feeder):
                    break
            time.sleep(TICK_SECONDS)
        saboteur.end()
        self.say(f"faults end after {time.monotonic() - began:.0f} s")

    def _settle(self, place: Trial, app: App, feeder: Feeder) -> None:
        """No more faults: everything must come to its end by itself, and is stuck when nothing comes on any more."""
        began = moved = time.monotonic()
        last = None
        while time.monotonic() - moved < STUCK_SECONDS:
            self._raise_the_dead(place)
            if feeder.is_done() and self._is_done(place, app.engine, feeder):
                self.say(f"everything ended {time.monotonic() - began:.0f} s later")
                return
            if last != (last := _ask(app.engine, _MOVED)):
                moved = time.monotonic()
            time.sleep(LOOK_SECONDS / 2)
        self.say(f"nothing has come on for {STUCK_SECONDS:.0f} s")

    def _is_done(self, place: Trial, engine: Engine, feeder: Feeder) -> bool:
        left = _ask(engine, _LEFT)[0]
        if left.live or left.unplaced or left.known < len(feeder.papers):
            return False
        return not any(not path.is_dir() for path in place.settings.inbox_path.rglob("*"))

    def _raise_the_dead(self, place: Trial) -> None:
        for member in place.members:
            code = member.exit_code
            if code is None or member.process is None:
                continue
            if not member.signalled:
                self._note_end(member.role, member.process.pid, code, member.started_at)
            clocks.forget(member.process.pid)
            place.restart(member)

    def _stop(self, place: Trial) -> None:
        """End the members. Who does not end at SIGTERM is no better than who ended by itself."""
        place.stop()
        for member in place.members:
            if member.process is None:
                continue
            if member.exit_code == -signal.SIGKILL:
                self._note_end(member.role, member.process.pid, -signal.SIGKILL, member.started_at)
            clocks.forget(member.process.pid)
        place.members.clear()

    def _note_end(self, role: str, pid: int, code: int, started_at: float) -> None:
        self.ended.append(Ended(role, pid, code, started_at, time.time()))


def default_seconds(documents: int) -> float:
    """How long there are faults when nobody says: half a minute at least, as long as two processors need for more."""
    return max(30.0, documents * 0.06)


def _told(what: str, counts: Counter[str]) -> str:
    return f"{what}: " + (", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none")


def _scratch(place: Trial) -> Path:
    """Where the members put what is temporary, so that nothing of it is left elsewhere."""
    return place.settings.home / "scratch"


def _restart(server: EmbeddedServer) -> None:
    """An immediate stop, as by a power cut: SIGQUIT to the server, which then recovers from its log."""
    found = postmaster_of(server.cluster_dir)
    if found is not None:
        os.kill(found.pid, signal.SIGQUIT)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while found == postmaster_of(server.cluster_dir) and time.monotonic() < deadline:
        time.sleep(0.01)
    server.acquire()


def _ask(engine: Engine, question: TextClause) -> list[Row[Any]]:
    """The rows, also when the database was restarted since the last question. Raises DBAPIError when it stays away."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with engine.connect() as connection:
                return list(connection.execute(question))
        except DBAPIError:
            if time.monotonic() > deadline:
                raise
            time.sleep(TICK_SECONDS)


def _busy(engine: Engine) -> set[int]:
    """The processes of workers that hold a task now."""
    return {int(row.pid) for row in _ask(engine, _HOLDERS)}

"""From the commit that puts a document in line to its beginning: `python -m bench.pickup [--quick] [--json FILE]`

The worker is idle and is woken. It is doclease's own, with its listener, its claim and its parser child, whose
documents are orders; beside it, in turn, a listener by hand. Then two documents a moment apart: the second falls into
the pause between two notifications, while the first is being read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy import URL, text

from bench.figures import Figure, Table, add_json, tell
from bench.pages_touched import percentiles, server
from bench.peers import bare_listener, doclease_child
from bench.peers.body import LOG, Order, now
from bench.peers.servers import Postgres
from bench.peers.stage import ROOT, signal_tree
from pipeline import database
from pipeline.app import App
from pipeline.config_reading import settings_from
from pipeline.documents.contract import Inspection
from pipeline.intake import recipe
from pipeline.intake.recipe import Intake, Ready, Source
from pipeline.queue.wakeup import NOTIFY_PAUSE_SECONDS
from pipeline.registering import Triage

SLOTS = 2
GAP_SECONDS = 0.02
READY_SECONDS, PATIENCE_SECONDS = 60.0, 20.0
REST_SECONDS = 0.2
CLAIMED = text("SELECT extract(epoch FROM started_at) FROM attempts JOIN arrivals USING (task_id) WHERE token = :token")
LISTENERS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'doclease listener'"


class Ours:
    """doclease with a worker process, on a database of its own; documents are put in line from here."""

    def __init__(self, postgres: Postgres, folder: Path) -> None:
        self._folder = folder
        url = URL.create("postgresql+psycopg", postgres.user, database="ours", query={"host": postgres.host})
        home = folder / "doclease"
        home.mkdir()
        settings = settings_from({"database_url": url.render_as_string(hide_password=False)}, home=home)
        self._app = App(settings=settings, url=url, name="bench")
        database.upgrade(self._app.engine)
        self._intake = Intake(
            engine=self._app.engine,
            queue=self._app.queue,
            archive=self._app.archive,
            inspect=lambda _path, _name: Inspection("text/x-order", 1),
            policy=self._app.policy,
            limits=settings.limits,
            notify=self._app.notifier.notify,
        )

    def listeners(self) -> int:
        """How many sessions listen."""
        with self._app.engine.connect() as connection:
            return int(connection.execute(text(LISTENERS)).scalar_one())

    def claimed(self, ready: Ready) -> float:
        """When it was claimed, by the server's clock."""
        with self._app.engine.connect() as connection:
            claimed = connection.execute(CLAIMED, {"token": ready.order.token}).scalar_one()
        return float(claimed) - time.time() + now()

    def stored(self, steps: int = 0) -> Ready:
        """A document that takes so many seconds. Its bytes are in the store, its rows still to be written."""
        order = Order(uuid.uuid4().hex, "slow", str(self._folder), steps)
        path = self._folder / f"{order.task}.order"
        path.write_bytes(doclease_child.HEAD + order.to_json().encode())
        stored, identity = self._intake.put(Source.at(path))
        how = recipe.Order("auto", 0, None, "command", uuid.uuid4())
        ready = Ready(Source.at(path), how, stored, identity, Triage(Inspection("text/x-order", max(steps, 1))))
        self._intake.sync([ready], map)
        return ready

    def put_in_line(self, ready: Ready) -> float:
        """Commit, then tell; when it was committed."""
        arrived = self._intake.record(ready)
        committed = now()
        self._intake.tell_of([arrived])
        return committed

    def begun(self, ready: Ready, event: str = "begin") -> float | None:
        """When its child began it, or was at its end."""
        path = self._folder / LOG
        lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
        entries = (json.loads(line) for line in lines[-6:])
        task = ready.source.path.stem
        return next((each["at"] for each in entries if (each["task"], each["event"]) == (task, event)), None)


class ByHand:
    """A table, a notification and the process that listens for it."""

    def __init__(self, postgres: Postgres, folder: Path) -> None:
        self.conninfo = f"host={postgres.host} user={postgres.user} dbname=bare"
        self.file = folder / "bare"
        self._connection = psycopg.connect(self.conninfo, autocommit=True)
        for statement in bare_listener.TABLE.split(";\n")[:-1]:
            self._connection.execute(statement)

    def put_in_line(self) -> float:
        """The same."""
        self._connection.execute(bare_listener.ADD, ("{}",))
        committed = now()
        self._connection.execute(f"NOTIFY {bare_listener.CHANNEL}")
        return committed

    def begun(self, number: int) -> float | None:
        """When the job of that number, counted from 0, had been claimed."""
        lines = self.file.read_text(encoding="ascii").splitlines() if self.file.exists() else []
        return float(lines[number]) if len(lines) > number else None


def pickups(ours: Ours, by_hand: ByHand, rounds: int) -> Table:
    """In turn, each when everybody has been idle for a while."""
    claimed, begun, bare = [], [], []
    for number in range(rounds):
        ready = ours.stored()
        _rest()
        committed = ours.put_in_line(ready)
        begun.append(_until(lambda: ours.begun(ready)) - committed)  # noqa: B023 - called before the next
        claimed.append(ours.claimed(ready) - committed)
        _rest()
        committed = by_hand.put_in_line()
        bare.append(_until(lambda: by_hand.begun(number + 1)) - committed)  # noqa: B023 - called before the next
    reference, least = percentiles(bare)
    figures = [
        Figure("to a listener by hand, until the claim: p50", percentiles(claimed)[0] / reference, "times", 1.5),
        Figure(
            "to a listener by hand, until the parser child begins: p50", percentiles(begun)[0] / reference, "times", 1.5
        ),
    ]
    for name, values in (("doclease, until the claim", claimed), ("doclease, until its child begins", begun)):
        p50, p99 = percentiles(values)
        figures.append(Figure(f"{name}: p50", p50 * 1000, "ms", note=f"p99 {p99 * 1000:.1f} ms"))
    note = f"p99 {least * 1000:.1f} ms; it has no child"
    figures.append(Figure("by hand, until the claim: p50", reference * 1000, "ms", note=note))
    figures.append(Figure(f"sessions that listen, of a worker with {SLOTS} slots", ours.listeners(), "", 1))
    return Table("Picking up a document, the worker idle", figures)


def pairs(ours: Ours, rounds: int) -> Table:
    """The second of two, when the first has just been told of."""
    seconds = []
    for _ in range(rounds):
        first, second = ours.stored(steps=1), ours.stored()
        _rest()
        ours.put_in_line(first)
        time.sleep(GAP_SECONDS)
        committed = ours.put_in_line(second)
        seconds.append(_until(lambda: ours.begun(second)) - committed)  # noqa: B023 - called before the next
        _until(lambda: ours.begun(first, "end"))  # noqa: B023 - the same
    p50, _ = percentiles(seconds)
    note = f"{rounds} times; a notification at most every {NOTIFY_PAUSE_SECONDS * 1000:g} ms"
    figures = [
        Figure("the second, p50", p50 * 1000, "ms", note=note),
        Figure("the second, at worst", max(seconds) * 1000, "ms", 500, note="a poll would come after seconds"),
    ]
    return Table(f"Two documents, {GAP_SECONDS * 1000:g} ms apart, a slot for each", figures)


def _rest() -> None:
    """Not in step with anything."""
    time.sleep(REST_SECONDS * (1 + random.random()))  # noqa: S311 - not for secrets


def _until(look: Callable[[], float | None], seconds: float = PATIENCE_SECONDS) -> float:
    give_up = time.monotonic() + seconds
    while (found := look()) is None:
        if time.monotonic() > give_up:
            raise SystemExit("nobody began it")
        time.sleep(0.002)
    return found


@contextmanager
def _running(*arguments: str, **environment: str) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        env={**os.environ, **environment, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        signal_tree(process.pid, signal.SIGKILL)
        process.wait()


def measured(postgres: Postgres, folder: Path, rounds: int) -> list[Table]:
    """Both tables."""
    for name in ("ours", "bare"):
        postgres.create_database(name)
    ours, by_hand = Ours(postgres, folder), ByHand(postgres, folder)
    place = {"BENCH_HOST": postgres.host, "BENCH_USER": postgres.user, "BENCH_DATABASE": "ours"}
    place |= {"BENCH_FOLDER": str(folder), "BENCH_SETTINGS": "{}"}
    with (
        _running("bench.peers.doclease_adapter", "work", str(SLOTS), **place),
        _running("bench.peers.bare_listener", by_hand.conninfo, str(by_hand.file)),
    ):
        first = ours.stored()
        ours.put_in_line(first)
        by_hand.put_in_line()
        _until(lambda: ours.begun(first), READY_SECONDS)
        _until(lambda: by_hand.begun(0), READY_SECONDS)
        return [pickups(ours, by_hand, rounds), pairs(ours, rounds // 4)]


def main() -> None:
    """Measure, print, write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="fewer documents")
    add_json(options)
    chosen = options.parse_args()
    with server() as postgres, tempfile.TemporaryDirectory(prefix="doclease-bench-") as folder:
        tables = measured(postgres, Path(folder), 50 if chosen.quick else 300)
    tell(tables, chosen.json)


if __name__ == "__main__":
    main()

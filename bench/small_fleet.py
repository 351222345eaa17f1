"""A real fleet on this machine, to hold the simulated one against: processes whose slots claim, sleep and complete.

Each process has one session for all its slots and sweeps, as a worker has; a document is a sleep. What other programs
leave of the cores is measured in the same seconds, and is what the simulation gets.

    python -m bench.small_fleet '{…}'    is one of these processes
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg

from bench.demand import complete
from bench.fleet_parts import Fleet
from bench.growing import READY, Growing
from bench.pages_touched import engine_on, installed
from bench.peers.servers import Postgres
from bench.peers.stage import ROOT
from bench.processes import children
from bench.typical import an_invoice
from pipeline.queue.model import Claim
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from pipeline.results import Results

WARM_SECONDS, SECONDS = 1.0, 4.0
_TICK = os.sysconf("SC_CLK_TCK")
_STATE = """
SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint),
    (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'),
    (SELECT count(*) FROM attempts WHERE outcome = 'succeeded')
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a process of the fleet works, and how."""

    host: str
    user: str
    database: str
    name: str
    slots: int
    document_seconds: float
    claim_at_once: int
    complete_at_once: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What the fleet did.

    `server_us` is the server's processor time a document, with what it does by itself. `cores` is what other programs
    left: what was used or idle, or the share of time in which the server's processes ran when they wanted to, if more.
    """

    documents_a_second: float
    claim_p50_ms: float
    claim_p99_ms: float
    server_us: float
    cores: float
    commits_a_flush: float


def run(postgres: Postgres, fleet: Fleet, name: str, ready: int) -> Seen:
    """Let it work on a database of its own."""
    kind = fleet.kinds[0]
    with installed(postgres, name) as engine:
        bench = Growing(engine)
        bench.fill(ready, READY)
        slots = fleet.slots_a_process
        places = [
            Place(postgres.host, postgres.user, name, f"worker-{number}", slots, kind.seconds, fleet.claim_at_once,
                  kind.complete_at_once, WARM_SECONDS + SECONDS)
            for number in range(fleet.processes)
        ]  # fmt: skip
        command = [sys.executable, "-m", "bench.small_fleet"]
        workers = [
            subprocess.Popen([*command, json.dumps(asdict(place))], cwd=ROOT, stdin=-1, stdout=-1, text=True)
            for place in places
        ]
        try:
            return _watched(postgres, name, workers)
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def _watched(postgres: Postgres, name: str, workers: Sequence[subprocess.Popen[str]]) -> Seen:
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    with psycopg.connect(host=postgres.host, user=postgres.user, dbname=name, autocommit=True) as connection:
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        time.sleep(WARM_SECONDS)
        before = _state(connection, postgres, workers)
        time.sleep(SECONDS - 0.5)
        after = _state(connection, postgres, workers)
    waits = sorted(wait for worker in workers for wait in json.loads(worker.communicate()[0]))
    return _seen({key: after[key] - before[key] for key in after}, waits)


def _state(
    connection: psycopg.Connection[tuple[object, ...]], postgres: Postgres, workers: Sequence[subprocess.Popen[str]]
) -> dict[str, float]:
    row = connection.execute(_STATE).fetchone()
    assert row is not None
    commits, flushes, documents = (float(str(each)) for each in row)
    ran, waited = _scheduled([postgres.pid, *children(postgres.pid)])
    own, _ = _scheduled([worker.pid for worker in workers])
    idle = sum(map(int, Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[4:6])) / _TICK
    return {
        "at": time.monotonic(), "commits": commits, "flushes": flushes, "documents": documents, "server": ran,
        "waited": waited, "own": own, "idle": idle,
    }  # fmt: skip


def _scheduled(pids: Sequence[int]) -> tuple[float, float]:
    """Seconds in which the threads of processes ran, and in which they waited for a core."""
    ran = waited = 0
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            ran_here, waited_here, _ = thread.read_text(encoding="ascii").split()
            ran, waited = ran + int(ran_here), waited + int(waited_here)
    return ran / 1e9, waited / 1e9


def _seen(of: dict[str, float], waits: Sequence[float]) -> Seen:
    all_cores = float(os.cpu_count() or 1)
    had = (of["server"] + of["own"] + of["idle"]) / of["at"]
    return Seen(
        of["documents"] / of["at"],
        waits[len(waits) // 2] * 1000,
        waits[len(waits) * 99 // 100] * 1000,
        of["server"] / max(of["documents"], 1) * 1e6,
        min(max(had, all_cores * of["server"] / (of["server"] + of["waited"])), all_cores),
        of["commits"] / max(of["flushes"], 1),
    )


class Worker:
    """One process of the fleet."""

    def __init__(self, place: Place) -> None:
        self._place = place
        postgres = Postgres.__new__(Postgres)
        postgres.host = place.host
        self._engine = engine_on(postgres, place.database)
        self._waits: list[float] = []

    def run(self) -> None:
        """Say that it is ready, wait for the word, work, tell how long claims took."""
        place = self._place
        with self._engine as engine:
            queue, results = Queue(engine, limits=Limits(), aging_ms=600_000), Results(engine)
            queue.sweep(worker=place.name, interval_seconds=5)
            an_invoice()
            print("ready", flush=True)
            sys.stdin.readline()
            until = time.monotonic() + place.seconds
            threads = [threading.Thread(target=self._slot, args=(queue, results, until)) for _ in range(place.slots)]
            for thread in threads:
                thread.start()
            while time.monotonic() < until:
                queue.sweep(worker=place.name, interval_seconds=5)
                time.sleep(min(5, max(until - time.monotonic(), 0)))
            for thread in threads:
                thread.join()
        print(json.dumps(self._waits))

    def _slot(self, queue: Queue, results: Results, until: float) -> None:
        place, chance = self._place, random.Random()  # noqa: S311 - spreads what would go in step
        time.sleep(chance.random() * place.document_seconds)
        while time.monotonic() < until:
            asked_at = time.monotonic()
            claims = queue.claim(place.name, batch=place.claim_at_once)
            self._waits.append(time.monotonic() - asked_at)
            results.materials(claims) if len(claims) > 1 else results.material(claims[0])
            self._work(queue, results, claims, chance)

    def _work(self, queue: Queue, results: Results, claims: Sequence[Claim], chance: random.Random) -> None:
        place = self._place
        waiting: list[Claim] = []
        for number, claim in enumerate(claims, 1):
            time.sleep(place.document_seconds * chance.uniform(0.75, 1.25))
            waiting.append(claim)
            if len(waiting) >= place.complete_at_once or number == len(claims):
                complete(queue, results, waiting, an_invoice())
                waiting = []


if __name__ == "__main__":
    Worker(Place(**json.loads(sys.argv[1]))).run()

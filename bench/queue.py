"""What a task costs that does nothing: `python -m bench.queue [--quick] [--peers LIST] [--json FILE]`

One interleaved run of doclease's claim and completion, hand-written SQL and other queues at their documented settings,
each in its own virtual environment, on one server; then intake with and without wake-up. Figures are medians over
rounds of ratios inside a round. The document itself is left out: no parser process, no page.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure, Table, add_json, tell
from bench.growing import Growing
from bench.pages_touched import Bench, engine_on, installed, server
from bench.peers.servers import Postgres, Redis, redis_program, running
from bench.peers.stage import ROOT, signal_tree
from bench.peers.venvs import python_of
from bench.processes import children_seconds, own_seconds
from pipeline.queue.model import NewTask
from pipeline.queue.wakeup import Notifier

WARM_SHARE, MOST_SECONDS, READY_SECONDS = 0.05, 8.0, 60.0
PRODUCERS, PRODUCING_SECONDS = 16, 2.0
SQL, SQL_SINGLE, OWN, SINGLE, ONE = "sql", "sql_single", "doclease", "doclease_single", "doclease_one"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to drain `tasks` tasks; `number` is what its worker takes at a time."""

    name: str
    peer: str
    tasks: int
    number: int
    said: str

    @property
    def module(self) -> str:
        """Where its worker is."""
        return "bench.peers.own_drains" if self.peer in (SQL, SQL_SINGLE, OWN, SINGLE) else "bench.peers.drains"


CANDIDATES = (
    Candidate(SQL, SQL, 20_000, 50, "hand-written SQL, 50 a claim, completed together"),
    Candidate(SQL_SINGLE, SQL_SINGLE, 6_000, 50, "hand-written SQL, 50 a claim, each completed by itself"),
    Candidate(OWN, OWN, 20_000, 50, "doclease, 50 a claim, completed together, as short documents are"),
    Candidate(SINGLE, SINGLE, 4_000, 50, "doclease, 50 a claim, each completed by itself"),
    Candidate(ONE, SINGLE, 3_000, 1, "doclease, one a claim, completed by itself, as long documents are"),
    Candidate("pgqueuer", "pgqueuer", 10_000, 10, "pgqueuer 1.6.0, batches of 10 (its default)"),
    Candidate("procrastinate", "procrastinate", 1_000, 1, "procrastinate 3.10.0, concurrency 1 (its default)"),
    Candidate("awa", "awa", 4_000, 32, "awa-pg 0.6.9, 32 workers"),
    Candidate("celery", "celery", 3_000, 2, "celery 5.7.0 on Redis, prefork, acknowledged early"),
)


@dataclass(frozen=True, slots=True)
class Drained:
    """How fast, and the processor's microseconds a task: of its worker, and of its server."""

    tasks_a_second: float
    own_us: float
    server_us: float

    @property
    def us(self) -> float:
        """All told."""
        return self.own_us + self.server_us


@contextmanager
def _server_of(candidate: Candidate, postgres: Postgres, folder: Path) -> Iterator[Postgres | Redis]:
    if candidate.peer != "celery":
        yield postgres
        return
    with running(Redis(folder / "redis", redis_program(python_of("redis").parents[1]), lasting=False)) as redis:
        assert isinstance(redis, Redis)
        yield redis


def drain(candidate: Candidate, postgres: Postgres, round_no: int) -> Drained:
    """Fill a queue of its own and empty it, start-up not counted."""
    with (
        tempfile.TemporaryDirectory(prefix="drain-") as name,
        _server_of(candidate, postgres, Path(name)) as behind,
    ):
        database, tally = f"{candidate.name}_{round_no}", Path(name) / "tally"
        behind.create_database(database)
        environment = {**os.environ, "BENCH_HOST": behind.host, "BENCH_USER": getattr(behind, "user", "")}
        environment |= {"BENCH_DATABASE": database, "BENCH_TALLY": str(tally), "PYTHONPATH": str(ROOT)}
        command = [str(python_of(candidate.peer)), "-m", candidate.module, candidate.peer]
        fill = [*command, "fill", str(candidate.tasks)]
        subprocess.run(fill, env=environment, cwd=ROOT, check=True, capture_output=True, timeout=120)
        worker = subprocess.Popen(
            [*command, "work", str(candidate.number)], env=environment, cwd=ROOT, stdout=-3, stderr=-3
        )
        try:
            return _timed(candidate, worker.pid, behind.pid, tally)
        finally:
            signal_tree(worker.pid, signal.SIGKILL)
            worker.wait()


def _timed(candidate: Candidate, worker: int, behind: int, tally: Path) -> Drained:
    first = _reached(tally, int(candidate.tasks * WARM_SHARE) + 1, READY_SECONDS)
    if not first:
        raise RuntimeError("it began nothing")
    started, own, servers = time.monotonic(), _cpu(worker), _cpu(behind)
    done = _reached(tally, int(candidate.tasks * (1 - WARM_SHARE)), MOST_SECONDS) - first
    seconds = time.monotonic() - started
    own_us, server_us = (
        (after - before) / max(done, 1) * 1e6 for after, before in ((_cpu(worker), own), (_cpu(behind), servers))
    )
    return Drained(done / seconds, own_us, server_us)


def _reached(tally: Path, wanted: int, seconds: float) -> int:
    """How many there are once there are so many, or the time is up."""
    give_up = time.monotonic() + seconds
    while True:
        found = tally.stat().st_size if tally.exists() else 0
        if found >= wanted or time.monotonic() > give_up:
            return found
        time.sleep(0.002)


def _cpu(pid: int) -> float:
    return own_seconds(pid) + children_seconds(pid)


def drains(postgres: Postgres, candidates: Sequence[Candidate], rounds: int) -> Table:
    """All of them in turn, so many times."""
    found: dict[str, list[Drained]] = {}
    failed: dict[str, str] = {}
    for round_no in range(rounds):
        for each in candidates:
            if each.name in failed:
                continue
            try:
                found.setdefault(each.name, []).append(drain(each, postgres, round_no))
            except (subprocess.SubprocessError, RuntimeError, OSError) as error:
                failed[each.name] = f"not measured: {type(error).__name__}"
    complete = {name: all_of for name, all_of in found.items() if name not in failed}
    figures = [*_ratios(complete), *_costs(candidates, complete)]
    figures += [Figure(each.said, 0, "", note=failed[each.name]) for each in candidates if each.name in failed]
    return Table("A task that does nothing", figures)


def _ratios(found: Mapping[str, Sequence[Drained]]) -> Iterator[Figure]:
    for name, other, least in (
        (OWN, SQL, 0.5), (SINGLE, SQL_SINGLE, 0.8), (OWN, "pgqueuer", 2), (OWN, "procrastinate", 15),
        (OWN, "awa", None), (OWN, "celery", None), (OWN, ONE, None), (SINGLE, "pgqueuer", None),
    ):  # fmt: skip
        if name in found and other in found:
            pairs = list(zip(found[name], found[other], strict=True))
            faster = statistics.median(one.tasks_a_second / two.tasks_a_second for one, two in pairs)
            cheaper = statistics.median(two.us / one.us for one, two in pairs)
            yield Figure(f"{name} to {other}, tasks a second", faster, "times", least=least)
            yield Figure(f"{name} to {other}, tasks a CPU second", cheaper, "times")


def _costs(candidates: Sequence[Candidate], found: Mapping[str, Sequence[Drained]]) -> Iterator[Figure]:
    for each in candidates:
        rounds = found.get(each.name, ())
        if rounds:
            us, own, servers, speed = (
                statistics.median(getattr(one, name) for one in rounds)
                for name in ("us", "own_us", "server_us", "tasks_a_second")
            )
            note = f"{own:,.0f} of its own, {servers:,.0f} of the server; {speed:,.0f} tasks a second"
            yield Figure(f"{each.name}: {each.said}", us, "CPU us a task", 150 if each.name == OWN else None, note=note)


def waking(postgres: Postgres, rounds: int) -> Table:
    """Intake by many producers, each telling after its commit that there is work, or not."""
    with installed(postgres, "waking") as engine, engine_on(postgres, "waking", PRODUCERS) as many:
        bench = Growing(engine)
        free = iter(range(1, 10**9))
        ratios, speeds = [], []
        for _ in range(rounds):
            bench.fill(40_000)
            silent, told = (_produced(Bench(many), free, is_told) for is_told in (False, True))
            ratios.append(told / silent)
            speeds.append(silent)
        ratio, speed = statistics.median(ratios), statistics.median(speeds)
    return Table(
        f"Intake by {PRODUCERS} producers",
        [
            Figure("with wake-up to without", ratio, "times", least=0.5),
            Figure("without wake-up", speed, "tasks a second", note="one process, a thread a producer"),
        ],
    )


def _produced(bench: Bench, free: Iterator[int], is_told: bool) -> float:
    until, counts = time.monotonic() + PRODUCING_SECONDS, [0] * PRODUCERS

    def produce(number: int) -> None:
        notifier = Notifier(bench.engine)
        while time.monotonic() < until:
            with bench.engine.begin() as connection:
                bench.queue.enqueue(connection, NewTask(next(free), "auto", 2, 600, 3600))
            if is_told:
                notifier.notify()
            counts[number] += 1

    threads = [threading.Thread(target=produce, args=(number,)) for number in range(PRODUCERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / PRODUCING_SECONDS


def main() -> None:
    """Measure, print, write."""
    names = [each.name for each in CANDIDATES]
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="two rounds instead of five")
    options.add_argument("--peers", default=",".join(names), help=f"of {','.join(names)} (default: all)")
    add_json(options)
    chosen = options.parse_args()
    wanted = [each for each in CANDIDATES if each.name in chosen.peers.split(",")]
    rounds = 2 if chosen.quick else 5
    with server() as postgres:
        tell([drains(postgres, wanted, rounds), waking(postgres, rounds)], chosen.json)


if __name__ == "__main__":
    main()

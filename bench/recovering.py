"""How soon a task is back in line: `python -m bench.recovering [--quick] [--repeats N] [--json FILE]`

Real workers at default settings, on a server of this run alone: a child is killed, a whole worker is killed, one is
frozen as if its machine were gone, sessions are cut under workers that live. Times count from the signal to the moment
at which the database put the task back. Also what an idle worker asks of the database; and from bench/recovery.json,
what others take.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from bench.figures import Figure, Table, add_json, tell
from bench.pages_touched import engine_on, percentiles, server
from bench.peers.rows import Row
from bench.peers.servers import Postgres
from bench.peers.stage import NotReady, Stage, open_stage, signal_tree
from pipeline.config import LeaseSettings, SweepSettings

RECORDED = Path(__file__).parent / "recovery.json"
WORKERS = 3
FROZEN = 2
CUTS = 5
IDLE_SECONDS = 30.0
COUNTED_SECONDS = 11.0  # a session tells of its transactions within this time
LEASE_SECONDS, INTERVAL_SECONDS = LeaseSettings().min_seconds, SweepSettings().interval_seconds
_BACK = text("""
    SELECT EXTRACT(EPOCH FROM attempts.ended_at)
    FROM attempts
    JOIN tasks USING (task_id)
    JOIN documents USING (document_id)
    WHERE documents.name = :name AND attempts.attempt_no = 1 AND attempts.outcome IN ('crashed', 'expired')
""")
_TAKEN = text("SELECT count(*) FROM attempts WHERE outcome <> 'succeeded'")
_CUT = text("""
    SELECT pg_terminate_backend(pid)
    FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'doclease listener'
""")
_COMMITS = text("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = :name")


class Trial:
    """Workers on a database of their own, and what their database says."""

    def __init__(self, stage: Stage, engine: Engine) -> None:
        self.stage = stage
        self._engine = engine
        self._count = 0

    def begin(self, count: int = 1) -> list[str]:
        """Tasks that are in work and wait."""
        tasks = [f"t{self._count + number}" for number in range(1, count + 1)]
        self._count += count
        self.stage.enqueue("gate", *tasks)
        self.stage.begun(*tasks)
        return tasks

    def end(self, *tasks: str) -> None:
        """Let them end, and wait for it."""
        for task in tasks:
            self.stage.open_gate(task, 1, 2, 3)
        if not self.stage.settled(tasks, self.stage.row.patience):
            raise NotReady(f"{', '.join(tasks)} did not end")

    def back(self, task: str, at: float) -> float:
        """Seconds from a moment in seconds since 1970 until the database had the task back in line."""

        def ended_at() -> Any:
            with self._engine.connect() as connection:
                return connection.execute(_BACK, {"name": f"{task}.order"}).scalar()

        if not self.stage.wait(ended_at, self.stage.row.patience):
            raise NotReady(f"{task} was not taken back")
        return float(ended_at()) - at

    def ask(self, question: Any) -> Any:
        """What the database answers."""
        with self._engine.connect() as connection:
            found = connection.execute(question).scalar()
            connection.commit()
            return found


def of_children(trial: Trial, repeats: int) -> list[float]:
    """kill -9 of the child that reads a document."""
    trial.stage.start_workers(1, 1)
    found = []
    for _ in range(repeats):
        (task,) = trial.begin()
        at = time.time()
        os.kill(trial.stage.evidence.begins(task)[-1].pid, signal.SIGKILL)
        found.append(trial.back(task, at))
        trial.end(task)
    return found


def of_workers(trial: Trial, repeats: int) -> list[float]:
    """kill -9 of a worker and all below it, which reaches its database directly; two others are there."""
    workers = trial.stage.start_workers(WORKERS, 1)
    found = []
    for _ in range(repeats):
        (task,) = trial.begin()
        victim = trial.stage.holder(task, workers)
        if victim is None:
            raise NotReady(f"{task} lost its process before anything was done to it")
        at = time.time()
        signal_tree(victim.pid, signal.SIGKILL)
        victim.wait()
        found.append(trial.back(task, at))
        workers = [*(worker for worker in workers if worker is not victim), trial.stage.start_worker(1)]
        trial.end(task)
    return found


def of_machines(trial: Trial, repeats: int) -> list[float]:
    """SIGSTOP of workers and all below them: as if a machine were gone, no connection of theirs is closed."""
    found: list[float] = []
    while len(found) < repeats:
        workers = trial.stage.start_workers(FROZEN + 1, 1)
        tasks = trial.begin(FROZEN)
        at = time.time()
        frozen = [trial.stage.holder(task, workers) for task in tasks]
        for worker in frozen:
            assert worker is not None
            signal_tree(worker.pid, signal.SIGSTOP)
        found += [trial.back(task, at) for task in tasks]
        for task in tasks:
            trial.stage.open_gate(task, 1, 2, 3)
        for worker in workers:
            signal_tree(worker.pid, signal.SIGKILL)
    return found


def of_cut_sessions(trial: Trial, repeats: int) -> int:
    """Sessions that stand for workers are cut while those hold tasks; how many tasks were taken from them."""
    trial.stage.start_workers(WORKERS, 1)
    for done in range(0, repeats, CUTS):
        tasks = trial.begin(WORKERS)  # they wait without a sign of life, and for less than their leases
        for _ in range(min(CUTS, repeats - done)):
            trial.ask(_CUT)
            trial.stage.wait(lambda: False, 1.5)
        trial.end(*tasks)
    return int(trial.ask(_TAKEN))


def of_idle(trial: Trial, name: str) -> float:
    """Transactions a second of one idle worker with two slots, one for each statement that it sends."""
    trial.stage.start_workers(1, 2)
    trial.stage.wait(lambda: False, COUNTED_SECONDS)
    counted = _COMMITS.bindparams(name=name)
    before, started = int(trial.ask(counted)), time.monotonic()
    trial.stage.wait(lambda: False, IDLE_SECONDS)
    return (int(trial.ask(counted)) - before - 1) / (time.monotonic() - started)


@contextmanager
def opened(postgres: Postgres, name: str) -> Iterator[Trial]:
    """doclease as it comes, on a database of its own."""
    row = Row("doclease", "doclease", "defaults", "", {}, patience=120)
    with tempfile.TemporaryDirectory(prefix="recovering-") as folder:
        Path(folder).chmod(0o755)
        with (
            open_stage(row, Path(folder) / name, postgres, Path(sys.executable), name) as stage,
            engine_on(postgres, name) as engine,
        ):
            yield Trial(stage, engine)


def measured(repeats: int) -> Iterator[Table]:
    """Every table. What waits most of the time waits beside the others."""

    def run(name: str, act: Callable[[Trial], Any]) -> Any:
        with opened(postgres, name) as trial:
            return act(trial)

    with server() as postgres, ThreadPoolExecutor(2) as pool:
        _leave_tables_alone(postgres)
        waiting = pool.submit(run, "machines", lambda trial: of_machines(trial, max(FROZEN, repeats // 5)))
        idle = run("idle", lambda trial: of_idle(trial, "idle"))
        children = run("children", lambda trial: of_children(trial, repeats))
        workers = run("workers", lambda trial: of_workers(trial, repeats))
        cut = run("cut", lambda trial: of_cut_sessions(trial, repeats))
        machines = waiting.result()
    yield Table(
        "Back in line after the signal, at default settings",
        [
            *_percentiles("kill -9 of a child", children, 0.25),
            *_percentiles("kill -9 of a worker", workers, 3),
            *_percentiles("a machine is gone (SIGSTOP)", machines, LEASE_SECONDS + 2 * INTERVAL_SECONDS),
            Figure(f"tasks lost by {WORKERS} workers whose sessions were cut {repeats} times", cut, "tasks", most=0),
        ],
    )
    yield Table("Idle", [Figure("an idle worker with two slots", idle, "transactions/s", most=1)])
    yield Table("Others at their defaults: begun again after kill -9 of a worker", list(_others()))


def _leave_tables_alone(postgres: Postgres) -> None:
    """The transactions of autovacuum would be counted with those of a worker."""
    with engine_on(postgres, "postgres") as engine, engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        for statement in ("ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()"):
            connection.execute(text(statement))


def _percentiles(name: str, found: Sequence[float], most: float) -> Iterator[Figure]:
    p50, p99 = percentiles(list(found))
    yield Figure(f"{name}, p50", p50, "s")
    yield Figure(f"{name}, p99", p99, "s", most=most, note=f"of {len(found)}")


def _others() -> Iterator[Figure]:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    defaults: Mapping[str, Any] = {
        row["name"]: row for row in recorded["rows"] if not row["settings"] and row["peer"] != "doclease"
    }
    for name, row in defaults.items():
        cells = [cell["measures"] for cell in recorded["cells"] if (cell["row"], cell["scenario"]) == (name, "kill")]
        took = [cell["begun_again"] for cell in cells]
        known = [each for each in took if each is not None]
        value = max(known) if len(known) == len(took) else float(row["patience"])
        yield Figure(name, value, "s", note=f"recorded {recorded['date']}" if known else "not within that time")


def main() -> None:
    """Measure, print, write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="6 repeats instead of 20")
    options.add_argument("--repeats", type=int, help="how often each is done")
    add_json(options)
    chosen = options.parse_args()
    tell(list(measured(chosen.repeats or (6 if chosen.quick else 20))), chosen.json)


if __name__ == "__main__":
    main()

"""One cell of the comparison: a queue with its server, workers that can be hurt, and the evidence they leave."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.peers.adapter import RUNNING
from bench.peers.body import Order, now
from bench.peers.evidence import Evidence
from bench.peers.rows import Row
from bench.peers.servers import Server
from bench.processes import children

ROOT = Path(__file__).parents[2]
LOOK_SECONDS = 0.1
READY_SECONDS = 120.0
PROBE_SECONDS = 1.0


class NotReady(Exception):
    """A worker did not begin, so that there was nothing to hurt."""


class Stage:
    """What a scenario works with. Leaving it kills what was started."""

    def __init__(self, row: Row, folder: Path, server: Server, python: Path, database: str) -> None:
        self.row = row
        self.server = server
        self._folder = folder
        self._command: list[str | Path] = [python, "-m", f"bench.peers.{row.peer}_adapter"]
        self._environment = _environment() | {
            "BENCH_HOST": server.host,
            "BENCH_DATABASE": database,
            "BENCH_USER": server.user,
            "BENCH_FOLDER": str(folder),
            "BENCH_SETTINGS": json.dumps(row.settings),
        }
        self._workers: list[subprocess.Popen[bytes]] = []
        self._control = self._start(["control"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    @property
    def evidence(self) -> Evidence:
        """What happened until now."""
        return Evidence.of(self._folder)

    def ask(self, command: str, *arguments: object) -> Any:
        """Have the adapter do something. Raises RuntimeError with what it says when that fails."""
        assert self._control.stdin is not None
        assert self._control.stdout is not None
        self._control.stdin.write(json.dumps({"command": command, "arguments": arguments}).encode() + b"\n")
        self._control.stdin.flush()
        told = self._control.stdout.readline()
        answer = json.loads(told) if told else {"error": f"the adapter ended; see {self._folder}/log"}
        if "error" in answer:
            raise RuntimeError(f"{self.row.name}, {command}: {answer['error']}")
        return answer["answer"]

    def enqueue(self, act: str, *tasks: str, steps: int = 0) -> None:
        """Put tasks in line."""
        self.ask("enqueue", [Order(task, act, str(self._folder), steps).to_json() for task in tasks])

    def state(self, task: str) -> str:
        """Where a task stands in the queue's eyes; gone when it has left the queue, which is an end for some."""
        return str(self.ask("states").get(task, "gone"))

    def states(self, tasks: Sequence[str]) -> dict[str, str]:
        """The same of several."""
        found = self.ask("states")
        return {task: str(found.get(task, "gone")) for task in tasks}

    def open_gate(self, task: str, *numbers: int) -> None:
        """Let executions of a task go on."""
        for number in numbers:
            Order(task, "gate", str(self._folder)).gate(number).touch()

    def start_worker(self, slots: int) -> subprocess.Popen[bytes]:
        """Start a worker process."""
        worker = self._start(["work", str(slots)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self._workers.append(worker)
        return worker

    def start_workers(self, count: int, slots: int) -> list[subprocess.Popen[bytes]]:
        """Start workers; back when each has shown that it works, by running a task. Raises NotReady."""
        workers = [self.start_worker(slots) for _ in range(count)]
        give_up = time.monotonic() + READY_SECONDS
        shown: set[int] = set()
        for number in itertools.count(1):
            probe = f"probe{number}"
            self.enqueue("short", probe)
            self.wait(lambda: self.evidence.ends(probe), PROBE_SECONDS)  # noqa: B023 - called before the next
            holder = self.holder(probe, workers) if self.evidence.begins(probe) else None
            shown |= {holder.pid} if holder else set()
            if len(shown) == count:
                return workers
            if time.monotonic() > give_up:
                raise NotReady(f"{self.row.name}: not every worker begins; see {self._folder}/log")
        raise AssertionError

    def holder(self, task: str, workers: Sequence[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes] | None:
        """The worker that has a task in hand, by its last execution; None when that one's process is gone already."""
        pid = self.evidence.begins(task)[-1].pid
        return next((worker for worker in workers if pid in tree(worker.pid)), None)

    def begun(self, *tasks: str) -> None:
        """Wait until each task was begun. Raises NotReady."""
        if not self.wait(lambda: all(self.evidence.begins(task) for task in tasks), READY_SECONDS):
            raise NotReady(f"{self.row.name}: no worker began; see {self._folder}/log")

    def wait(self, condition: Callable[[], object], seconds: float) -> bool:
        """Look again and again, at most so long; returns whether it came about."""
        give_up = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > give_up:
                return False
            time.sleep(LOOK_SECONDS)
        return True

    def settled(self, tasks: Sequence[str], seconds: float) -> bool:
        """Wait until each task took effect, and as long again until the queue has none of them in work any more.

        What took effect and is still in work is done once more, sooner or later. Returns whether all came about.
        """
        if not self.wait(lambda: all(self.evidence.ends(task) for task in tasks), seconds):
            return False
        return self.wait(lambda: RUNNING not in self.states(tasks).values(), seconds)

    def close(self) -> None:
        """Kill what was started."""
        for process in (*self._workers, self._control):
            signal_tree(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in (self._control.stdin, self._control.stdout):
            assert pipe is not None
            pipe.close()

    def _start(self, arguments: list[str], *, stdin: int, stdout: int) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [*self._command, *arguments],
                cwd=ROOT,
                env=self._environment,
                stdin=stdin,
                stdout=log if stdout == subprocess.DEVNULL else stdout,
                stderr=log,
                start_new_session=True,
            )


@contextmanager
def open_stage(row: Row, folder: Path, server: Server, python: Path, database: str) -> Iterator[Stage]:
    """An empty queue on a database of its own."""
    folder.mkdir()
    server.create_database(database)
    stage = Stage(row, folder, server, python, database)
    try:
        stage.ask("prepare")
        yield stage
    finally:
        stage.close()


def tree(pid: int) -> list[int]:
    """A process and all below it, parents first."""
    return [pid, *(each for child in children(pid) for each in tree(child))]


def signal_tree(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process and to all below it: what happens to a host happens to all of them."""
    for each in tree(pid):
        try:
            os.kill(each, number)
        except ProcessLookupError:
            continue  # it is dead already; what it left is not


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet waited for does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def kill(worker: subprocess.Popen[bytes]) -> float:
    """kill -9 of a worker and its children; returns when."""
    at = now()
    signal_tree(worker.pid, signal.SIGKILL)
    worker.wait()
    return at


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DOCLEASE_", "PG"))}
    return kept | {"PYTHONPATH": str(ROOT)}

"""A small doclease in a folder of its own, for tests: documents in, workers as threads or as processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import URL, Engine, Row, text

from pipeline.app import App
from pipeline.config_reading import settings_from
from pipeline.intake.recipe import Intake, Source
from pipeline.worker.slot import Until
from tests import pooling

CHILD = "tests.worker.saboteur_child"
WORKER = "tests.worker.saboteur_worker"
ROOT = Path(__file__).parents[2]
GIVE_UP_SECONDS = 90.0
QUICK: Mapping[str, Mapping[str, Any]] = {
    "lease": {
        "base_seconds": 5,
        "per_page_seconds": 0.1,
        "min_seconds": 1,
        "step_pages": 5,
        "checkpoint_seconds": 1,
        "slack": 100,
        "learn": False,
    },
    "sweep": {"interval_seconds": 0.5},
    "queue": {"poll_seconds": 0.2, "backoff_seconds": 0.05},
    "worker": {"claim_ahead_seconds": 0, "max_memory_megabytes": 512, "page_seconds": 60, "open_seconds": 60},
}


def until(condition: Callable[[], object], what: str = "it") -> None:
    """Look again and again until it is so; fails when it never gets so."""
    give_up = time.monotonic() + GIVE_UP_SECONDS
    while not condition():
        assert time.monotonic() < give_up, f"{what} never came about"
        time.sleep(0.02)


def pages(count: int, **orders: str) -> list[str]:
    """Pages that say their number; `p3="kill"` gives page 3 an order."""
    return [
        f"Page {number} of {count}." + (f"\n!{order}" if (order := orders.get(f"p{number}")) else "")
        for number in range(1, count + 1)
    ]


class Shop:
    """Documents, tasks and workers of one home folder. `engine` looks at the rows from outside."""

    def __init__(self, home: Path, url: URL | None, engine: Engine, config: Mapping[str, Mapping[str, Any]]) -> None:
        self.home = home
        self.engine = engine
        merged = {name: {**QUICK.get(name, {}), **config.get(name, {})} for name in {*QUICK, *config}}
        document: dict[str, Any] = {**merged}
        if url is not None:
            document["database_url"] = url.render_as_string(hide_password=False)
            document["database"] = {"pooler": pooling.settings_for(url).pooler, **config.get("database", {})}
        (home / "config.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        self.settings = settings_from(document, home=home)
        self.app = App(settings=self.settings, url=url or engine.url, name="tests", child_module=CHILD)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._intakes = ExitStack()
        self._intake: Intake | None = None

    def take(self, sheets: Sequence[str], *, opening: str = "", handler: str = "auto", priority: int = 0) -> int:
        """Take a saboteur document in; returns its task. Documents of the same text differ by their opening."""
        token = uuid.uuid4()
        path = self.home / f"{token}.sab"
        path.write_text("\f".join([f"SABOTEUR\n{opening or f'complain {token}'}", *sheets]), encoding="utf-8")
        return self.take_file(path, handler=handler, priority=priority)

    def take_file(self, path: Path, *, handler: str = "auto", priority: int = 0) -> int:
        """Take a file in; returns its task."""
        if self._intake is None:
            self._intake = self._intakes.enter_context(self.app.intake())
        arrived = self._intake.take(Source.at(path), handler=handler, priority=priority, token=uuid.uuid4())
        return arrived.task_id

    def work(self, slots: int = 1, until: Until = Until.EMPTY) -> None:
        """Be the worker, in this process, until nothing is left."""
        self.app.supervisor(slots, until=until).run()

    def start_worker(
        self,
        slots: int = 1,
        until: Until = Until.STOPPED,
        *,
        module: str = WORKER,
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a worker process; it is killed at the latest when the test ends.

        `prefix` is a command that becomes the worker, `environment` is added to this process's own.
        """
        command = [sys.executable, "-m", module, str(self.home), str(slots), until.value]
        with (self.home / "worker.log").open("ab") as log:
            process = subprocess.Popen(
                [*prefix, *command], cwd=ROOT, stdout=log, stderr=log, env={**os.environ, **(environment or {})}
            )
        self._processes.append(process)
        return process

    def gate(self, name: str = "gate") -> Path:
        """A file that a page waits for."""
        return self.home / name

    def reached(self, gate: Path) -> None:
        """Wait until a page waits at the gate."""
        until(Path(f"{gate}.reached").exists, f"page at {gate.name}")

    def task(self, task_id: int) -> Row[Any]:
        """The row of a task."""
        return self.rows("SELECT * FROM tasks WHERE task_id = :id", id=task_id)[0]

    def attempts(self, task_id: int) -> list[Row[Any]]:
        """Its attempts, oldest first."""
        return self.rows("SELECT * FROM attempts WHERE task_id = :id ORDER BY attempt_no", id=task_id)

    def outcomes(self, task_id: int) -> list[tuple[str | None, str | None]]:
        """How its attempts ended, with reasons."""
        return [(attempt.outcome, attempt.reason) for attempt in self.attempts(task_id)]

    def pages(self, task_id: int) -> list[Row[Any]]:
        """Its pages in order."""
        return self.rows("SELECT * FROM pages WHERE task_id = :id ORDER BY page_no", id=task_id)

    def statuses(self) -> dict[str, int]:
        """How many tasks stand where."""
        return {row.status: row.tasks for row in self.rows("SELECT status, tasks FROM queue_status WHERE tasks > 0")}

    def rows(self, query: str, **values: object) -> list[Row[Any]]:
        """What the database answers."""
        with self.engine.connect() as connection:
            return list(connection.execute(text(query), values))

    def ended(self, task_id: int) -> None:
        """Wait until the task has ended."""
        until(lambda: self.task(task_id).finished_at is not None, f"the end of task {task_id}")

    def close(self) -> None:
        """Kill what was started."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        self._intakes.close()
        self.app.close()


@contextmanager
def open_shop(home: Path, url: URL | None, engine: Engine, **config: Mapping[str, Any]) -> Iterator[Shop]:
    """A shop on an empty database; without `url` its workers use the embedded server of the home folder."""
    shop = Shop(home, url, engine, config)
    try:
        yield shop
    finally:
        shop.close()


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children_of(pid: int) -> list[int]:
    """The parser children of a worker process."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    return [int(each) for each in found]


def kill_hard(process: subprocess.Popen[bytes]) -> None:
    """kill -9, and wait for the end."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

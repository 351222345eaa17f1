"""A project folder for a trial, and the doclease processes that run on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pipeline.config import CONFIG_NAME, Settings
from pipeline.config_reading import load
from pipeline.errors import DocleaseError

STOP_SECONDS = 30


@dataclass(slots=True)
class Member:
    """One process of a trial, known by its role; started again under the same role when it was killed.

    `environment` is its alone, `started_at` in seconds since 1970, `signalled` whether we have told it to end.
    """

    role: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    signalled: bool = False

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self.process is None or self.process.poll() is not None else self.process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended, None while it runs or before it ever did; below 0 the signal that ended it."""
        return None if self.process is None else self.process.poll()

    def end(self, number: signal.Signals) -> None:
        """Send it a signal that ends it, if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.signalled = True
            self.process.send_signal(number)


@dataclass(slots=True)
class Trial:
    """A folder with config.yaml and folders of its own. Leaving the context ends every process that was started."""

    settings: Settings
    members: list[Member] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def log_path(self) -> Path:
        """What the processes said."""
        return self.settings.home / "processes.log"

    def start(self, role: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Member:
        """Run `doclease ARGUMENTS…` on the folder, with `environment` beside that of the trial."""
        member = Member(role, arguments, dict(environment or {}))
        self.members.append(member)
        self.restart(member)
        return member

    def restart(self, member: Member) -> None:
        """Start a member, again if it had ended."""
        command = [sys.executable, "-m", "pipeline", "-v", "-C", str(self.settings.home), *member.arguments]
        environment = _environment() | self.environment | dict(member.environment)
        member.signalled, member.started_at = False, time.time()
        with self.log_path.open("ab") as log:
            member.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=environment)

    def stop(self) -> int:
        """SIGTERM to all, SIGKILL to who does not end; how many did not."""
        running = [member for member in self.members if member.pid is not None]
        stubborn = 0
        for member in running:
            member.end(signal.SIGTERM)
        for member in running:
            assert member.process is not None
            try:
                member.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                stubborn += 1
                member.process.kill()
                member.process.wait()
        return stubborn


@contextmanager
def trial(folder: Path, changes: Mapping[str, Any]) -> Iterator[Trial]:
    """A trial in `folder`, with `changes` to the default configuration. Raises DocleaseError."""
    if (folder / CONFIG_NAME).exists():
        raise DocleaseError(f"{folder} already is a doclease folder; a trial wants an empty one")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG_NAME).write_text(yaml.safe_dump(dict(changes), sort_keys=False), encoding="utf-8")
    settings = load(folder, environment={})
    for path in (settings.inbox_path, settings.processed_path, settings.failed_path):
        path.mkdir(parents=True, exist_ok=True)
    running = Trial(settings)
    try:
        yield running
    finally:
        running.stop()


def _environment() -> dict[str, str]:
    """Ours, without anything that would point the trial at another database, and with our own import path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DOCLEASE_")}
    return kept | {"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}

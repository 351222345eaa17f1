"""A project folder for a trial, and the doclease processes that run on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
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
    """One process of a trial, known by its role; started again under the same role when it was killed."""

    role: str
    arguments: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self.process is None or self.process.poll() is not None else self.process.pid


@dataclass(slots=True)
class Trial:
    """A folder with config.yaml and folders of its own. Leaving the context ends every process that was started."""

    settings: Settings
    members: list[Member] = field(default_factory=list)

    @property
    def log_path(self) -> Path:
        """What the processes said."""
        return self.settings.home / "processes.log"

    def start(self, role: str, *arguments: str) -> Member:
        """Run `doclease ARGUMENTS…` on the folder."""
        member = Member(role, arguments)
        self.members.append(member)
        self.restart(member)
        return member

    def restart(self, member: Member) -> None:
        """Start a member, again if it had ended."""
        command = [sys.executable, "-m", "pipeline", "-v", "-C", str(self.settings.home), *member.arguments]
        with self.log_path.open("ab") as log:
            member.process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env=_environment()
            )

    def kill(self, member: Member) -> int | None:
        """SIGKILL: no last word. Returns the process id it had."""
        pid = member.pid
        if pid is not None and member.process is not None:
            member.process.kill()
            member.process.wait()
        return pid

    def stop(self) -> None:
        """SIGTERM to all, SIGKILL to who does not end."""
        running = [member.process for member in self.members if member.process is not None and member.pid is not None]
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


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

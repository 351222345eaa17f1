"""Memory groups of a test's own: the kernel kills a process of the group when it takes more than the group may.

Both versions of the interface are known; only root may use them. See memory.rst and cgroup-v2.rst of the kernel's
documentation.
"""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path("/sys/fs/cgroup")
VERSION_1 = ROOT / "memory"
LIMITS = ("memory.max", "memory.limit_in_bytes")


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """A group of processes that share a limit."""

    folder: Path

    @property
    def prefix(self) -> Sequence[str]:
        """Makes a command start inside the group."""
        return ("sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh")

    def limit(self, megabytes: int) -> None:
        """From now on the group may hold so much; what it holds already counts."""
        for name in LIMITS:
            if (self.folder / name).exists():
                (self.folder / name).write_text(str(megabytes * 1024 * 1024), encoding="ascii")
        swap = self.folder / "memory.swap.max"
        if swap.exists():
            swap.write_text("0", encoding="ascii")

    def members(self) -> list[int]:
        """The processes in it."""
        return [int(pid) for pid in (self.folder / "cgroup.procs").read_text("ascii").split()]

    def kill_all(self) -> None:
        """Kill everything in it, as an orchestrator that evicts a pod does."""
        while members := self.members():
            for pid in members:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


@contextmanager
def memory_group() -> Iterator[MemoryGroup]:
    """A group without a limit yet; everything in it is killed at the end."""
    parent = VERSION_1 if VERSION_1.is_dir() else ROOT
    folder = parent / f"doclease-test-{secrets.token_hex(3)}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"memory groups need root and a writable {parent}: {error}")
    group = MemoryGroup(folder)
    try:
        if not any((folder / name).exists() for name in LIMITS):
            pytest.skip("the kernel's memory controller is not enabled for groups here")
        yield group
    finally:
        group.kill_all()
        folder.rmdir()


def prefer_as_victim(pid: int) -> None:
    """Make the kernel kill this process first when the group is full; what it started before is spared."""
    Path(f"/proc/{pid}/oom_score_adj").write_text("1000", encoding="ascii")

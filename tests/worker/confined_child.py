"""A process in the sandbox that acts as it is told, and the one that starts it, as a worker starts a parser.

`launch ACT …` starts ACT in a group of its own, says its number, and how it ended. Every answer is a line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pipeline.worker import sandbox
from pipeline.worker.confining import kernel
from tests.worker import attempts, old_kernel

MODULE = "tests.worker.confined_child"
MEMORY_BYTES = 300 * 1024 * 1024
FILE_BYTES = 100_000


def say(**facts: Any) -> None:
    """One line, past whatever a library buffers."""
    os.write(1, json.dumps(facts).encode() + b"\n")


def launch(act: str, *arguments: str) -> None:
    """Start an act with the limits of a careless user, and wait for its end."""
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if act.startswith("old:"):
        old_kernel.pretend()
    command = [sys.executable, "-P", "-m", MODULE, act.removeprefix("old:"), *arguments]
    child = subprocess.Popen(command, process_group=0)
    say(pid=child.pid)
    _, status = os.waitpid(child.pid, 0)
    say(exit=os.waitstatus_to_exitcode(status), dumped=os.WCOREDUMP(status))


def _confine() -> list[str]:
    return sandbox.apply(
        max_memory_bytes=MEMORY_BYTES, max_file_bytes=FILE_BYTES, parent=os.getppid(), scratch=Path.cwd()
    )


def _try_everything(outside: str, *, confined: bool) -> None:
    measures = _confine() if confined else []
    with socket.socket(fileno=os.dup(0)) as channel:
        _, (document,), *_ = socket.recv_fds(channel, 100, 1)
    stage = attempts.Stage(Path(outside), document)
    tried = {**attempts.NEEDED, **attempts.FORBIDDEN}
    outcomes = {name: attempts.outcome(attempt, stage) for name, attempt in tried.items()}
    sets = {name: kernel.status(name) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
    say(measures=measures, outcomes=outcomes, sets=sets, uid=os.getuid(), groups=os.getgroups())


def _fill_memory() -> None:
    _confine()
    held: list[bytearray] = []
    try:
        while len(held) < 2 * MEMORY_BYTES >> 20:
            held.append(bytearray(1 << 20))
    except MemoryError:
        count = len(held)
        held.clear()
        say(outcome="MemoryError", bytes=count << 20)
    else:
        say(outcome="done")


def _write_much() -> None:
    _confine()
    written = attempts.outcome(lambda _: Path("large").write_bytes(bytes(FILE_BYTES + 1)), attempts.Stage(Path(), 0))
    say(outcome=written, bytes=Path("large").stat().st_size)


def _abort() -> None:
    _confine()
    os.abort()


def _wait() -> None:
    say(measures=_confine())
    signal.pause()


def _confine_late() -> None:
    """With a thread that was there before."""
    go, outcomes = threading.Event(), []
    stage = attempts.Stage(Path(), 0)

    def _act() -> None:
        go.wait()
        outcomes.append(attempts.outcome(attempts.NETWORK["open a stream socket"], stage))

    thread = threading.Thread(target=_act)
    thread.start()
    measures = _confine()
    go.set()
    thread.join()
    say(measures=measures, outcome=outcomes[0])


ACTS: Mapping[str, Callable[..., None]] = {
    "launch": launch,
    "try": lambda outside: _try_everything(outside, confined=True),
    "try_free": lambda outside: _try_everything(outside, confined=False),
    "memory": _fill_memory,
    "write": _write_much,
    "abort": _abort,
    "wait": _wait,
    "late": _confine_late,
}

if __name__ == "__main__":
    ACTS[sys.argv[1]](*sys.argv[2:])

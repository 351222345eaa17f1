"""The measures of the sandbox in words, and which of them this host grants: what a health check shows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pipeline.worker import sandbox
from pipeline.worker.scratch import make_scratch

MODULE = "pipeline.worker.measures"
PROBE_MEMORY_BYTES = 512 * 1024 * 1024
PROBE_SECONDS = 60.0

_KERNEL = "Any Linux kernel grants this. Look for a supervisor or a container runtime that forbids it."
_FILTER = "Needs seccomp filters in the kernel, and x86_64 or aarch64. In a container, let its profile allow seccomp()."
_PROC = "Mount /proc in the container."


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: its name as a child reports it, what it prevents, and what to do where it is missing."""

    name: str
    prevents: str
    remedy: str


def measures() -> tuple[Measure, ...]:
    """All of them, in the order in which a child applies them."""
    return (
        Measure("memory", "A document cannot use more memory than max_memory_megabytes.", _KERNEL),
        Measure("file_size", "A document cannot fill the disk with one file.", _KERNEL),
        Measure("open_files", "A parser cannot use up the host's descriptors.", _KERNEL),
        Measure("no_core_dumps", "A crash leaves no copy of the document on the disk.", _KERNEL),
        Measure("cpu_time", "A document cannot use the processor for ever.", _KERNEL),
        Measure("oom_score", "When the host runs out of memory, the parser ends and nothing else does.", _PROC),
        Measure("own_group", "Ending a parser ends all that belongs to it.", _KERNEL),
        Measure(
            "no_network",
            "A parser reaches no other machine.",
            "Allow user namespaces (sysctl user.max_user_namespaces) or seccomp filters.",
        ),
        Measure(
            "unprivileged_user",
            "A parser is not root, so files of others are closed to it.",
            "Run the worker as an ordinary user, or install it where all users can read it (not below /root).",
        ),
        Measure(
            "no_capabilities",
            "A parser has none of root's powers.",
            "Mount /proc, and run the worker as an ordinary user.",
        ),
        Measure("no_new_privileges", "A parser cannot become somebody else by a set-user-ID program.", _KERNEL),
        Measure("dies_with_parent", "No parser goes on when its worker was killed.", _KERNEL),
        Measure(
            "hidden_memory",
            "Other programs of the same user cannot look into a parser or steer it.",
            "Mount /proc without hidepid (systemd: ProtectProc=default): a worker must see what its parser uses.",
        ),
        Measure(
            "own_files_only",
            "A parser reads Python's libraries and the document it was given, and writes its scratch folder only.",
            "Needs Linux 5.13 with Landlock among its security modules (boot parameter lsm=). "
            "In a container, let its seccomp profile allow landlock_create_ruleset.",
        ),
        Measure("no_sockets", "A parser cannot talk to services of this host either.", _FILTER),
        Measure("no_processes", "A parser starts no program and no other process, so none can outlive it.", _FILTER),
        Measure("no_signals", "A parser cannot end, slow down or steer other processes.", _FILTER),
        Measure(
            "no_file_modes",
            "A parser changes no file's mode, owner or times, cuts none short, and makes no links.",
            _FILTER,
        ),
        Measure(
            "few_system_calls", "Rarely used and often broken parts of the kernel are closed to a parser.", _FILTER
        ),
    )


def probe() -> list[str]:
    """Start a process, let it confine itself as a parser does, and return the measures in force in it, by name.

    Empty when no such process comes up. Takes a tenth of a second.
    """
    scratch = make_scratch()
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", MODULE, str(os.getpid()), str(scratch)],
            capture_output=True,
            check=True,
            cwd=scratch,
            env={"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
            process_group=0,
            timeout=PROBE_SECONDS,
        )
        return [str(name) for name in json.loads(done.stdout)]
    except (OSError, subprocess.SubprocessError, ValueError):
        return []
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    in_force = sandbox.apply(max_memory_bytes=PROBE_MEMORY_BYTES, parent=int(sys.argv[1]), scratch=Path(sys.argv[2]))
    os.write(1, json.dumps(in_force).encode())

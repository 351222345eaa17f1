"""What a parser child may not do, applied by the child itself before it touches a document.

Limits that any host allows: address space, core dumps, file size, open files. Where the host allows it also: no new
privileges, no network, first in line for the kernel's out-of-memory killer, and death together with its parent.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_OPEN_FILES = 256
OOM_SCORE = "800"


def apply(*, max_memory_bytes: int, parent: int) -> list[str]:
    """Confine this process for good; returns the names of the measures in force. Single-threaded callers only."""
    measures = ["memory", "file_size", "no_core_dumps"]
    _limit(resource.RLIMIT_AS, max_memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, MAX_FILE_BYTES)
    _limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0:
        measures.append("dies_with_parent")
    if os.getppid() != parent:
        # The parent went away before the request for its death signal was in force.
        os._exit(0)
    if _without_network(library):
        measures.append("no_network")
    if library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        measures.append("no_new_privileges")
    if _first_to_go():
        measures.append("oom_score")
    return measures


def limit_cpu(seconds: float) -> None:
    """Let the kernel end this process (SIGXCPU) once it used so many more processor seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (ceiling, ceiling))


def _without_network(library: ctypes.CDLL) -> bool:
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWUSER | CLONE_NEWNET
    return bool(library.unshare(flags) == 0)


def _first_to_go() -> bool:
    try:
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE, encoding="ascii")
    except OSError:
        return False
    return True

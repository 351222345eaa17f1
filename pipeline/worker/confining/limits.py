"""What a process may use: memory, processor time, sizes of files, descriptors. Any host grants these."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

MAX_OPEN_FILES = 256
# One byte, not none: the kernel gives a dump to a program that collects them, whatever the limit, except for this one.
CORE_BYTES = 1
OOM_SCORE = "800"


def limit_all(*, max_memory_bytes: int, max_file_bytes: int) -> list[str]:
    """Set the limits of this process for good; returns the names of those in force."""
    wanted = {
        "memory": (resource.RLIMIT_AS, max_memory_bytes),
        "file_size": (resource.RLIMIT_FSIZE, max_file_bytes),
        "open_files": (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        "no_core_dumps": (resource.RLIMIT_CORE, CORE_BYTES),
    }
    return [name for name, (kind, value) in wanted.items() if _limit(kind, value)]


def limit_cpu(seconds: float) -> None:
    """Let the kernel end this process (SIGXCPU) once it used so many more processor seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def may_limit_cpu() -> bool:
    """Whether the host lets this process limit its processor time; changes nothing."""
    try:
        resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))
    except (OSError, ValueError):
        return False
    return True


def be_first_to_go() -> bool:
    """Have the kernel end this process before others when memory runs out. Only possible while it is dumpable."""
    try:
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE, encoding="ascii")
    except OSError:
        return False
    return True


def _limit(kind: int, value: int) -> bool:
    """Whether the limit is at most this, for good: also a lower one that was there before counts."""
    hard = resource.getrlimit(kind)[1]
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (ceiling, ceiling))
    soft = resource.getrlimit(kind)[0]
    return soft != resource.RLIM_INFINITY and soft <= value

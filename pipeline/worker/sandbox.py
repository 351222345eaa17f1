"""What a parser child may not do, applied by the child itself before it touches a document.

Rules: each measure is applied as far as the host allows; one that it refuses is left out of the list of those in force
and never stops the child; what is in the list was tried, or the kernel said so. Nothing applied is ever taken back.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pipeline.worker.confining import identity, kernel, landlock, limits, network, seccomp, trials
from pipeline.worker.confining.libraries import library_paths, module_paths
from pipeline.worker.confining.limits import limit_cpu

__all__ = ["MAX_FILE_BYTES", "apply", "limit_cpu"]

MAX_FILE_BYTES = 64 * 1024 * 1024
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
# They hold for the calling thread and those it starts: in a process that had more threads they are not in force.
OF_ONE_THREAD = frozenset({"no_network", "no_capabilities", "own_files_only"})


def apply(
    *,
    max_memory_bytes: int,
    max_file_bytes: int = MAX_FILE_BYTES,
    parent: int,
    scratch: Path,
    readable: Iterable[Path] = (),
) -> list[str]:
    """Confine this process for good; returns the names of the measures in force.

    Call it before anything starts a thread, so before numerical libraries are imported. What is imported later is found
    in the folders of Python and its packages. `max_file_bytes` limits each file that is written, `scratch` is the one
    folder to write in, `readable` are more folders to read, of models for example. Does not return when `parent`, the
    process that started this one, is gone.
    """
    is_alone = _is_alone()
    may_read = [*library_paths(), *readable]
    in_force: list[str] = []
    for step in (
        _limited(max_memory_bytes, max_file_bytes),
        _disarmed(scratch),
        _tied(parent),
        _closed_in(scratch, may_read),
    ):
        with suppress(OSError):  # a host without /proc, for example: the measures in front of it hold
            in_force.extend(name for name in step if is_alone or name not in OF_ONE_THREAD)
    if seccomp.install():  # of all threads
        in_force.extend(trials.refused_calls(scratch))
    return list(dict.fromkeys(in_force))


def _is_alone() -> bool:
    try:
        return len(list(Path("/proc/self/task").iterdir())) == 1
    except OSError:
        return False


def _limited(max_memory_bytes: int, max_file_bytes: int) -> Iterable[str]:
    yield from limits.limit_all(max_memory_bytes=max_memory_bytes, max_file_bytes=max_file_bytes)
    if limits.may_limit_cpu():
        yield "cpu_time"
    if limits.be_first_to_go():
        yield "oom_score"
    if os.getpgid(0) == os.getpid():
        yield "own_group"


def _disarmed(scratch: Path) -> Iterable[str]:
    """The network goes first: to leave it takes rights that are given up next."""
    if network.leave_network():
        yield "no_network"
    identity.bar_capabilities()
    if os.geteuid() == 0:
        identity.leave_root(scratch, module_paths())
    if os.getuid() != 0:
        yield "unprivileged_user"
    if identity.drop_capabilities():
        yield "no_capabilities"
    if identity.refuse_new_privileges():
        yield "no_new_privileges"


def _tied(parent: int) -> Iterable[str]:
    """After every change of rights: each of them makes the kernel forget both."""
    if kernel.prctl(PR_SET_PDEATHSIG, signal.SIGKILL):
        yield "dies_with_parent"
    if os.getppid() != parent:
        # The parent went away before the request for its death signal was in force.
        os._exit(0)
    if not _would_hide_from_parent() and kernel.prctl(PR_SET_DUMPABLE, 0):
        yield "hidden_memory"


def _closed_in(scratch: Path, readable: Iterable[Path]) -> Iterable[str]:
    if landlock.install(readable=readable, writable=[scratch, Path(os.devnull)]) and trials.files_are_closed():
        yield "own_files_only"


def _would_hide_from_parent() -> bool:
    """Whether /proc shows nobody else's processes: then this one's memory and time would be hidden from its parent."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return True
    options = [option for line in mounts for option in line.split()[3].split(",") if line.split()[1] == "/proc"]
    return any(option.startswith("hidepid=") and option != "hidepid=0" for option in options)

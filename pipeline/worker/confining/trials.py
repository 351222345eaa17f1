"""Tries what should be impossible by now, harmlessly, because only the refusal proves that a measure is in force."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from pipeline.worker.confining import kernel


def refused_calls(scratch: Path) -> list[str]:
    """The measures of the filter of system calls that hold. Tries them on this process, `scratch` and the parent."""
    trials: Mapping[str, Callable[[], object]] = {
        "no_network": lambda: socket.socket(socket.AF_INET).close(),
        "no_sockets": lambda: socket.socket(socket.AF_UNIX).close(),
        "no_processes": _fork,
        "no_signals": lambda: os.kill(os.getppid(), 0),
        "no_file_modes": lambda: os.utime(scratch),
        "few_system_calls": _unshare_nothing,
    }
    return [name for name, trial in trials.items() if _is_refused(trial)]


def files_are_closed() -> bool:
    """Whether a folder that everybody may list is closed to this process."""
    return _is_refused(lambda: os.scandir("/").close())


def _is_refused(trial: Callable[[], object]) -> bool:
    try:
        trial()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _unshare_nothing() -> None:
    if not kernel.unshare(0):
        raise PermissionError

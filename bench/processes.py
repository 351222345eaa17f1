"""Processor seconds of processes that run, with those of the processes below them, dead ones too."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _OWN, _ENDED = 1, slice(11, 13), slice(13, 15)  # of /proc/PID/stat, behind the name


def own_seconds(pid: int) -> float:
    """What a process itself used since its start, to a hundredth of a second; 0.0 when it is gone."""
    return _seconds(pid, _OWN)


def children_seconds(pid: int) -> float:
    """What the children of a process used: those that live, and those that ended and were waited for."""
    return _seconds(pid, _ENDED) + sum(map(own_seconds, children(pid)))


def children(pid: int) -> list[int]:
    """The processes that a process started and that live."""
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [number for number in numbers if _fields(number)[_PARENT : _PARENT + 1] == [str(pid)]]


def _seconds(pid: int, which: slice) -> float:
    return sum(map(int, _fields(pid)[which])) / _TICKS


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []

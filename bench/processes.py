"""Processor seconds and memory of processes that run, with those of the processes below them, dead ones too."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS, _PAGE_BYTES = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
# Of /proc/PID/stat, behind the name.
_PARENT, _OWN, _ENDED, _RESIDENT = 1, slice(11, 13), slice(13, 15), slice(21, 22)


def own_seconds(pid: int) -> float:
    """What a process itself used since its start, to a hundredth of a second; 0.0 when it is gone."""
    return _sum(pid, _OWN) / _TICKS


def children_seconds(pid: int, *, but: int | None = None) -> float:
    """What the children of a process used: those that live, and those that ended and were waited for.

    A living child `but` is left out.
    """
    return _sum(pid, _ENDED) / _TICKS + sum(own_seconds(child) for child in children(pid) if child != but)


def children(pid: int) -> list[int]:
    """The processes that a process started and that live."""
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [number for number in numbers if _fields(number)[_PARENT : _PARENT + 1] == [str(pid)]]


def resident_bytes(pid: int) -> int:
    """The memory that a process holds now, what it shares with others included; 0 when it is gone."""
    return _sum(pid, _RESIDENT) * _PAGE_BYTES


def _sum(pid: int, which: slice) -> int:
    return sum(map(int, _fields(pid)[which]))


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []

"""How a reader of documents is asked: names of files on standard input, answers on standard output, JSON lines.

Standard library only: it runs in the reader's own virtual environment. Costs are told by the process itself, with those
of the programs that it started and waited for.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

KILOBYTE = 1024


@dataclass(frozen=True, slots=True)
class Found:
    """What a reader made of a file. `values` are fields with a name: None where a reader knows of none."""

    text: str
    values: int | None = None


Reader = Callable[[str], Found]


def serve(reader: Reader) -> None:
    """Answer until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not end up between the answers
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        json.dump(_answer(reader, line.rstrip("\n")), answers)
        answers.write("\n")
        answers.flush()


def _answer(reader: Reader, path: str) -> dict[str, Any]:
    began, started = _cpu_seconds(), time.monotonic()
    try:
        found = reader(path)
    except Exception as error:  # noqa: BLE001 - told to the other side, which decides
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    spent = {"cpu_seconds": _cpu_seconds() - began, "seconds": time.monotonic() - started}
    return {**asdict(found), **spent, "peak_rss_bytes": _peak_rss_bytes()}


def _cpu_seconds() -> float:
    """User and system, of all threads and of all programs that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _peak_rss_bytes() -> int:
    """The most memory that this process, or one program that it started, held."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) * KILOBYTE

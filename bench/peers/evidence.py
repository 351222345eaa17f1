"""What the file of evidence says: which task was begun when, by whom, and which effects took place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.peers.body import LOG


@dataclass(frozen=True, slots=True)
class Entry:
    """A line. `event`: begin | end; `at`: seconds of the machine's clock since its start."""

    task: str
    event: str
    pid: int
    at: float
    number: int


class Evidence:
    """What was noted until now."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = list(entries)

    @classmethod
    def of(cls, folder: Path) -> Evidence:
        """Read the file; empty when nothing was begun."""
        path = folder / LOG
        lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
        return cls(Entry(**json.loads(line)) for line in lines)

    def begins(self, task: str) -> Sequence[Entry]:
        """The executions of a task, in order."""
        return [entry for entry in self._entries if (entry.task, entry.event) == (task, "begin")]

    def ends(self, task: str) -> Sequence[Entry]:
        """The effects of a task, in order."""
        return [entry for entry in self._entries if (entry.task, entry.event) == (task, "end")]

    def begun(self, task: str, after: float) -> float | None:
        """Seconds from `after` to the next execution of the task, None when there is none."""
        return _first(self.begins(task), after)

    def ended(self, task: str, after: float) -> float | None:
        """Seconds from `after` to the next effect of the task, None when there is none."""
        return _first(self.ends(task), after)


def _first(entries: Sequence[Entry], after: float) -> float | None:
    return next((round(entry.at - after, 2) for entry in entries if entry.at > after), None)

"""Many runs, each from its seed, until one fails; and the shortest part of that one which still does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine

from pipeline.queue.store import Queue
from tests.search.search import Search
from tests.search.steps import Step, draw
from tests.search.world import World

STEPS = 40


@dataclass(frozen=True, slots=True)
class Finding:
    """A run that failed: how many came before it, its seed, what was done until then, and how it failed."""

    runs_before: int
    seed: str
    steps: Sequence[Step]
    error: Exception

    def __str__(self) -> str:
        lines = "\n".join(f"    {step}" for step in self.steps)
        return (
            f"seed {self.seed}, after {self.runs_before} good runs:\n{lines}\n{type(self.error).__name__}: {self.error}"
        )


@dataclass(frozen=True, slots=True)
class Player:
    """Plays runs in one world, on queues of one kind."""

    world: World
    build: Callable[[Engine], Queue]

    def search(self, *, runs: int, seed: str) -> Finding | None:
        """Play so many runs; returns the first that fails."""
        for number in range(runs):
            name = f"{seed}-{number}"
            finding = self.play(draw(name, STEPS), seed=name, runs_before=number)
            if finding:
                return finding
        return None

    def play(self, steps: Sequence[Step], *, seed: str = "", runs_before: int = 0) -> Finding | None:
        """Play one run from an empty queue to its end without faults; returns how it failed."""
        search = Search(self.world, self.build)
        taken = 0
        try:
            for step in steps:
                taken += 1
                search.take(step)
            search.settle()
        except Exception as error:  # noqa: BLE001 - whatever it is, it should not have been
            return Finding(runs_before, seed, steps[:taken], error)
        finally:
            search.close()
        return None

    def shortest(self, finding: Finding) -> Finding:
        """Leave out steps, many at a time and then few, as long as the rest still fails."""
        size = len(finding.steps) // 2
        while size:
            start = 1  # the beginning stays
            while start < len(finding.steps):
                rest = [*finding.steps[:start], *finding.steps[start + size :]]
                shorter = self.play(rest, seed=finding.seed, runs_before=finding.runs_before)
                finding, start = (shorter, start) if shorter else (finding, start + size)
            size //= 2
        return finding

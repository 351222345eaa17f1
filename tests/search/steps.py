"""What may come next, and how often: the steps that a run is drawn from.

Drawn here and not by hypothesis: it repeats a run with small changes more often than it makes a new one, and both which
runs those are and how many differ from version to version. A run of this file is its seed and nothing else.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from pipeline.queue.settle import Fault
from tests.search.sessions import How

WORKERS = ("worker-1", "worker-2")


class Whose(enum.Enum):
    """Whose claim a worker writes with."""

    HOLDER = "the holder's"
    STALE = "of a task that another one holds"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Step:
    """A method of the search and its arguments."""

    name: str
    given: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in self.given.items())})"


def draw(seed: str, length: int) -> list[Step]:
    """The run of a seed: a beginning, and so many steps after it."""
    random = Random(seed)  # noqa: S311 - a run must be repeatable
    grammar = _grammar()
    weights = [weight for weight, _, _ in grammar]
    drawn = [Step("begin", _drawn(random, {"count": (1, 1, 2, 2, 3, 12), **_leases()}))]
    for _ in range(length):
        ((_, name, choices),) = random.choices(grammar, weights)
        drawn.append(Step(name, _drawn(random, choices)))
    return drawn


def _drawn(random: Random, choices: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    return {name: random.choice(values) for name, values in choices.items()}


def _leases() -> dict[str, Sequence[Any]]:
    return {"lease": (10.0, 20.0), "deadline": (20.0, 30.0, 600.0)}


def _grammar() -> list[tuple[int, str, Mapping[str, Sequence[Any]]]]:
    """Weights, names and what each argument may be."""
    at_once_or_held = {"how": (How.AT_ONCE, How.AT_ONCE, How.HELD)}
    any_way = {"how": tuple(How)}
    recent = {"which": range(4)}  # 0 is the newest
    hand = {"whose": tuple(Whose), **recent}
    write = {**hand, **at_once_or_held}
    acts = ("checkpoint", "complete", "fail", "cancel")
    return [
        (2, "claim", {"worker": WORKERS, "batch": (1, 1, 2, 8), "suspects": (True, False), **at_once_or_held}),
        (2, "take_over", {"worker": WORKERS, "batch": (1, 8)}),
        (2, "wake", {**recent, "worker": WORKERS, "act": ("checkpoint", "complete", "fail")}),
        (1, "crowd", {}),
        (3, "checkpoint", {**write, "more": range(3), "lease": (10.0, 20.0)}),
        (2, "complete", write),
        (3, "fail", {**write, "fault": (*Fault, Fault.RELEASE, Fault.TRANSIENT), "came_on": (True, False)}),
        (2, "operate", {"cancel": (True, False), **recent, **at_once_or_held}),
        (2, "enqueue", {"known": (True, False), **recent, **_leases(), **at_once_or_held}),
        (2, "sweep", {"batch": (1, 500, 500), **any_way}),
        (1, "promote", any_way),
        (4, "meet", {**recent, "first": acts, "second": acts, "commit": (True, True, False)}),
        (2, "meanwhile", {**recent, "act": (*acts, "retry")}),
        (2, "cut_in", {**recent, "act": ("cancel", "retry")}),
        # Less than a lease, exactly one, a little more, two intervals, and more than three: an outage.
        (2, "advance", {"seconds": (2, 10, 11, 21, 41, 70)}),
        (3, "end", {**recent, "commit": (True, False)}),
        (2, "go_on", {}),
        (1, "ask", {**hand, "worker": WORKERS}),
    ]

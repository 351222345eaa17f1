"""Every state that some order of steps leads to, the shortest way to each fault, and the states with no way out.

Knows nothing of what it explores: a state is anything that can be hashed, and a model says which steps follow it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

State = TypeVar("State")

STUCK = "P2: no end can be reached any more without help"


class Step(NamedTuple, Generic[State]):
    """What may happen next. `broken` names what the step itself breaks, for faults that no state shows.

    `is_own` is False for what the protocol cannot count on: a crash, an operator's wish, a lost answer.
    """

    label: str
    after: State
    broken: str = ""
    is_own: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """What an exploration found: how many states there are, and for each fault the shortest way to it, step by step."""

    states: int
    traces: Mapping[str, tuple[str, ...]]

    @property
    def faults(self) -> set[str]:
        """The names of the faults."""
        return set(self.traces)


@dataclass(slots=True)
class _Search(Generic[State]):
    """States by number, in the order they were found, each with the step that led to it first."""

    numbers: dict[State, int]
    came_from: list[int] = field(default_factory=lambda: [-1])
    labels: list[str] = field(default_factory=lambda: [""])
    led_here_from: list[list[int]] = field(default_factory=lambda: [[]])
    traces: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def reached(self, step: Step[State], before: int) -> bool:
        """Whether the step leads to a state that is new."""
        number = self.numbers.setdefault(step.after, len(self.numbers))
        is_new = number == len(self.came_from)
        if is_new:
            self.came_from.append(before)
            self.labels.append(step.label)
            self.led_here_from.append([])
        if step.is_own:
            self.led_here_from[number].append(before)
        return is_new

    def way_to(self, number: int) -> tuple[str, ...]:
        """The labels of the steps that led to a state first."""
        steps = list[str]()
        while number > 0:
            steps.append(self.labels[number])
            number = self.came_from[number]
        return tuple(reversed(steps))

    def without_way_out(self, is_end: Callable[[State], bool]) -> int | None:
        """The first state from which the protocol's own steps lead to no end."""
        to_do = [number for state, number in self.numbers.items() if is_end(state)]
        has_way_out = bytearray(len(self.numbers))
        while to_do:
            number = to_do.pop()
            if not has_way_out[number]:
                has_way_out[number] = True
                to_do += self.led_here_from[number]
        stuck = has_way_out.find(False)
        return None if stuck < 0 else stuck


def explore(
    first: State,
    following: Callable[[State], Iterable[Step[State]]],
    faults: Callable[[State], Iterable[str]],
    *,
    is_end: Callable[[State], bool] | None = None,
    wanted: str | None = None,
) -> Found:
    """Visit everything that can follow `first`, the shortest ways first.

    With `is_end`, a state from which no such end can be reached is the fault STUCK. Stops early once `wanted` is found.
    """
    search, to_do = _Search({first: 0}), deque([first])
    while to_do and wanted not in search.traces:
        state = to_do.popleft()
        number = search.numbers[state]
        for fault in faults(state):
            if fault not in search.traces:
                search.traces[fault] = search.way_to(number)
        for step in following(state):
            if step.broken and step.broken not in search.traces:
                search.traces[step.broken] = (*search.way_to(number), step.label)
            if search.reached(step, number):
                to_do.append(step.after)
    if is_end is not None and not to_do and (stuck := search.without_way_out(is_end)) is not None:
        search.traces[STUCK] = search.way_to(stuck)
    return Found(len(search.numbers), search.traces)

"""A run: for each target in turn its seeds as they are, then changed ones, until the time or the number is up."""

from __future__ import annotations

import hashlib
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.mutation import Mutator
from tests.fuzz.runner import Runner
from tests.fuzz.targets import Target

ROUND = 20  # inputs of a target before it is the next one's turn


@dataclass(slots=True)
class Report:
    """What a run saw. `findings` are faults of doclease by their words, `deaths` those of C code, by target."""

    inputs: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    deaths: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


class Campaign:
    """Runs targets. The same seed makes the same inputs; `into` is where inputs go that are worth a look."""

    def __init__(self, targets: Sequence[Target], *, seed: int, into: Path | None, say: Callable[[str], None]) -> None:
        self._targets = targets
        self._seed = seed
        self._into = into
        self._say = say
        self.report = Report()

    def run(self, *, seconds: float | None = None, changed_each: int | None = None) -> Report:
        """Go on for so many seconds, or until every target had its seeds and so many changed inputs."""
        began = time.monotonic()
        streams = {each.name: self._inputs(each, changed_each) for each in self._targets}
        with Runner() as runner:
            while streams and (seconds is None or time.monotonic() - began < seconds):
                for name, stream in list(streams.items()):
                    if not self._round(runner, name, stream):
                        del streams[name]
        self.report.seconds = time.monotonic() - began
        return self.report

    def _round(self, runner: Runner, name: str, stream: Iterator[bytes]) -> bool:
        """The next inputs of a target; whether there may be more."""
        inputs = list(itertools.islice(stream, ROUND))
        for data in inputs:
            outcome = runner.try_one(name, data)
            self.report.inputs[name] += 1
            self.report.words[outcome.word] += 1
            if outcome.finding:
                self.note(self.report.findings, f"{name}: {outcome.finding}", data)
            elif outcome.word.startswith("killed"):
                self.note(self.report.deaths, f"{name}: {outcome.word}", data)
        return len(inputs) == ROUND

    def _inputs(self, target: Target, changed: int | None) -> Iterator[bytes]:
        seeds = list(target.seeds())
        # By name, so that a target gets the same inputs whichever others run beside it.
        chance = random.Random(f"{self._seed} {target.name}")  # noqa: S311
        yield from seeds
        mutator = Mutator(chance, seeds)
        for _ in itertools.count() if changed is None else range(changed):
            data = chance.choice(seeds)
            for _ in range(chance.choice((1, 1, 2, 4))):
                data = mutator.mutate(data)
            yield data

    def note(self, counter: Counter[str], words: str, data: bytes) -> None:
        """Count what an input did; the first one that did it is kept."""
        counter[words] += 1
        if counter[words] > 1:
            return
        self._say(words)
        if self._into is not None:
            self._into.mkdir(parents=True, exist_ok=True)
            target = words.partition(": ")[0].replace(":", "-")
            name = f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
            (self._into / name).write_bytes(data)
            (self._into / f"{name}.txt").write_text(words + "\n", encoding="utf-8")


def chosen(targets: Mapping[str, Target], wanted: Sequence[str]) -> list[Target]:
    """The targets whose names begin with one of those wanted, all of them for none."""
    return [each for name, each in targets.items() if not wanted or name.startswith(tuple(wanted))]

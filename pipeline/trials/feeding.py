"""How files come into the inbox of a trial: whole, in pieces, under a working name, in a folder, or replaced meanwhile.

What comes and when is drawn from the seed before anything starts; a thread then does it. Of every version of a file
it is known afterwards whether it has to be a document: the one exception is a version that its own user replaced
while it still stood in the inbox.
"""

from __future__ import annotations

import hashlib
import heapq
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.trials.paper import make_pdf

WAYS: Mapping[str, int] = {"whole": 50, "part": 15, "pieces": 20, "folder": 5, "replaced": 10}
PIECES = 3


@dataclass(frozen=True, slots=True)
class Paper:
    """A document that went in: its number and how many pages it has."""

    number: int
    pages: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """One file on its way: which paper, when in seconds from the start, how, and what its pauses are, from 0 to 1.

    `instead_of` is a version that comes first and that this one replaces.
    """

    paper: Paper
    at: float
    way: str
    pauses: tuple[float, ...]
    instead_of: Paper | None = None


def plan(documents: int, *, seed: int, seconds: float, scale: float, in_pieces: bool) -> list[Delivery]:
    """Every delivery of a trial, spread over so many seconds; the same arguments give the same deliveries."""
    chance = random.Random(f"{seed}/feeding")  # noqa: S311 - choices that can be repeated
    deliveries = []
    for number in range(1, documents + 1):
        paper = Paper(number, max(1, round(_size(chance) * scale)))
        way = chance.choices(list(WAYS), weights=list(WAYS.values()))[0]
        at, pauses = chance.uniform(0, seconds), tuple(chance.random() for _ in range(PIECES))
        if not in_pieces:
            way = "whole"
        # The version that goes is told from the one that comes by its number.
        earlier = Paper(number + documents, paper.pages) if way == "replaced" else None
        deliveries.append(Delivery(paper, at, way, pauses, earlier))
    return sorted(deliveries, key=lambda each: each.at)


def mean_pages() -> float:
    """Pages of a document on average, before they are scaled."""
    return 0.8 * 4.5 + 0.2 * 60


class Feeder(threading.Thread):
    """Brings the deliveries into the inbox; `staged` is a folder on the same file system."""

    def __init__(
        self, deliveries: Sequence[Delivery], *, seed: int, staged: Path, inbox: Path, quiet_for_seconds: float
    ) -> None:
        super().__init__(name="feeder", daemon=True)
        self.papers: dict[str, Paper] = {}
        self.ways: Counter[str] = Counter()
        self.withdrawn = 0
        self._deliveries = deliveries
        self._seed = seed
        self._staged = staged
        self._inbox = inbox
        self._quiet_for_seconds = quiet_for_seconds
        self._error: Exception | None = None

    def run(self) -> None:
        """Bring everything at its time, several slow ones side by side."""
        try:
            self._bring_all()
        except Exception as error:  # noqa: BLE001 - told by `is_done`, in the thread that asks
            self._error = error

    def is_done(self) -> bool:
        """Whether everything was brought. Raises what stopped it."""
        if self._error is not None:
            raise self._error
        return self.ident is not None and not self.is_alive()

    def _bring_all(self) -> None:
        self._staged.mkdir(exist_ok=True)
        began = time.monotonic()
        due = [(each.at, number, self._bring(each)) for number, each in enumerate(self._deliveries)]
        heapq.heapify(due)
        while due:
            at, number, steps = due[0]
            time.sleep(max(began + at - time.monotonic(), 0))
            pause = next(steps, None)
            if pause is None:
                heapq.heappop(due)
            else:
                heapq.heapreplace(due, (time.monotonic() - began + pause, number, steps))

    def _bring(self, delivery: Delivery) -> Iterator[float]:
        """One delivery, step by step; yields how long it waits before the next."""
        self.ways[delivery.way] += 1
        content = make_pdf(delivery.paper.number, delivery.paper.pages, self._seed)
        self.papers[hashlib.sha256(content).hexdigest()] = delivery.paper
        name = f"{delivery.paper.number:06d}.pdf"
        match delivery.way:
            case "pieces":
                yield from self._in_pieces(self._inbox / name, content, delivery.pauses)
            case "part":
                working = self._inbox / f"{name}.part"
                yield from self._in_pieces(working, content, delivery.pauses)
                working.rename(self._inbox / name)
            case "folder":
                folder = self._staged / f"folder-{delivery.paper.number:06d}"
                folder.mkdir()
                (folder / name).write_bytes(content)
                folder.rename(self._inbox / folder.name)
            case "replaced":
                yield from self._replaced(name, content, delivery)
            case _:
                self._stage(name, content).rename(self._inbox / name)

    def _in_pieces(self, path: Path, content: bytes, pauses: Sequence[float]) -> Iterator[float]:
        """Written bit by bit, standing still for longer than a finished file has to."""
        size = -(-len(content) // len(pauses))
        for number, pause in enumerate(pauses):
            with path.open("ab") as file:
                file.write(content[number * size : (number + 1) * size])
            if number < len(pauses) - 1:
                yield self._quiet_for_seconds * (1.2 + 2 * pause)

    def _replaced(self, name: str, content: bytes, delivery: Delivery) -> Iterator[float]:
        """A first version, and another over it while the first one may be being taken in."""
        assert delivery.instead_of is not None
        earlier = make_pdf(delivery.instead_of.number, delivery.instead_of.pages, self._seed)
        first = self._stage(name, earlier)
        descriptor = os.open(first, os.O_RDONLY)
        try:
            first.rename(self._inbox / name)
            yield self._quiet_for_seconds * 4 * delivery.pauses[0]
            self._stage(name, content).replace(self._inbox / name)
            # Nothing of ours removes a file: one without a name was replaced in the inbox, by the line above.
            if os.fstat(descriptor).st_nlink == 0:
                self.withdrawn += 1
            else:
                self.papers[hashlib.sha256(earlier).hexdigest()] = delivery.instead_of
        finally:
            os.close(descriptor)

    def _stage(self, name: str, content: bytes) -> Path:
        path = self._staged / name
        path.write_bytes(content)
        return path


def _size(chance: random.Random) -> int:
    """Pages: four of five documents are short, one is long enough to be killed in the middle."""
    return chance.randint(1, 8) if chance.random() < 0.8 else chance.randint(20, 100)

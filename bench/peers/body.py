"""What a task of the comparison does, the same for every queue: it leaves evidence in a file and obeys its order.

Standard library only: it runs inside the virtual environment of every peer, and in doclease's parser child.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

LOG = "evidence.jsonl"
LOOK_SECONDS = 0.02
STEP_SECONDS = 1.0
SHORT_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Order:
    """What a task is told. `act`: short | gate | hang | poison | slow; `folder`: where evidence and gates are.

    `steps` is how many pieces a slow task has, each of STEP_SECONDS.
    """

    task: str
    act: str
    folder: str
    steps: int = 0

    def to_json(self) -> str:
        """As it travels through a queue."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Order:
        """As it arrives."""
        return cls(**json.loads(text))

    def gate(self, number: int) -> Path:
        """The file that execution `number`, counted from 1, waits for."""
        return Path(self.folder) / f"{self.task}.{number}.open"


def now() -> float:
    """Seconds on a clock that all processes of the machine share and nobody sets."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def perform(text: str) -> None:
    """Do one execution of a task: note that it begins, act, note that its effect took place."""
    order = Order.from_json(text)
    number = begin(order)
    _ACTS[order.act](order, number)
    note(order, "end", number)


def begin(order: Order) -> int:
    """Note the beginning; returns which execution of the task this is."""
    mine = note(order, "begin", 0)
    number = 0
    for line in (Path(order.folder) / LOG).read_text(encoding="ascii").splitlines():
        entry = json.loads(line)
        number += entry["task"] == order.task and entry["event"] == "begin"
        if line == mine:
            break
    return number


def note(order: Order, event: str, number: int) -> str:
    """Append a line of evidence, in one write; returns it."""
    line = json.dumps({"task": order.task, "event": event, "pid": os.getpid(), "at": now(), "number": number})
    descriptor = os.open(Path(order.folder) / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(descriptor, line.encode("ascii") + b"\n")
    finally:
        os.close(descriptor)
    return line


def _wait_at_gate(order: Order, number: int) -> None:
    while not order.gate(number).exists():
        time.sleep(LOOK_SECONDS)


def _go_step_by_step(order: Order, number: int) -> None:
    for _ in range(order.steps):
        time.sleep(STEP_SECONDS)


def _hang_once(order: Order, number: int) -> None:
    """The first execution never ends, whatever is raised in it; later ones are quick."""
    while number == 1:
        try:
            time.sleep(LOOK_SECONDS)
        except BaseException:  # noqa: BLE001, S112 - a soft time limit arrives as an exception; this task ignores it
            continue


_ACTS: Mapping[str, Callable[[Order, int], object]] = {
    "short": lambda order, number: time.sleep(SHORT_SECONDS),
    "gate": _wait_at_gate,
    "hang": _hang_once,
    "slow": _go_step_by_step,
    "poison": lambda order, number: os.kill(os.getpid(), signal.SIGKILL),
}

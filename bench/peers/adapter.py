"""What every adapter can do, and how it is asked: commands on standard input, answers on standard output, JSON lines.

Standard library only. An adapter runs in its peer's own virtual environment, as `control` or as `work SLOTS`; where its
server is and how it is set come in the environment.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, Protocol

WAITING, RUNNING, DONE, ENDED_BADLY = "waiting", "running", "done", "ended badly"


class Adapter(Protocol):
    """One queue."""

    def prepare(self) -> None:
        """Make the schema; called once, on an empty database."""

    def enqueue(self, orders: Sequence[str]) -> None:
        """Put tasks in line, in this order."""

    def states(self) -> dict[str, str]:
        """Where tasks stand in the queue's own eyes, by name; one that the queue no longer has is left out."""

    def work(self, slots: int) -> None:
        """Be a worker process of so many tasks at a time, until killed."""


class Place:
    """Where the server is and how the queue is set, from the environment."""

    def __init__(self) -> None:
        self.host = os.environ["BENCH_HOST"]
        self.database = os.environ["BENCH_DATABASE"]
        self.user = os.environ["BENCH_USER"]
        self.folder = os.environ["BENCH_FOLDER"]
        self.settings: dict[str, Any] = json.loads(os.environ["BENCH_SETTINGS"])


def task_of(order: str) -> str:
    """The name of the task that an order is for."""
    return str(json.loads(order)["task"])


def main(adapter: Adapter) -> None:
    """Be the worker, or answer commands until standard input ends."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    if sys.argv[1] == "work":
        adapter.work(int(sys.argv[2]))
        return
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not end up between the answers
    for line in sys.stdin:
        json.dump(_answer(adapter, json.loads(line)), answers)
        answers.write("\n")
        answers.flush()


def _answer(adapter: Adapter, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"answer": getattr(adapter, request["command"])(*request["arguments"])}
    except Exception as error:  # noqa: BLE001 - told to the other side, which decides
        return {"error": f"{type(error).__name__}: {error}"}

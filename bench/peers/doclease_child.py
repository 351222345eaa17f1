"""A parser child whose documents are orders: opening one does what body.py does, so that evidence is the same for all.

Only the format is a stand-in. Queue, worker, sweeper and the life of the child are doclease's own; the child keeps its
limits and its death with its parent, but may write the file of evidence, which a real one could not.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from bench.peers import body
from pipeline import handling
from pipeline.documents.contract import Attachment, Inspection, Means, OpenDocument
from pipeline.documents.parsing import read_whole
from pipeline.documents.text import Page, Source
from pipeline.worker import child, sandbox
from pipeline.worker.confining import kernel, limits, network

HEAD = b"ORDER\n"


class OrderFormat:
    """Documents that carry an order: obeyed on opening, or of a page for each step where it is slow."""

    name = "order"
    media_types: tuple[str, ...] = ("text/x-order",)

    def recognises(self, head: bytes, tail: bytes, name: str) -> str | None:
        """By its first line."""
        return self.media_types[0] if head.startswith(HEAD) else None

    def inspect(self, file: BinaryIO, means: Means) -> Inspection:
        """Count; obeys nothing."""
        return Inspection(self.media_types[0], max(_order(file).steps, 1))

    @contextmanager
    def open(self, file: BinaryIO, means: Means) -> Iterator[OpenDocument]:
        """Obey, or begin."""
        order = _order(file)
        if order.steps:
            body.begin(order)
        else:
            body.perform(order.to_json())
        yield _OpenOrder(order)


class _OpenOrder:
    """Its pages; those of a slow one are its steps, and its effect takes place on the last."""

    def __init__(self, order: body.Order) -> None:
        self._order = order
        self.page_count = max(order.steps, 1)

    def read_page(self, number: int) -> Page:
        if self._order.steps:
            time.sleep(body.STEP_SECONDS)
        if self._order.steps == number:
            body.note(self._order, "end", 0)
        return Page(number, self._order.task, self._order.task, Source.NATIVE, engine="order")

    def attachments(self) -> Iterator[Attachment]:
        return iter(())


def _order(file: BinaryIO) -> body.Order:
    return body.Order.from_json(read_whole(file).decode().removeprefix(HEAD.decode()))


def _confine(*, max_memory_bytes: int, max_file_bytes: int, parent: int, scratch: Path) -> list[str]:
    measures = limits.limit_all(max_memory_bytes=max_memory_bytes, max_file_bytes=max_file_bytes)
    kernel.prctl(sandbox.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    return [*measures, *(["no_network"] if network.leave_network() else [])]


if __name__ == "__main__":
    child.main((OrderFormat(),), handling.discover, confine=_confine)

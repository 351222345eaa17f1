"""One job in the child: read the document, unpack what is inside it, choose a handler, extract.

Apart from the child, so that one which only counts pages loads none of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from pipeline.documents.contract import Format, Means
from pipeline.documents.text import Page
from pipeline.handling import Handler
from pipeline.reading.memory.lessons import Remembered
from pipeline.work import Job, process
from pipeline.worker import sandbox
from pipeline.worker.frames import Frame, page_fields
from pipeline.worker.issuer_frames import remembered_of
from pipeline.worker.unpacking import Unpacker


class Parent(Protocol):
    """Who gives the jobs."""

    def say(self, kind: str, **facts: Any) -> None:
        """Tell it something."""

    def heard(self) -> Frame:
        """What it answers. Does not return when it is gone."""


class Reading:
    """What jobs are done with."""

    def __init__(self, kinds: Sequence[Format], handlers: Mapping[str, Handler], parent: Parent) -> None:
        self._kinds = kinds
        self._handlers = handlers
        self._parent = parent

    def read(self, frame: Frame, stored: Iterable[Page], file: BinaryIO, means: Means) -> dict[str, Any]:
        """Do the job in a frame; returns the facts that finish it. Raises DocumentError."""
        started = time.process_time()
        say = self._parent.say
        unpacker = Unpacker(Path.cwd(), self._kinds, means, int(frame["depth"]))
        sandbox.limit_cpu(float(frame["cpu_seconds"]))
        finished = process(
            job_of(frame, stored, file, means),
            self._kinds,
            self._handlers,
            on_open=lambda count: say("opened", page_count=count),
            on_page=lambda page: say("page", page=page_fields(page)),
            on_attachment=lambda attachment: unpacker.unpack(attachment, self._hand_over),
            ask=self._ask if frame["may_ask"] else None,
        )
        used = time.process_time() - started
        return {"reason": finished.reason.value, "result": finished.result, "cpu_seconds": used}

    def _hand_over(self, facts: dict[str, Any]) -> None:
        """Tell of a file in the scratch folder and wait until the parent has it, so that there is one at a time."""
        self._parent.say("attachment", attachment=facts)
        self._parent.heard()

    def _ask(self, keys: Sequence[str]) -> list[Remembered]:
        """What people corrected on documents of the issuer with one of these keys."""
        self._parent.say("issuer", keys=keys)
        return remembered_of(self._parent.heard())


def job_of(frame: Frame, stored: Iterable[Page], file: BinaryIO, means: Means) -> Job:
    """The job in a frame, with the pages that followed it."""
    return Job(
        file=file,
        name=frame["name"],
        handler=frame["handler"],
        means=means,
        stored=tuple(stored),
        whole=int(frame["whole"]),
        skip={int(number): error for number, error in frame["skip"].items()},
    )

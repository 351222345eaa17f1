"""What runs inside a parser child: it reads jobs from its standard input until that ends, one document at a time.

It has no database and no network. Everything it learns it says at once, so that its death loses one page at most.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from pipeline import handling
from pipeline.documents import formats
from pipeline.documents.formats import Format
from pipeline.documents.identify import inspect
from pipeline.errors import DocumentError
from pipeline.handling import Handler
from pipeline.reasons import Reason
from pipeline.work import process
from pipeline.worker import sandbox
from pipeline.worker.frames import Decoder, Frame, encode, job_of


class Child:
    """Answers frames on `answers` until `requests` ends."""

    def __init__(
        self, requests: BinaryIO, answers: BinaryIO, kinds: Sequence[Format], handlers: Mapping[str, Handler]
    ) -> None:
        self._requests = requests
        self._answers = answers
        self._kinds = kinds
        self._handlers = handlers

    def serve(self, measures: list[str]) -> None:
        """Say ready, then answer until the parent closes the pipe."""
        self._say("ready", measures=measures, inherited_rss_bytes=_inherited_rss_bytes())
        decoder = Decoder()
        while data := os.read(self._requests.fileno(), 1 << 20):
            decoder.feed(data)
            while (frame := decoder.next()) is not None:
                self._answer(frame)

    def _answer(self, frame: Frame) -> None:
        try:
            if frame["kind"] == "inspect":
                inspection = inspect(Path(frame["path"]), frame["name"], self._kinds)
                self._say("inspected", **asdict(inspection))
            else:
                self._work(frame)
        except DocumentError as error:
            self._say("refused", reason=str(error.reason), error=str(error))
        except OSError as error:
            self._say("refused", reason=Reason.IO_ERROR.value, error=f"its bytes cannot be read: {error.strerror}")
        except MemoryError:
            # The parent replaces a child that ran out: what is left of the heap is not to be trusted.
            self._say("refused", reason=Reason.OUT_OF_MEMORY.value, error="the parser reached its memory limit")

    def _work(self, frame: Frame) -> None:
        started = time.process_time()
        sandbox.limit_cpu(float(frame["cpu_seconds"]))
        finished = process(
            job_of(frame),
            self._kinds,
            self._handlers,
            on_open=lambda count: self._say("opened", page_count=count),
            on_page=lambda page: self._say("page", page=asdict(page)),
        )
        used = {"cpu_seconds": time.process_time() - started, "peak_rss_bytes": _peak_rss_bytes()}
        self._say("finished", reason=finished.reason.value, result=finished.result, **used)

    def _say(self, kind: str, **facts: Any) -> None:
        self._answers.write(encode({"kind": kind, **facts}))
        self._answers.flush()


def _inherited_rss_bytes() -> int:
    """What the kernel holds for this process's peak so far. It may be the parent's: exec does not reset it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _peak_rss_bytes() -> int:
    """The most memory this program itself held."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return _inherited_rss_bytes()


def _private_output() -> BinaryIO:
    """The pipe to the parent on a descriptor of its own: whatever a library prints must not end up between frames."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def main(kinds: Sequence[Format], handlers: Mapping[str, Handler]) -> None:
    """Confine this process, then serve. Arguments: memory limit in bytes, the parent's process id."""
    answers = _private_output()
    measures = sandbox.apply(max_memory_bytes=int(sys.argv[1]), parent=int(sys.argv[2]))
    Child(sys.stdin.buffer, answers, kinds, handlers).serve(measures)


if __name__ == "__main__":
    main(formats.discover(), handling.discover())

"""What runs inside a parser child: it reads jobs from its standard input, a socket, until that ends, one at a time.

It has no database and no network. Everything it learns it says at once, so that its death loses one page at most.
"""

from __future__ import annotations

import os
import resource
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from pipeline import handling
from pipeline.config import OcrSettings
from pipeline.documents import formats, ocr
from pipeline.documents.contract import Format, Means
from pipeline.documents.identify import inspect
from pipeline.documents.ocr import Reader
from pipeline.documents.text import Page
from pipeline.errors import ConfigurationError, DocumentError
from pipeline.handling import Handler
from pipeline.reading.memory.lessons import Remembered
from pipeline.reasons import Reason
from pipeline.work import process
from pipeline.worker import sandbox
from pipeline.worker.channel import Requests
from pipeline.worker.frames import Frame, encode, job_of, page_fields, page_of
from pipeline.worker.issuer_frames import remembered_of
from pipeline.worker.provision import Provision, provision_of
from pipeline.worker.unpacking import Unpacker


class Child:
    """Answers frames on `answers` until `requests` ends."""

    def __init__(
        self, requests: Requests, answers: BinaryIO, kinds: Sequence[Format], handlers: Mapping[str, Handler]
    ) -> None:
        self._requests = requests
        self._answers = answers
        self._kinds = kinds
        self._handlers = handlers
        self._reader: tuple[OcrSettings, Reader | None] | None = None

    def serve(self, measures: list[str]) -> None:
        """Say ready, then answer until the parent closes the pipe."""
        self._say("ready", measures=measures, inherited_rss_bytes=_inherited_rss_bytes())
        while (frame := self._requests.next()) is not None:
            with self._requests.file() as file:
                self._answer(frame, file)

    def _answer(self, frame: Frame, file: BinaryIO) -> None:
        try:
            stored = list(self._stored(frame))
            means = self._means(provision_of(frame["provision"]))
            if frame["kind"] == "inspect":
                self._say("inspected", **asdict(inspect(file, frame["name"], self._kinds, means)))
            else:
                self._work(frame, stored, file, means)
        except DocumentError as error:
            self._say("refused", reason=str(error.reason), error=str(error))
        except ConfigurationError as error:
            self._say("refused", reason=Reason.INTERNAL_ERROR.value, error=str(error))
        except OSError as error:
            self._say("refused", reason=Reason.IO_ERROR.value, error=f"its bytes cannot be read: {error.strerror}")
        except MemoryError:
            # The parent replaces a child that ran out: what is left of the heap is not to be trusted.
            self._say("refused", reason=Reason.OUT_OF_MEMORY.value, error="the parser reached its memory limit")

    def _work(self, frame: Frame, stored: Sequence[Page], file: BinaryIO, means: Means) -> None:
        started = time.process_time()
        unpacker = Unpacker(Path.cwd(), self._kinds, means, int(frame["depth"]))
        sandbox.limit_cpu(float(frame["cpu_seconds"]))
        finished = process(
            job_of(frame, stored, file, means),
            self._kinds,
            self._handlers,
            on_open=lambda count: self._say("opened", page_count=count),
            on_page=lambda page: self._say("page", page=page_fields(page)),
            on_attachment=lambda attachment: unpacker.unpack(attachment, self._hand_over),
            ask=self._ask if frame["may_ask"] else None,
        )
        used = {"cpu_seconds": time.process_time() - started, "peak_rss_bytes": _peak_rss_bytes()}
        self._say("finished", reason=finished.reason.value, result=finished.result, **used)

    def _stored(self, frame: Frame) -> Iterator[Page]:
        """The pages that follow a job: read whatever becomes of it, as after them comes the next request."""
        left = int(frame.get("stored", 0))
        while left > 0:
            more = self._requests.next()
            if more is None:
                raise SystemExit
            yield from map(page_of, more["pages"])
            left -= len(more["pages"])

    def _hand_over(self, facts: dict[str, Any]) -> None:
        """Tell of a file in the scratch folder and wait until the parent has it, so that there is one at a time."""
        self._say("attachment", attachment=facts)
        if self._requests.next() is None:
            raise SystemExit

    def _ask(self, keys: Sequence[str]) -> list[Remembered]:
        """What people corrected on documents of the issuer with one of these keys."""
        self._say("issuer", keys=keys)
        answer = self._requests.next()
        if answer is None:
            raise SystemExit
        return remembered_of(answer)

    def _means(self, provision: Provision) -> Means:
        if self._reader is None or self._reader[0] != provision.ocr:
            self._reader = (provision.ocr, ocr.reader(provision.ocr))
        return Means(provision.limits, provision.passwords, self._reader[1])

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


def main(
    kinds: Sequence[Format], handlers: Mapping[str, Handler], confine: Callable[..., list[str]] = sandbox.apply
) -> None:
    """Confine this process, then serve. Arguments: memory limit and file size limit in bytes, the parent's id."""
    answers = _private_output()
    memory_bytes, file_bytes, parent = (int(argument) for argument in sys.argv[1:4])
    measures = confine(max_memory_bytes=memory_bytes, max_file_bytes=file_bytes, parent=parent, scratch=Path.cwd())
    Child(Requests(socket.socket(fileno=0)), answers, kinds, handlers).serve(measures)


if __name__ == "__main__":
    main(formats.discover(), handling.discover())

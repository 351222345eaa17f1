"""What runs inside a parser child: it reads jobs from its standard input, a socket, until that ends, one at a time.

It has no database and no network. Everything it learns it says at once, so that its death loses one page at most.
"""

from __future__ import annotations

import gc
import os
import resource
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pipeline import handling
from pipeline.config import OcrSettings
from pipeline.documents import formats, ocr
from pipeline.documents.contract import Format, Means
from pipeline.documents.identify import inspect
from pipeline.documents.ocr import Reader
from pipeline.documents.text import Page
from pipeline.errors import ConfigurationError, DocumentError
from pipeline.handling import Handler
from pipeline.reasons import Reason
from pipeline.worker import sandbox
from pipeline.worker.channel import Requests
from pipeline.worker.frames import Frame, Purpose, encode, page_of
from pipeline.worker.provision import Provision, provision_of

if TYPE_CHECKING:
    from pipeline.worker.reading import Reading

_NEW_OBJECTS = 10_000  # after which it looks at those; Python's 700 are a page's words

HandlerDiscovery = Callable[[], Mapping[str, Handler]]


class Child:
    """Answers frames on `answers` until `requests` ends."""

    def __init__(
        self, requests: Requests, answers: BinaryIO, kinds: Sequence[Format], discover_handlers: HandlerDiscovery
    ) -> None:
        self._requests = requests
        self._answers = answers
        self._kinds = kinds
        self._discover_handlers = discover_handlers
        self._reader: tuple[OcrSettings, Reader | None] | None = None

    def serve(self, measures: list[str]) -> None:
        """Say ready, then answer until the parent closes the pipe."""
        self.say("ready", measures=measures, inherited_rss_bytes=_inherited_rss_bytes())
        while (frame := self._requests.next()) is not None:
            with self._requests.file() as file:
                self._answer(frame, file)

    def _answer(self, frame: Frame, file: BinaryIO) -> None:
        try:
            stored = list(self._stored(frame))
            means = self._means(provision_of(frame["provision"]))
            if frame["kind"] == "inspect":
                self.say("inspected", **asdict(inspect(file, frame["name"], self._kinds, means)))
            else:
                self._work(frame, stored, file, means)
        except DocumentError as error:
            self.say("refused", reason=str(error.reason), error=str(error))
        except ConfigurationError as error:
            self.say("refused", reason=Reason.INTERNAL_ERROR.value, error=str(error))
        except OSError as error:
            self.say("refused", reason=Reason.IO_ERROR.value, error=f"its bytes cannot be read: {error.strerror}")
        except MemoryError:
            # The parent replaces a child that ran out: what is left of the heap is not to be trusted.
            self.say("refused", reason=Reason.OUT_OF_MEMORY.value, error="the parser reached its memory limit")

    def _work(self, frame: Frame, stored: Sequence[Page], file: BinaryIO, means: Means) -> None:
        finished = self.reading.read(frame, stored, file, means)
        self.say("finished", **finished, peak_rss_bytes=_peak_rss_bytes())

    @cached_property
    def reading(self) -> Reading:
        """What jobs are done with, loaded when it is first asked for: to count pages takes none of it."""
        from pipeline.worker.reading import Reading  # noqa: PLC0415

        return Reading(self._kinds, self._discover_handlers(), self)

    def _stored(self, frame: Frame) -> Iterator[Page]:
        """The pages that follow a job: read whatever becomes of it, as after them comes the next request."""
        left = int(frame.get("stored", 0))
        while left > 0:
            more = self.heard()
            yield from map(page_of, more["pages"])
            left -= len(more["pages"])

    def heard(self) -> Frame:
        """What the parent answers. Ends the process when there is no parent any more."""
        answer = self._requests.next()
        if answer is None:
            raise SystemExit
        return answer

    def _means(self, provision: Provision) -> Means:
        if self._reader is None or self._reader[0] != provision.ocr:
            self._reader = (provision.ocr, ocr.reader(provision.ocr))
        return Means(provision.limits, provision.passwords, self._reader[1])

    def say(self, kind: str, **facts: Any) -> None:
        """Tell the parent something, at once."""
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


def _settle_heap() -> None:
    """Take what is there out of the garbage collector's sight: it would go through all of it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


def main(
    kinds: Sequence[Format],
    discover_handlers: HandlerDiscovery,
    confine: Callable[..., list[str]] = sandbox.apply,
) -> None:
    """Load what the child is for, confine this process, then serve.

    Arguments: memory limit and file size limit in bytes, the parent's id, the purpose.
    """
    answers = _private_output()
    memory_bytes, file_bytes, parent = (int(argument) for argument in sys.argv[1:4])
    child = Child(Requests(socket.socket(fileno=0)), answers, kinds, discover_handlers)
    if Purpose(sys.argv[4]) is Purpose.READING:
        _ = child.reading
    measures = confine(max_memory_bytes=memory_bytes, max_file_bytes=file_bytes, parent=parent, scratch=Path.cwd())
    _settle_heap()
    child.serve(measures)


if __name__ == "__main__":
    main(formats.discover(), handling.discover)

"""Taking many files in: copied side by side, looked into one after the other, their rows written a group at a time.

The order is that of one file: bytes durable in the store, then rows. A group ends after half a second, so that workers
have something to do and a person sees it go on; the first ones are small. A file that cannot be taken in is in no
other's way.
"""

from __future__ import annotations

import errno
import io
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy.exc import DBAPIError

from pipeline.documents.archive import Stored
from pipeline.errors import DocumentError, Unavailable
from pipeline.intake.arrivals import Arrived, Identity
from pipeline.intake.recipe import Intake, Order, Ready, Source
from pipeline.registering import Triage

COPIERS = 4  # most of copying a small file is waiting for the disk
AHEAD = 16
REMEMBERED = 5000  # hashes; what is not remembered is looked into once more
FIRST, GROWTH, MOST = 1, 4, 1000
GROUP_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Wish:
    """A file to take in, and how."""

    source: Source
    order: Order


Outcome = tuple[Wish, Arrived | Exception]
_Copy = Future[tuple[Stored, Identity]]
_Prepared = tuple[Wish, Ready | Exception]


class Grouping:
    """Takes files in through `intake`, a group at a time. For one thread, which may end it at any time."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._stop = threading.Event()
        self._triaged: dict[str, Triage] = {}

    def take(self, wishes: Iterable[Wish]) -> Generator[Sequence[Outcome], None, None]:
        """Take files in; what became of each, group after group, in the order of the wishes.

        An exception stands for a file that could not be taken in. Raises StoreUnavailable and sqlalchemy's DBAPIError,
        as nothing could be taken in then; what was copied before has its rows first, if that is possible.
        """
        pool = ThreadPoolExecutor(COPIERS, thread_name_prefix="copying")
        try:
            yield from self._groups(self._prepared(wishes, pool), pool)
        finally:
            self._stop.set()
            pool.shutdown(cancel_futures=True)

    def _groups(self, prepared: Iterator[_Prepared], pool: ThreadPoolExecutor) -> Iterator[Sequence[Outcome]]:
        most = FIRST
        while True:
            group, outage = _group(prepared, most)
            if group:
                yield self._settled(group, pool)
            if outage is not None:
                raise outage
            if not group:
                return
            most = min(most * GROWTH, MOST)

    def _settled(self, group: Sequence[_Prepared], pool: ThreadPoolExecutor) -> Sequence[Outcome]:
        """Make the group durable, then write its rows, then say so."""
        ready = [each for _, each in group if isinstance(each, Ready)]
        self._intake.sync(ready, pool.map)
        recorded = self._intake.record_all(ready) if ready else []
        self._intake.tell_of(recorded)
        if len(self._triaged) > REMEMBERED:
            self._triaged.clear()
        answers = iter(recorded)
        return [(wish, next(answers) if isinstance(each, Ready) else each) for wish, each in group]

    def _prepared(self, wishes: Iterable[Wish], pool: ThreadPoolExecutor) -> Iterator[_Prepared]:
        """Every file copied and looked into. Some are copied ahead."""
        copies: deque[tuple[Wish, _Copy]] = deque()
        for wish in wishes:
            copies.append((wish, pool.submit(self._intake.put, wish.source, through=self._interruptible)))
            if len(copies) >= AHEAD:
                yield from self._looked_into(_finished(copies))
        while copies:
            yield from self._looked_into(_finished(copies))

    def _looked_into(self, copies: Sequence[tuple[Wish, _Copy]]) -> Iterator[_Prepared]:
        hashes = {copy.result()[0].sha256 for _, copy in copies if copy.exception() is None}
        without_need = self._intake.arrivals.without_need(hashes)
        for wish, copy in copies:
            try:
                stored, identity = copy.result()
            except (DocumentError, OSError) as error:
                yield wish, error
                continue
            if stored.sha256 not in self._triaged:
                self._triaged[stored.sha256] = self._intake.triage(stored, wish.source.name, without_need)
            yield wish, Ready(wish.source, wish.order, stored, identity, self._triaged[stored.sha256])

    def _interruptible(self, file: io.BufferedReader) -> io.BufferedReader:
        return cast(io.BufferedReader, _Interruptible(file, self._stop))


class _Interruptible(io.RawIOBase):
    """A file that cannot be read on once `stop` is set: whoever interrupts does not wait for a large one."""

    def __init__(self, file: io.BufferedReader, stop: threading.Event) -> None:
        self._file = file
        self._stop = stop

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self._go_on()
        return self._file.read(size)

    def readinto(self, buffer: Any) -> int | None:
        self._go_on()
        return self._file.readinto(buffer)

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise OSError(errno.ECANCELED, "interrupted")


def _group(prepared: Iterator[_Prepared], most: int) -> tuple[list[_Prepared], Exception | None]:
    """The next group, and the outage that ended it."""
    group: list[_Prepared] = []
    until = time.monotonic() + GROUP_SECONDS
    try:
        for each in prepared:
            group.append(each)
            if len(group) >= most or time.monotonic() >= until:
                break
    except (Unavailable, DBAPIError) as error:
        return group, error
    return group, None


def _finished(copies: deque[tuple[Wish, _Copy]]) -> list[tuple[Wish, _Copy]]:
    """Those at the front that are done, and the first one in any case."""
    found = [copies.popleft()]
    found[0][1].exception()
    while copies and copies[0][1].done():
        found.append(copies.popleft())
    return found

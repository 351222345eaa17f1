"""Taking in the files that a person names: which they are, what became of each, and when their tasks have ended.

A path that cannot be read is told and never in the way of the others.
"""

from __future__ import annotations

import os
import stat
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.documents.inbox import is_ignored
from pipeline.documents.text import clean, display_name
from pipeline.errors import DocumentError, UsageProblem
from pipeline.intake.arrivals import Arrivals, Arrived
from pipeline.intake.grouping import Grouping, Wish
from pipeline.intake.moving import move
from pipeline.intake.outages import in_a_line
from pipeline.intake.recipe import Intake, Order, Source
from pipeline.queue.states import FINAL, Status
from pipeline.registering import State

POLL_SECONDS = 0.5
UNREAD = FINAL - {Status.SUCCEEDED}
Ending = tuple[str, str | None]  # status and reason


@dataclass(frozen=True, slots=True)
class Taken:
    """A path and what became of it: an arrival, or a problem that kept it out.

    `ended` is status and reason of the task once it was waited for, `inside` those of the documents that came inside
    it, `note` what else there is to tell.
    """

    path: Path
    arrived: Arrived | None = None
    problem: str | None = None
    note: str | None = None
    ended: Ending | None = None
    inside: tuple[Ending, ...] = ()

    @property
    def is_rejected(self) -> bool:
        """Whether there is nothing to work on."""
        return self.arrived is None or self.arrived.state is State.REJECTED

    @property
    def has_failed(self) -> bool:
        """Whether it was rejected, or waited for and ended without a result."""
        endings = self.inside if self.ended is None else (self.ended, *self.inside)
        return self.is_rejected or any(status in UNREAD for status, _ in endings)

    @property
    def state(self) -> str:
        """What became of it, in words."""
        if self.arrived is None:
            return f"unreadable: {self.problem}"
        words: str = self.arrived.state
        if self.arrived.state is State.DUPLICATE:
            words = f"duplicate of document {self.arrived.document_id}"
        elif self.arrived.state is State.REJECTED:
            words = f"rejected: {self.arrived.reason}"
        if self.ended is not None and not self.is_rejected:
            status, reason = self.ended
            outcome = f"{status}: {reason}" if status in UNREAD else status
            words = outcome if self.arrived.state is State.ENQUEUED else f"{words}, {outcome}"
        if self.inside:
            words = f"{words}; {len(self.inside)} inside: {_summary(self.inside)}"
        return f"{words} ({self.note})" if self.note else words


@dataclass(frozen=True, slots=True)
class Wanted:
    """How the files of one command are to be worked on. `remove` takes them away from where they were."""

    handler: str
    priority: int
    batch: str | None
    remove: bool = False


def files_of(paths: Sequence[Path], *, recursive: bool) -> list[Path]:
    """The files that the paths stand for, those of a folder in the order they sort.

    Raises UsageProblem for a folder unless `recursive`. In folders, links and what an inbox ignores are left out.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir() or path.is_symlink():
            found.append(path)
        elif recursive:
            found += sorted(_below(path))
        else:
            name = display_name(os.fsencode(path))
            raise UsageProblem(f"{name} is a folder; add -r to take in every file below it")
    return found


def paths_in(content: bytes) -> list[Path]:
    """The paths of a list: separated by NUL if there is one in it, else one a line."""
    separator = b"\x00" if b"\x00" in content else b"\n"
    return [Path(os.fsdecode(line)) for line in content.split(separator) if line]


def take_all(intake: Intake, paths: Iterable[Path], wanted: Wanted) -> Iterator[list[Taken]]:
    """Take files in, group after group, in their order; what became of each.

    Raises StoreUnavailable and sqlalchemy's DBAPIError, as nothing could be taken in then.
    """
    wishes = (Wish(Source.at(path), _order(wanted)) for path in paths)
    for group in Grouping(intake).take(wishes):
        yield [_taken(intake, wish, came, wanted) for wish, came in group]


def follow(
    arrivals: Arrivals, taken: Sequence[Taken], *, seconds: float, progress: Callable[[int, int], None]
) -> tuple[list[Taken], bool]:
    """Wait until the tasks have ended; what became of them, and whether all did within the time.

    `progress` is called with how many have ended, of how many.
    """
    latest = time.monotonic() + seconds
    wait = _Wait(arrivals, {each.arrived.task_id for each in taken if each.arrived is not None})
    while True:
        wait.look()
        progress(wait.ended, wait.known)
        if wait.ended == wait.known or time.monotonic() >= latest:
            return [wait.told(each) for each in taken], wait.ended == wait.known
        time.sleep(min(POLL_SECONDS, max(latest - time.monotonic(), 0)))


class _Wait:
    """Tasks and, once one has ended, those of the documents that were found inside it."""

    def __init__(self, arrivals: Arrivals, tasks: set[int]) -> None:
        self._arrivals = arrivals
        self._tasks = tasks
        self._statuses: dict[int, Ending] = {}
        self._inside: dict[int, list[Ending]] = {}

    def look(self) -> None:
        """Ask again about what had not ended."""
        self._statuses |= self._arrivals.statuses([task for task in self._tasks if not self._has_ended(task)])
        self._inside |= self._arrivals.inside([task for task in self._tasks if self._may_hold_live(task)])

    @property
    def known(self) -> int:
        """How many documents there are to wait for, as far as is known."""
        return len(self._tasks) + sum(map(len, self._inside.values()))

    @property
    def ended(self) -> int:
        """How many of them have ended."""
        endings = [*self._statuses.values(), *(each for inside in self._inside.values() for each in inside)]
        return sum(status in FINAL for status, _ in endings)

    def told(self, taken: Taken) -> Taken:
        """The same with what came of it."""
        if taken.arrived is None:
            return taken
        task = taken.arrived.task_id
        return replace(taken, ended=self._statuses.get(task), inside=tuple(self._inside.get(task, ())))

    def _has_ended(self, task: int) -> bool:
        return task in self._statuses and self._statuses[task][0] in FINAL

    def _may_hold_live(self, task: int) -> bool:
        if not self._has_ended(task):
            return False
        return task not in self._inside or any(status not in FINAL for status, _ in self._inside[task])


def _order(wanted: Wanted) -> Order:
    return Order(wanted.handler, wanted.priority, wanted.batch, "command", uuid.uuid4())


def _taken(intake: Intake, wish: Wish, came: Arrived | Exception, wanted: Wanted) -> Taken:
    path = wish.source.path
    if isinstance(came, Exception):
        return Taken(path, problem=_problem(came))
    if not wanted.remove or came.state is State.REJECTED:
        return Taken(path, came)
    return Taken(path, came, note=_remove(intake, path, came, wish.order.token))


def _problem(error: Exception) -> str:
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return clean(str(error) if isinstance(error, DocumentError) else in_a_line(error))


def _summary(endings: Sequence[Ending]) -> str:
    counted = Counter(f"{status}: {reason}" if status in UNREAD else status for status, reason in endings)
    return ", ".join(f"{count} {words}" for words, count in sorted(counted.items()))


def _below(folder: Path) -> Iterator[Path]:
    unreadable: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=unreadable.append):
        folders[:] = [name for name in folders if not is_ignored(os.fsencode(name))]
        for name in names:
            path = Path(parent, name)
            if not is_ignored(os.fsencode(name)) and _may_be_regular(path):
                yield path
    # Taking one of these in fails, and so it is told like any other path that cannot be read.
    yield from (Path(error.filename) for error in unreadable)


def _may_be_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return True


def _remove(intake: Intake, path: Path, arrived: Arrived, token: uuid.UUID) -> str | None:
    """Remove a file that is in the store; why it was left, if it was.

    It is renamed before it is compared: nobody who replaces the file meanwhile loses what he wrote.
    """
    aside = path.with_name(f".doclease-{token}")
    try:
        path.rename(aside)
        if intake.holds(aside, arrived.sha256):
            aside.unlink()
            return None
        back = move(aside, path, mark=str(token))
    except (OSError, DocumentError) as error:
        return f"not removed: {getattr(error, 'strerror', None) or error}"
    return f"changed meanwhile, kept as {path.name if back else aside.name}"

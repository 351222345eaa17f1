"""The inbox at work: what settled is taken in, what ended gets its place, from wherever a crash left either.

Events only make the next scan come sooner; scans find everything, also what was there before. A scan never stops for
one file. When the database or the store is away, the files stay where they are and the next scan tries again.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from pipeline.config import Rule, Settings
from pipeline.documents import inbox
from pipeline.documents.inbox import Found, Problem, Scan
from pipeline.documents.text import clean, display_name
from pipeline.errors import DocumentError
from pipeline.intake.arrivals import Arrived, Identity, Unplaced
from pipeline.intake.events import InboxEvents
from pipeline.intake.outages import Room, Tolerance, in_a_line, is_full, is_outage
from pipeline.intake.placing import Placing
from pipeline.intake.private_folder import Held, PrivateFolder
from pipeline.intake.recipe import Intake, Source
from pipeline.intake.stillness import Stillness
from pipeline.registering import State

TOKENS_A_QUERY = 5_000
SHORTEST_PAUSE_SECONDS = 0.2

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Look:
    """What one pass over the inbox came to.

    `next_in` is how many seconds from now the first waiting file may have settled, `hopeful` whether any file is
    waiting that is not empty, `more` whether settled files were left for the next pass.
    """

    next_in: float | None = None
    hopeful: bool = False
    more: bool = False


class Watcher:
    """Watches the inbox of `settings`. Several on one inbox share the work, on this machine or others.

    Takes files in through `intake`, which must be this watcher's alone while it runs.
    """

    def __init__(self, *, intake: Intake, settings: Settings) -> None:
        self._intake = intake
        self._arrivals = intake.arrivals
        self._settings = settings.inbox
        self._inbox = settings.inbox_path
        self._placing = Placing(settings.processed_path, settings.failed_path, intake.arrivals)
        self._room = Room(settings.store_path, min_free_megabytes=settings.inbox.min_free_megabytes)
        self._scan = Scan()
        self._stillness = Stillness(settings.inbox)
        self._shortage: str | None = None
        self._left: set[Identity] = set()
        self._told: dict[bytes, str] = {}
        self._paused_by: str | None = None

    def run(self, stop: threading.Event) -> None:
        """Watch until told to stop. Never raises for the database, the store or a file."""
        self._inbox.mkdir(parents=True, exist_ok=True)
        with InboxEvents(self._inbox, rescan_seconds=self._settings.rescan_seconds) as events:
            while not stop.is_set():
                began = time.monotonic()
                look = self._look_in_any_case()
                events.listen_where_it_helps()
                if look.more:
                    continue
                # A folder that is written to all the time must not keep a processor busy with looking at it.
                stop.wait(max(SHORTEST_PAUSE_SECONDS, time.monotonic() - began))
                pause = self._settings.rescan_seconds
                events.wait(stop, pause if look.next_in is None else min(pause, look.next_in))

    def run_once(self) -> None:
        """Take what is in the inbox now, as it settles, and place what has ended; then return.

        Does not wait for files of 0 bytes, nor for one that is still written to after the longest that a cut one
        waits. Raises what `look` raises.
        """
        self._inbox.mkdir(parents=True, exist_ok=True)
        latest = time.monotonic() + inbox.PATIENCE * self._settings.quiet_for_seconds + 1
        while True:
            look = self.look()
            if look.more:
                continue
            if not look.hopeful or time.monotonic() > latest:
                return
            time.sleep(min(look.next_in or 0, self._settings.quiet_for_seconds))

    def look(self) -> Look:
        """One pass: scan, take what settled, go through what is held. Safe to interrupt anywhere, and to repeat.

        Raises StoreUnavailable, sqlalchemy's DBAPIError, and OSError when the inbox is not there or a disk is full.
        """
        self._stillness.next_pass()
        self._shortage = None
        self._scan = inbox.scan(self._inbox, self._settings, self._scan, time.monotonic())
        self._tell(self._scan.problems)
        with Tolerance() as tolerance:
            more = self._take_settled(tolerance, until=time.monotonic() + self._settings.rescan_seconds)
            for mount in (b"", *self._scan.mounts):
                self._work_through(tolerance, PrivateFolder(self._inbox / os.fsdecode(mount)))
            self._arrivals.scanned(str(self._inbox), len(self._scan.waiting), _paused(self._shortage))
        self._goes_on_or_not()
        restless = self._stillness.is_waited_for
        hopeful = restless or any(found.byte_count for found in self._scan.waiting)
        soonest = [self._settings.quiet_for_seconds] if restless else []
        soonest += [] if self._scan.next_in is None else [self._scan.next_in]
        return Look(min(soonest, default=None), hopeful, more)

    # From the inbox into the private folder

    def _take_settled(self, tolerance: Tolerance, *, until: float) -> bool:
        """Take what settled, the most urgent first; whether the time was up before all were."""
        settled = sorted(self._scan.settled, key=lambda found: -self._rule(found.path).priority)
        self._left &= {_identity(found) for found in settled}
        for found in settled:
            if time.monotonic() > until:
                return True
            tolerance.run(functools.partial(self._each, found.path, functools.partial(self._take, found)))
        return False

    def _take(self, found: Found) -> None:
        if _identity(found) in self._left or not self._has_room(found.byte_count):
            return
        if found.linked:
            self._take_in_place(found, "is behind a link")
            return
        folder = PrivateFolder(self._inbox / os.fsdecode(found.mount))
        try:
            held = folder.claim(self._inbox, found)
        except FileNotFoundError:
            raise
        except OSError as error:
            if is_full(error):
                raise
            self._take_in_place(found, f"cannot be moved ({error.strerror or error})")
        else:
            self._take_held(folder, held)

    def _take_in_place(self, found: Found, cause: str) -> None:
        """Read a file that is not moved, once for each version of it."""
        if not self._arrivals.knows(_identity(found)):
            path = self._inbox / os.fsdecode(found.path)
            self._log(self._ordered(Source(path, os.fsencode(path), follow=found.linked), found.path, uuid.uuid4()))
            level = logging.INFO if self._left else logging.WARNING  # one such file says enough of a whole folder
            logger.log(level, "%s %s: it is read once and left where it is", display_name(found.path), cause)
        self._left.add(_identity(found))

    def _take_held(self, folder: PrivateFolder, held: Held) -> None:
        assert held.file is not None
        raw_path = os.fsencode(self._inbox / os.fsdecode(held.path))
        arrived = self._ordered(Source(held.file, raw_path, stays=False), held.path, held.token)
        self._stillness.forget(held.token)
        self._log(arrived)
        if not self._intake.holds(held.file, arrived.sha256):
            self._take_as_new(folder, held)

    def _ordered(self, source: Source, path: bytes, token: uuid.UUID) -> Arrived:
        rule = self._rule(path)
        return self._intake.take(source, handler=rule.type, priority=rule.priority, origin="inbox", token=token)

    # From the private folder to the last place

    def _work_through(self, tolerance: Tolerance, folder: PrivateFolder) -> None:
        tokens = folder.tokens()
        for start in range(0, len(tokens), TOKENS_A_QUERY):
            for due in self._arrivals.due(tokens[start : start + TOKENS_A_QUERY]):
                go_on = functools.partial(self._go_on, folder, due)
                tolerance.run(functools.partial(self._each, str(due.token).encode(), go_on))

    def _go_on(self, folder: PrivateFolder, due: Unplaced) -> None:
        """Do what comes next for a file, wherever it stands."""
        held = folder.held(due.token)
        if due.arrival_id is None:
            if held.file is not None and self._stillness.is_settled(held) and self._has_room(held.file.stat().st_size):
                self._take_held(folder, held)
        elif held.file is not None:
            self._dispose(folder, held, held.file, due)
        elif not due.placed:
            self._place(None, held.path, due)
        folder.clean(due.token)

    def _dispose(self, folder: PrivateFolder, held: Held, file: Path, due: Unplaced) -> None:
        """Move a file of an ended document to its place, once nobody can write to it and it is what was taken."""
        # In this order: what is compared after the last writer is gone stays as it is.
        released = self._stillness.is_released(held)
        was_open = self._stillness.was_open(due.token)  # a mapped file changes without its time
        if due.placed or self._has_changed(file, due, in_any_case=released and was_open):
            self._take_as_new(folder, held)
        elif released:
            self._place(file, held.path, due)

    def _place(self, file: Path | None, path: bytes, due: Unplaced) -> None:
        place = self._placing.place(file, path, due)
        self._stillness.forget(due.token)
        logger.info("document %s %s: its file is %s", due.document_id, due.ended, place or "gone")

    def _take_as_new(self, folder: PrivateFolder, held: Held) -> None:
        """A file was written to after it was taken: what it is now is another version, once it has settled again."""
        logger.info("%s changed after it was taken: it is taken again", display_name(held.path))
        self._stillness.is_settled(folder.renew(held))
        self._stillness.forget(held.token)
        self._arrivals.placed(held.token)
        folder.clean(held.token)

    def _has_changed(self, file: Path, due: Unplaced, *, in_any_case: bool) -> bool:
        """Whether it has other bytes than were taken. `in_any_case` compares them whatever its time says."""
        status = file.lstat()
        unchanged = (status.st_size, status.st_mtime_ns) == (due.byte_count, due.mtime_ns)
        if due.sha256 is None or (unchanged and not in_any_case):
            return False
        return not self._intake.holds(file, due.sha256)

    # What goes wrong, told once

    def _each(self, key: bytes, action: Callable[[], None]) -> None:
        """Do something for one file. Whatever is wrong with that file is told once and stops nothing; outages pass."""
        try:
            action()
        except FileNotFoundError as error:
            logger.info("gone before it was taken: %s", error.filename)
        except Exception as error:
            if is_outage(error):
                raise
            expected = isinstance(error, OSError | DocumentError)
            self._report(key, in_a_line(error), cause=None if expected else error)
        else:
            self._told.pop(key, None)

    def _tell(self, problems: Sequence[Problem]) -> None:
        for problem in problems:
            self._report(problem.path, problem.error)

    def _report(
        self, key: bytes, message: str, *, level: int = logging.WARNING, cause: Exception | None = None
    ) -> None:
        if self._told.get(key) != message:
            self._told[key] = message
            logger.log(level, "%s: %s", display_name(key), message, exc_info=cause)

    def _look_in_any_case(self) -> Look:
        try:
            look = self.look()
        except Exception as error:  # noqa: BLE001 - the watcher outlives whatever there is
            self._pause(error)
            return Look()
        return look

    def _has_room(self, byte_count: int) -> bool:
        """Whether a file may be taken in now. One that may not stays where it is; what needs no room goes on."""
        shortage = self._room.shortage(byte_count)
        self._shortage = shortage or self._shortage
        return shortage is None

    def _goes_on_or_not(self) -> None:
        """Tell it when intake has paused for want of room, or goes on."""
        if self._shortage is not None:
            if self._paused_by is None:
                logger.error("intake pauses, files stay where they are: %s", self._shortage)
            self._paused_by = self._shortage
        elif self._paused_by is not None:
            logger.warning("intake goes on")
            self._paused_by = None

    def _pause(self, error: Exception) -> None:
        if self._paused_by is None:
            expected = is_outage(error) or isinstance(error, OSError)
            logger.error("intake pauses, files stay where they are: %s", in_a_line(error), exc_info=not expected)
        self._paused_by = in_a_line(error)
        if not isinstance(error, SQLAlchemyError):
            with contextlib.suppress(SQLAlchemyError):
                self._arrivals.scanned(str(self._inbox), len(self._scan.waiting), _paused(self._paused_by))

    def _rule(self, path: bytes) -> Rule:
        return inbox.rule_for(path, self._settings.rules)

    def _log(self, arrived: Arrived) -> None:
        what = {
            State.DUPLICATE: f"duplicate of document {arrived.document_id}",
            State.REJECTED: f"document {arrived.document_id} rejected: {arrived.reason}",
        }.get(arrived.state, f"document {arrived.document_id} {arrived.state}, pages: {arrived.page_count}")
        logger.info("%s: %s", arrived.name, what)


def _identity(found: Found) -> Identity:
    return Identity(found.device, found.inode, found.byte_count, found.mtime_ns)


def _paused(cause: str | None) -> str | None:
    return None if cause is None else f"paused: {clean(cause)}"

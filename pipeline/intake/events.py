"""Being told that something moved in the inbox: a hint that saves waiting, never a reason to believe anything.

Each mount in the inbox is listened to or not by its own file system: network file systems and some containers tell
nothing of what others write. A burst may lose events, too. Then the next scan comes when it is due, and nothing else is
different.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from watchfiles import watch

from pipeline.documents import mounts
from pipeline.documents.mounts import Mount
from pipeline.documents.text import display_name
from pipeline.intake.private_folder import FOLDER

_STEP_SECONDS = 0.25
_DEBOUNCE_MS = 400
_ANSWER_MS = 500  # how soon after it began listening the first answer comes
_AGAIN_AFTER_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """Where to listen, each time with all that is below, and which mounts are scanned only, with their kinds.

    `mounts` are all there are: when they are others, listening begins anew.
    """

    heard: tuple[Path, ...]
    silent: tuple[tuple[Path, str], ...]
    mounts: frozenset[bytes]


def plan(folder: Path, found: list[Mount]) -> Plan:
    """Decide for each mount of an inbox whether it is listened to. Pure, but for links in the folder's own path."""
    top, below = mounts.mount_of(folder, found), mounts.mounts_below(folder, found)
    places = {folder: top} | {folder / os.fsdecode(path): mount for path, mount in below.items()}
    silent = {place: mount.kind for place, mount in places.items() if mount is not None and mount.is_remote}
    # Listening to the inbox includes what is mounted below, whatever it is: events from there are welcome.
    heard = [folder] if folder not in silent else [place for place in places if place not in silent]
    return Plan(tuple(sorted(heard)), tuple(sorted(silent.items())), frozenset(below))


class InboxEvents:
    """A thread that listens for changes below a folder while the context is open.

    `read_mounts` says what is mounted; `rescan_seconds` is only told.
    """

    def __init__(
        self, folder: Path, *, rescan_seconds: float, read_mounts: Callable[[], list[Mount]] = mounts.read
    ) -> None:
        self._folder = folder
        self._rescan_seconds = rescan_seconds
        self._read_mounts = read_mounts
        self._plan = Plan((), (), frozenset())
        self._stop = threading.Event()
        self._renewed = threading.Event()
        self._changed = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="inbox-events", daemon=True)

    def __enter__(self) -> Self:
        self.listen_where_it_helps()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._renewed.set()
        self._thread.join()

    def listen_where_it_helps(self) -> None:
        """Look what is mounted, and listen anew when it is not what it was. Cheap; call it now and then."""
        now = plan(self._folder, self._read_mounts())
        if now == self._plan:
            return
        for place, kind in sorted(set(now.silent) - set(self._plan.silent)):
            logger.info(
                "%s is on %s, which may tell of no changes: it is scanned every %g s instead",
                display_name(os.fsencode(place)),
                kind,
                self._rescan_seconds,
            )
        self._plan = now
        self._renewed.set()

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        """Until something changed, somebody stops, or the time is up; whether something changed."""
        latest = time.monotonic() + seconds
        while not stop.is_set() and (left := latest - time.monotonic()) > 0:
            if self._changed.wait(min(left, _STEP_SECONDS)):
                break
        changed = self._changed.is_set()
        self._changed.clear()
        return changed

    def _listen(self) -> None:
        pause = _AGAIN_AFTER_SECONDS
        while not self._stop.is_set():
            began = time.monotonic()
            # A new one each time, and before the plan is read: whoever changes the plan later ends this round.
            self._renewed = renewed = threading.Event()
            if self._stop.is_set():
                return
            try:
                self._pass_on(self._plan.heard, renewed)
            except Exception as error:  # noqa: BLE001 - scans find everything without a single event
                # A name that is no text is an error to the library: also then something has changed.
                self._changed.set()
                logger.info("no events from %s for a while (%s): it is scanned instead", self._folder, error)
            if renewed.is_set():
                continue
            listened = time.monotonic() - began
            pause = _AGAIN_AFTER_SECONDS if listened > pause else min(2 * pause, _LONGEST_PAUSE_SECONDS)
            self._stop.wait(pause)

    def _pass_on(self, heard: tuple[Path, ...], renewed: threading.Event) -> None:
        if not heard:
            renewed.wait()
            return
        changes = watch(
            *heard,
            watch_filter=_is_of_others,
            debounce=_DEBOUNCE_MS,
            stop_event=renewed,
            rust_timeout=_ANSWER_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        # What came between the last scan and the first moment of listening raised no event: the first answer is one.
        for number, changed in enumerate(changes):
            if changed or number == 0:
                self._changed.set()


def _is_of_others(_change: object, path: str) -> bool:
    return FOLDER not in Path(path).parts

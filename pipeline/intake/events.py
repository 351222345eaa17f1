"""Being told that something moved in the inbox: a hint that saves waiting, never a reason to believe anything.

Network file systems and some containers deliver no events, and a burst may lose some. Then the next scan comes when it
is due, and nothing else is different.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from watchfiles import watch

from pipeline.intake.private_folder import FOLDER

_STEP_SECONDS = 0.25
_DEBOUNCE_MS = 400
_ANSWER_MS = 500  # how soon after it began listening the first answer comes
_AGAIN_AFTER_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
# File systems on which what another machine writes raises no event here.
_SILENT = ("nfs", "cifs", "smb", "9p", "fuse", "virtiofs", "vboxsf", "ceph", "gluster", "afs")

logger = logging.getLogger(__name__)


class InboxEvents:
    """A thread that listens for changes below a folder while the context is open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stop = threading.Event()
        self._changed = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="inbox-events", daemon=True)

    def __enter__(self) -> Self:
        kind = file_system_of(self._folder, _mounts())
        if kind.startswith(_SILENT):
            logger.info("%s is on %s, which may tell of no changes: it is scanned instead", self._folder, kind)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()

    def wait(self, stop: threading.Event, seconds: float) -> None:
        """Until something changed, somebody stops, or the time is up."""
        latest = time.monotonic() + seconds
        while not stop.is_set() and (left := latest - time.monotonic()) > 0:
            if self._changed.wait(min(left, _STEP_SECONDS)):
                break
        self._changed.clear()

    def _listen(self) -> None:
        pause = _AGAIN_AFTER_SECONDS
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                self._pass_on()
            except Exception as error:  # noqa: BLE001 - scans find everything without a single event
                # A name that is no text is an error to the library: also then something has changed.
                self._changed.set()
                logger.info("no events from %s for a while (%s): it is scanned instead", self._folder, error)
            listened = time.monotonic() - began
            pause = _AGAIN_AFTER_SECONDS if listened > pause else min(2 * pause, _LONGEST_PAUSE_SECONDS)
            self._stop.wait(pause)

    def _pass_on(self) -> None:
        changes = watch(
            self._folder,
            watch_filter=_is_of_others,
            debounce=_DEBOUNCE_MS,
            stop_event=self._stop,
            rust_timeout=_ANSWER_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        )
        # What came between the last scan and the first moment of listening raised no event: the first answer is one.
        for number, changed in enumerate(changes):
            if changed or number == 0:
                self._changed.set()


def file_system_of(folder: Path, mounts: str) -> str:
    """The kind of file system a folder is on, by a text as /proc/self/mounts has it; "" when that does not say."""
    best, kind = "", ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].encode().decode("unicode_escape")
        if os.path.commonpath([point, folder.resolve()]) == point and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind


def _mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text("utf-8", "replace")
    except OSError:
        return ""


def _is_of_others(_change: object, path: str) -> bool:
    return FOLDER not in Path(path).parts

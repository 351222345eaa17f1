"""Counts a file's pages inside a parser child: at intake, too, no other process parses what came from outside."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType

from pipeline.config import WorkerSettings
from pipeline.documents.contract import Inspection
from pipeline.documents.opening import opened
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from pipeline.worker.deaths import ChildDied
from pipeline.worker.frames import BrokenFrame, Frame, inspection_of, known_reason
from pipeline.worker.process import ChildProcess
from pipeline.worker.provision import Provisioner


class Inspector:
    """One child for many files, replaced when it dies. A context; use it from the thread that entered it."""

    def __init__(self, settings: WorkerSettings, child: ChildProcess, provision: Provisioner) -> None:
        self._settings = settings
        self._child = child
        child.only_count()
        self._provision = provision
        self._lock = threading.Lock()

    def __enter__(self) -> Inspector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.kill()

    def inspect(self, path: Path, name: str) -> Inspection:
        """What triage says of a file. Raises DocumentError; after the death of its child there is one more try."""
        with self._lock:
            try:
                return self._ask(path, name)
            except ChildDied:
                pass
            try:
                return self._ask(path, name)
            except ChildDied as died:
                raise DocumentError(died.death.reason, f"counting its pages failed: {died.death.error}") from died

    def _ask(self, path: Path, name: str) -> Inspection:
        self._child.ensure()
        with opened(path) as (file, _):
            self._child.assign({"kind": "inspect", "name": name}, file, self._provision())
        frame = self._child.receive(self._settings.open_seconds)
        if frame is None:
            self._child.kill()
            seconds = self._settings.open_seconds
            raise DocumentError(
                Reason.TIMEOUT, f"counting its pages took longer than worker.open_seconds ({seconds:g} s)"
            )
        return _inspection(frame)


def _inspection(frame: Frame) -> Inspection:
    if frame["kind"] == "inspected":
        try:
            return inspection_of(frame)
        except BrokenFrame as error:
            raise DocumentError(Reason.CORRUPT, f"its pages cannot be counted: {error}") from error
    raise DocumentError(known_reason(frame.get("reason")), str(frame.get("error", "it cannot be read"))[:500])

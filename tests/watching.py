"""An inbox of a test's own, its watcher, and the wait for what is going to be true."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from pipeline.config import Settings
from pipeline.config_reading import settings_from
from pipeline.intake.recipe import Intake
from pipeline.intake.watcher import Watcher
from tests.taking import build_intake

QUIET_SECONDS = 0.2
LIMIT_SECONDS = 60


def settings(home: Path, **inbox: Any) -> Settings:
    """Settings of a folder whose inbox is quick to judge."""
    quick = {
        "quiet_for_seconds": QUIET_SECONDS,
        "rescan_seconds": 0.3,
        "empty_grace_seconds": 600,
        "min_free_megabytes": 0,
    }
    (home / "inbox").mkdir(parents=True, exist_ok=True)
    return settings_from({"inbox": quick | inbox, "data_dir": "."}, home=home)


def build_watcher(engine: Engine, home: Path, *, intake: Intake | None = None, **inbox: Any) -> Watcher:
    """A watcher of home/inbox, with its store in home/store."""
    return Watcher(intake=intake or build_intake(engine, home / "store"), settings=settings(home, **inbox))


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """The watcher at work in a thread."""
    stop = threading.Event()
    thread = threading.Thread(target=watcher.run, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def until(condition: Callable[[], bool]) -> None:
    """Wait for something to become true; fail when it never does."""
    limit = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < limit, "it never came true"
        time.sleep(0.02)


def drop(home: Path, name: str | bytes, content: bytes) -> Path:
    """Put a file into the inbox at once, as a rename does."""
    path = home / "inbox" / os.fsdecode(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    passing = home / "passing"
    passing.write_bytes(content)
    passing.rename(path)
    return path


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path there, but for what a watcher moves just now."""
    found: dict[str, bytes] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            with suppress(FileNotFoundError):
                found[str(path.relative_to(folder))] = path.read_bytes()
    return dict(sorted(found.items()))

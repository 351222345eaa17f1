"""What every command begins with: the settings of the folder, and an App on them."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from pipeline import database
from pipeline.app import App, open_app
from pipeline.cli import INTERRUPTED
from pipeline.config import Settings
from pipeline.config_reading import load


def settings_of(ctx: click.Context) -> Settings:
    """The settings of the folder that --dir names."""
    home = ctx.find_root().obj
    return load(home if isinstance(home, Path) else Path())


@contextmanager
def app_of(ctx: click.Context, *, check_schema: bool = True) -> Iterator[App]:
    """An App for as long as the command runs, named after it in pg_stat_activity."""
    settings, name = settings_of(ctx), ctx.info_name or "command"
    with database.refusals_told(), open_app(settings, name=name, check_schema=check_schema) as app:
        yield app


def stop_at_signal() -> threading.Event:
    """An event that the first SIGTERM or SIGINT sets; a second one ends the process. Call it from the main thread."""
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            sys.exit(INTERRUPTED)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    return stop

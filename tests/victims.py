"""Watchers that die at a step of the test's choosing, in processes of their own."""

from __future__ import annotations

import functools
import importlib
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import URL

from pipeline import database
from tests import pooling
from tests.watching import build_watcher


def dies(url: URL, home: Path, step: str, when: str) -> bool:
    """Let a watcher look through home/inbox once and be killed right before or after a step; whether it came there.

    A step is named `module:function` or `module:Class.method`.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    victim = context.Process(target=_watch, args=(url.render_as_string(hide_password=False), home, step, when))
    victim.start()
    victim.join()
    assert victim.exitcode in (0, -signal.SIGKILL)
    return victim.exitcode != 0


def _watch(url: str, home: Path, step: str, when: str) -> None:
    module_name, _, path = step.partition(":")
    owner: Any = importlib.import_module(module_name)
    *classes, name = path.split(".")
    for each in classes:
        owner = getattr(owner, each)
    setattr(owner, name, _deadly(getattr(owner, name), when))
    address = database.parse_url(url)
    engine = database.open_engine(address, pooling.settings_for(address), name="victim")
    build_watcher(engine, home).run_once()


def _deadly(step: Callable[..., Any], when: str) -> Callable[..., Any]:
    @functools.wraps(step)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        step(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("a process does not survive SIGKILL")

    return wrapped

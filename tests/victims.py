"""Who dies at a step of the test's choosing, in a process of its own: a watcher, or a command that takes files in."""

from __future__ import annotations

import functools
import importlib
import itertools
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine

from pipeline import database
from pipeline.intake import ingesting
from pipeline.intake.ingesting import Taken, Wanted
from tests import pooling
from tests.taking import build_intake
from tests.watching import build_watcher


def dies(url: URL, home: Path, step: str, when: str) -> bool:
    """Let a watcher look through home/inbox once and be killed right before or after a step; whether it came there.

    A step is named `module:function` or `module:Class.method`.
    """
    return _dies(_watch, url, home, step, when)


def dies_taking(url: URL, home: Path, step: str, when: str, turn: int) -> bool:
    """The same of a command that takes in home/pile, when it comes to the step for that turn, counted from 1."""
    return _dies(_take, url, home, step, when, turn)


def _dies(target: Callable[..., None], url: URL, *arguments: Any) -> bool:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    victim = context.Process(target=target, args=(url.render_as_string(hide_password=False), *arguments))
    victim.start()
    victim.join()
    assert victim.exitcode in (0, -signal.SIGKILL)
    return victim.exitcode != 0


def _watch(url: str, home: Path, step: str, when: str) -> None:
    with _engine(url, step, when, turn=1) as engine:
        build_watcher(engine, home).run_once()


def _take(url: str, home: Path, step: str, when: str, turn: int) -> None:
    with _engine(url, step, when, turn) as engine:
        take_pile(engine, home)


def take_pile(engine: Engine, home: Path) -> list[Taken]:
    """Take in all of home/pile, as the command does, with the store in home/store."""
    paths, wanted = sorted((home / "pile").iterdir()), Wanted("auto", 0, None)
    intake = build_intake(engine, home / "store")
    return [taken for group in ingesting.take_all(intake, paths, wanted) for taken in group]


@contextmanager
def _engine(url: str, step: str, when: str, turn: int) -> Iterator[Engine]:
    module_name, _, path = step.partition(":")
    owner: Any = importlib.import_module(module_name)
    *classes, name = path.split(".")
    for each in classes:
        owner = getattr(owner, each)
    setattr(owner, name, _deadly(getattr(owner, name), when, turn))
    address = database.parse_url(url)
    engine = database.open_engine(address, pooling.settings_for(address), name="victim")
    yield engine
    engine.dispose()


def _deadly(step: Callable[..., Any], when: str, turn: int) -> Callable[..., Any]:
    turns = itertools.count(1)

    @functools.wraps(step)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        if next(turns) != turn:
            return step(*arguments, **named)
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        step(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("a process does not survive SIGKILL")

    return wrapped

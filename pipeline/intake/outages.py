"""Telling an outage from a bad file: one file that meets trouble is passed over, two in a row are an outage.

A disk that is about to be full is told before anything fails on it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from pipeline.config import MEGABYTE
from pipeline.database import is_refusal
from pipeline.errors import Unavailable

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_outage(error: BaseException) -> bool:
    """Whether database, store or disk are away or refuse whatever is asked, so that the same file may be fine later."""
    if isinstance(error, DBAPIError):
        is_away = isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated
        return is_away or is_refusal(error)
    return isinstance(error, Unavailable | NoConnectionFree) or is_full(error)


def is_full(error: BaseException) -> bool:
    """Whether a disk has no room left."""
    return isinstance(error, OSError) and error.errno in _FULL


def in_a_line(error: BaseException) -> str:
    """The first line of what an error says; a database's without the statement."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return next(iter(str(cause).strip().splitlines()), type(cause).__name__)


class Tolerance:
    """Runs actions of which one may meet an outage: a store that fails for one file must not stop all others.

    The second outage in a row is raised at once; a single one when the context ends.
    """

    def __init__(self) -> None:
        self._met: Exception | None = None
        self._in_a_row = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None and self._met is not None:
            raise self._met

    def run(self, action: Callable[[], None]) -> None:
        """Run an action. Raises what it raises, but an outage only if the action before met one too."""
        try:
            action()
        except Exception as error:
            self._in_a_row += 1
            if not is_outage(error) or self._in_a_row > 1:
                raise
            self._met = error
        else:
            self._in_a_row = 0


class Room:
    """The room on the disk of the store, of which `min_free_megabytes` are left alone; 0 for none."""

    def __init__(self, store: Path, *, min_free_megabytes: float) -> None:
        self._store = store
        self._min_free_megabytes = min_free_megabytes

    def shortage(self, byte_count: int) -> str | None:
        """Why a file of that size is not to be taken in now; None when it may be, or when nobody can tell."""
        free = self._free_bytes() if self._min_free_megabytes > 0 else None
        if free is None or free - byte_count >= self._min_free_megabytes * MEGABYTE:
            return None
        return (
            f"the disk of the store {self._store} has {free / MEGABYTE:,.1f} MB free, of which"
            f" inbox.min_free_megabytes keeps {self._min_free_megabytes:g}, and a file of"
            f" {byte_count / MEGABYTE:,.1f} MB waits: free some space there; work goes on by itself"
        )

    def _free_bytes(self) -> int | None:
        for folder in (self._store, *self._store.parents):
            try:
                found = os.statvfs(folder)
            except FileNotFoundError:  # the store is made when something is first kept
                continue
            except OSError:
                return None
            return found.f_bavail * found.f_frsize
        return None

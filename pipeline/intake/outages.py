"""Telling an outage from a bad file: one file that meets trouble is passed over, two in a row are an outage."""

from __future__ import annotations

import errno
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionFree

from pipeline.errors import Unavailable

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_outage(error: BaseException) -> bool:
    """Whether database, store or disk are away, so that the same file may be fine later."""
    if isinstance(error, DBAPIError):
        return isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated
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

"""Patience with the database: what an attempt writes is fenced, so it may be repeated until there is an answer.

A database that is away is waited for; one that refuses what it was given ends the attempt.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim
from pipeline.queue.settle import Fault
from pipeline.reasons import Reason
from pipeline.worker.ends import End
from pipeline.worker.held import boottime
from pipeline.worker.stopping import Stopping

PAUSE_SECONDS = 0.5
PAUSE_CAP_SECONDS = 10.0
PAUSE_SHARE = 0.1  # of a lease: pauses that grow past it would lose what they wait for
LIMIT_EXCEEDED = "54"  # SQLSTATE class: the value is larger than PostgreSQL takes, and will be the next time

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Patience:
    """Runs an attempt's statements. Every error it lets through is LeaseLost or End."""

    def __init__(self, claim: Claim, stopping: Stopping) -> None:
        self._ids = (claim.task_id, claim.attempt_no)
        self._stopping = stopping
        self._retry_at = 0.0
        self._longest = min(PAUSE_CAP_SECONDS, PAUSE_SHARE * claim.lease_seconds)
        self._pause = min(PAUSE_SECONDS, self._longest)

    @property
    def is_away(self) -> bool:
        """Whether the last answer was none."""
        return self._retry_at > 0

    @property
    def may_ask(self) -> bool:
        """Whether it is time to ask, after a pause if there was no answer the last time."""
        return self.asks_in <= 0

    @property
    def asks_in(self) -> float:
        """Seconds until it is time to ask, 0.0 when it is."""
        return max(self._retry_at - boottime(), 0.0)

    def insist(self, write: Callable[[], T]) -> T:
        """The answer, however long it takes. When everything must be given back and there is none: LeaseLost."""
        while True:
            try:
                return self._once(write)
            except (DBAPIError, PoolTimeout) as error:
                self._note_outage(error)
                if self._stopping.must_release:
                    raise LeaseLost(*self._ids) from error
            self._stopping.pause(self._pause)

    def attempt(self, write: Callable[[], object]) -> bool:
        """Try once; whether there was an answer."""
        try:
            self._once(write)
        except (DBAPIError, PoolTimeout) as error:
            self._note_outage(error)
            return False
        return True

    def _once(self, write: Callable[[], T]) -> T:
        try:
            answer = write()
        except DBAPIError as error:
            if _is_transient(error):
                raise
            fault = Fault.PERMANENT if _is_about_the_value(error) else Fault.TRANSIENT
            raise End(fault, Reason.DATABASE_ERROR, first_line(error)) from error
        self._retry_at, self._pause = 0.0, min(PAUSE_SECONDS, self._longest)
        return answer

    def _note_outage(self, error: Exception) -> None:
        if not self.is_away:
            logger.warning("task %d: attempt %d: the database is away: %s", *self._ids, first_line(error))
        else:
            self._pause = min(self._pause * 2, self._longest)
        self._retry_at = boottime() + self._pause


def first_line(error: Any) -> str:
    """What a database said, in a line."""
    text = str(getattr(error, "orig", None) or error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _is_transient(error: DBAPIError) -> bool:
    is_away = isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated
    return is_away and not _is_about_the_value(error)


def _is_about_the_value(error: DBAPIError) -> bool:
    state = getattr(error.orig, "sqlstate", None) or ""
    return isinstance(error, DataError) or state.startswith(LIMIT_EXCEEDED)

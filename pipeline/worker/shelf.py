"""Tasks that were claimed together and wait for their turn. None waits for long: its lease runs, and others are idle.

What was not begun in time is given back, fenced and uncharged: the document had no part in it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from sqlalchemy.exc import SQLAlchemyError

from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim
from pipeline.queue.settle import Counts, Fault, decide
from pipeline.queue.store import Queue
from pipeline.reasons import Reason
from pipeline.worker.held import boottime
from pipeline.worker.patience import first_line

WAIT_SECONDS = 1.0  # five times what a claim is worth
WAIT_SHARE = 0.1  # of a lease
RETRY_SECONDS = 0.5

logger = logging.getLogger(__name__)


class Shelf:
    """What a claim that was asked for at `asked_at` brought and nobody has begun.

    Long ones come last, so that they keep nobody waiting; among equals the best rank is first.
    """

    def __init__(self, queue: Queue, claims: Sequence[Claim], asked_at: float) -> None:
        self._queue = queue
        self._claims = sorted(claims, key=lambda claim: (claim.ocr_page_count, claim.page_count))
        shortest = min((claim.lease_seconds for claim in claims), default=0.0)
        self._until = asked_at + min(WAIT_SECONDS, WAIT_SHARE * shortest)
        self._retry_at = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether all were begun or given back."""
        return not self._claims

    @property
    def is_overdue(self) -> bool:
        """Whether they have waited for too long."""
        return boottime() > self._until

    def take(self) -> Claim | None:
        """The next one to begin, None when there is none."""
        return self._claims.pop(0) if self._claims else None

    def give_back(self, why: str) -> bool:
        """Put all back in line; whether any went. When the database does not answer, the rest stays for a next time."""
        if boottime() < self._retry_at:
            return False
        before = len(self._claims)
        try:
            while self._claims:
                self._release(self._claims[-1], why)
                self._claims.pop()
        except SQLAlchemyError as error:
            self._retry_at = boottime() + RETRY_SECONDS
            logger.warning("tasks that nobody began cannot be given back yet: %s", first_line(error))
        if given := before - len(self._claims):
            logger.info("gave back %d tasks that nobody began: %s", given, why)
        return given > 0

    def _release(self, claim: Claim, why: str) -> None:
        counts = Counts(claim.failure_count, claim.crash_count, claim.release_count)
        decision = decide(Fault.PAUSE, counts, self._queue.limits, jitter=0)
        try:
            self._queue.fail(claim, decision, reason=Reason.RELEASED, error=f"nobody began it: {why}")
        except LeaseLost:
            logger.info("task %d: the lease of attempt %d was lost before it began", claim.task_id, claim.attempt_no)

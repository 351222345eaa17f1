"""What an attempt has finished, and its way into the database: every write under the fence, pages before the end.

Renewal is a by-product of progress: a checkpoint stores finished pages and renews the lease in one fenced transaction.
Whatever ends the attempt, pages that are finished are stored first: the next attempt begins after them.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from pipeline.documents.text import Page, clean
from pipeline.errors import LeaseLost
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.model import Claim, Usage
from pipeline.queue.settle import Counts, Fault, decide
from pipeline.reasons import Reason
from pipeline.worker.busyness import Busyness
from pipeline.worker.ends import End
from pipeline.worker.equipment import Equipment
from pipeline.worker.frames import BrokenFrame
from pipeline.worker.held import HeldLease, boottime
from pipeline.worker.patience import Patience, first_line
from pipeline.worker.stopping import Stopping

UNCHARGED = (Fault.RELEASE, Fault.PAUSE, Fault.CANCEL)

logger = logging.getLogger(__name__)


class Progress:
    """The pages of one attempt: `stored` are in the database, `unsaved` are not yet. `database` asks with patience."""

    def __init__(
        self, claim: Claim, lease: HeldLease, *, equipment: Equipment, busyness: Busyness, stopping: Stopping
    ) -> None:
        self.claim = claim
        self.lease = lease
        self.database = Patience(claim, stopping)
        self.page_count = max(claim.page_count, 1)
        self.stored = 0
        self.unsaved: list[Page] = []
        self.has_news = False
        self._queue = equipment.queue
        self._results = equipment.results
        self._busyness = busyness
        self.policy = LeasePolicy()

    @property
    def ids(self) -> tuple[int, int]:
        """Task and attempt, as they are logged."""
        return self.claim.task_id, self.claim.attempt_no

    @property
    def done(self) -> int:
        """Finished pages, those of earlier attempts among them."""
        return self.stored + len(self.unsaved)

    @property
    def came_on(self) -> bool:
        """Whether this attempt finished a page."""
        return self.done > self.claim.pages_done

    def take(self, page: Page) -> None:
        """A page is finished. Raises BrokenFrame for one out of turn."""
        if page.number != self.done + 1:
            raise BrokenFrame(f"page {page.number} out of turn")
        self.unsaved.append(page)
        self.has_news = True

    def checkpoint(self) -> None:
        """Store what is finished and renew the lease. Raises LeaseLost, and End when somebody asked to stop."""
        asked_at, done = boottime(), self.done
        left = max(self.page_count - done, 0)
        seconds = self.policy.lease_seconds(left, min(self.claim.ocr_page_count, left))
        with self._queue.checkpointing(
            self.claim, pages_done=done, lease_seconds=seconds, pages_stored=self.stored
        ) as (connection, answer):
            self._results.write_pages(connection, self.claim, self.unsaved)
        self.lease.renewed(asked_at, answer.lease_seconds)
        self.stored, self.unsaved, self.has_news = done, [], False
        self._busyness.renewed()
        if answer.cancel_requested:
            raise End(Fault.CANCEL, Reason.CANCELLED, "cancelled on request")

    def close(self, fault: Fault, reason: Reason, error: str, *, page_no: int | None, usage: Usage) -> None:
        """End an attempt that did not succeed. What is finished is stored first. Raises LeaseLost or End."""
        came_on = self.came_on
        if self.unsaved and fault not in (Fault.PERMANENT, Fault.HOSTILE):
            try:
                self.database.insist(self.checkpoint)
            except End as end:
                fault, reason, error = end.fault, end.reason, end.error
        counts = Counts(self.claim.failure_count, self.claim.crash_count, self.claim.release_count)
        jitter = random.random()  # noqa: S311 - spreads retries
        decision = decide(fault, counts, self._queue.limits, jitter=jitter, came_on=came_on)
        told = clean(error)[:1000]
        status = self.database.insist(
            lambda: self._queue.fail(self.claim, decision, reason=reason, error=told, page_no=page_no, usage=usage)
        )
        level = logging.INFO if fault in UNCHARGED else logging.WARNING
        logger.log(level, "task %d ended its attempt %d: %s (%s); now %s", *self.ids, reason, told, status)

    @contextmanager
    def last_word(self) -> Iterator[None]:
        """What to do when the end of an attempt cannot be told: nothing is raised past this."""
        try:
            yield
        except LeaseLost:
            self.lost()
        except End as end:
            # Nothing can be recorded; the sweep takes the task back.
            logger.error("task %d: attempt %d cannot be closed: %s", *self.ids, end.error)

    def lost(self) -> None:
        """Somebody else may have the task: drop the work, and note that the holder lived."""
        logger.warning("task %d: the lease of attempt %d was lost; its work is dropped", *self.ids)
        try:
            self._queue.late_finish(self.claim)
        except SQLAlchemyError as error:
            logger.warning("task %d: late finish of attempt %d not recorded: %s", *self.ids, first_line(error))

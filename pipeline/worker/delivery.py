"""A document that was read and whose result is to be committed: by itself, or with others that were short as well."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.attachments import Parent, Part
from pipeline.errors import LeaseLost
from pipeline.found import Found
from pipeline.queue.model import Claim, Completion, Outcome, Usage
from pipeline.queue.settle import Fault
from pipeline.reasons import Reason
from pipeline.worker.ends import End
from pipeline.worker.equipment import Equipment
from pipeline.worker.progress import Progress

SHORT_SECONDS = 0.1

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Delivery:
    """All that one commit has to write. `seconds` is what the attempt took."""

    equipment: Equipment
    progress: Progress
    name: str
    parent: Parent
    reason: Reason
    found: Found
    usage: Usage
    seconds: float
    parts: Sequence[Part] = ()

    @property
    def claim(self) -> Claim:
        """Whose result it is."""
        return self.progress.claim

    @property
    def may_wait(self) -> bool:
        """Whether it may wait for others: nothing of it is stored, and to do it again would cost next to nothing."""
        return not (self.parts or self.progress.stored) and self.seconds < SHORT_SECONDS

    @property
    def completion(self) -> Completion:
        """What closes its task and its attempt."""
        progress = self.progress
        return Completion(
            progress.claim, self.reason, progress.done, self.found.result, self.usage, pages_stored=progress.stored
        )

    def hand_over(self) -> None:
        """Commit it alone, or close the attempt with what came in the way. Never raises."""
        with self.progress.last_word():
            try:
                self._commit()
            except End as end:
                self._refused(end.fault, end.reason, end.error)
            except LeaseLost:
                raise
            except Exception as error:
                logger.exception("task %d: attempt %d met a fault of doclease", *self.progress.ids)
                self._refused(Fault.TRANSIENT, Reason.INTERNAL_ERROR, f"{type(error).__name__}: {error}")

    def settle(self, *, accepted: bool) -> None:
        """Note what became of it in a commit with others. Never raises.

        One that was not accepted may have been so the time before, when only the answer was lost.
        """
        with self.progress.last_word():
            if not accepted:
                self._require_success()
            self._tell()

    def _commit(self) -> None:
        try:
            self.progress.database.insist(self._write)
        except LeaseLost:
            self._require_success()
        if self.parts:
            self.equipment.notify()
        self._tell()

    def _write(self) -> None:
        claim, progress, results = self.claim, self.progress, self.equipment.results
        with self.equipment.queue.completing(
            claim,
            reason=self.reason,
            pages_done=progress.done,
            result=self.found.result,
            usage=self.usage,
            pages_stored=progress.stored,
        ) as connection:
            results.write_pages(connection, claim, progress.unsaved)
            results.write_found(connection, claim, self.found)
            self.equipment.attachments.record(
                connection, self.parent, self.parts, handler=claim.handler, policy=progress.policy
            )

    def _require_success(self) -> None:
        outcome = self.progress.database.insist(lambda: self.equipment.queue.outcome(self.claim))
        if outcome is not Outcome.SUCCEEDED:
            raise LeaseLost(*self.progress.ids)

    def _refused(self, fault: Fault, reason: Reason, error: str) -> None:
        self.progress.close(fault, reason, error, page_no=None, usage=self.usage)

    def _tell(self) -> None:
        kind, pages, task_id = self.found.result["document_type"], self.progress.done, self.claim.task_id
        logger.info(
            "task %d: read %s in %.1f s: %s, pages: %d, %s", task_id, self.name, self.seconds, kind, pages, self.reason
        )

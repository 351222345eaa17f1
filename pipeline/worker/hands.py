"""What the slots of one worker have in hand, so that a claim whose answer was lost is found and given back.

A claim can be committed although its answer never arrives: then the database says that this worker holds a task, and no
slot knows of it. Left alone, its lease would run out and the document would be blamed. The same holds for a task that
nobody began and that could not be given back, because the database was away.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Sequence

from sqlalchemy.exc import SQLAlchemyError

from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim
from pipeline.queue.settle import Counts, Fault, decide
from pipeline.queue.store import Queue
from pipeline.reasons import Reason

logger = logging.getLogger(__name__)


class Hands:
    """Shared by all slots of a worker, which claim one at a time: nobody takes another's fresh claim for a lost one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: set[uuid.UUID] = set()
        self._is_in_doubt = False

    def claim(self, queue: Queue, worker: str, ask: Callable[[], list[Claim]]) -> list[Claim]:
        """What `ask` claims; what came of a claim without an answer is given back first. Raises SQLAlchemyError."""
        with self._lock:
            self._settle(queue, worker)
            self._is_in_doubt = True
            claims = ask()
            self._is_in_doubt = False
            self._tokens.update(claim.lease_token for claim in claims)
            return claims

    def done(self, claims: Sequence[Claim], *, in_doubt: bool = False) -> None:
        """All that was claimed together has ended; `in_doubt`, when some of it could not be given back."""
        with self._lock:
            self._tokens.difference_update(claim.lease_token for claim in claims)
            self._is_in_doubt = self._is_in_doubt or in_doubt

    def leave(self, queue: Queue, worker: str) -> None:
        """The last chance to give back, when a slot ends. Never raises for a database that is away."""
        with self._lock:
            try:
                self._settle(queue, worker)
            except SQLAlchemyError as error:
                logger.warning("the last claim had no answer and still has none: %s", str(error).splitlines()[0])

    def _settle(self, queue: Queue, worker: str) -> None:
        if not self._is_in_doubt:
            return
        for claim in queue.held(worker):
            if claim.lease_token not in self._tokens:
                _give_back(queue, claim)
        self._is_in_doubt = False


def _give_back(queue: Queue, claim: Claim) -> None:
    counts = Counts(claim.failure_count, claim.crash_count, claim.release_count)
    decision = decide(Fault.RELEASE, counts, queue.limits, jitter=0)
    try:
        queue.fail(claim, decision, reason=Reason.RELEASED, error="the database was away before anybody began it")
    except LeaseLost:
        return
    logger.warning("task %d: gave back attempt %d, which nobody began", claim.task_id, claim.attempt_no)

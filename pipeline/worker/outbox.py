"""Results of short documents that wait, a tenth of a second at most, for a commit that they share.

Each is still accepted or refused by itself: one whose lease is lost drops out, and one that the database cannot take is
handed over alone, as are then the others. A worker that dies loses what waits, which is done again.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable

from pipeline.errors import LeaseLost
from pipeline.worker.delivery import Delivery
from pipeline.worker.equipment import Equipment
from pipeline.worker.held import boottime
from pipeline.worker.patience import Patience
from pipeline.worker.stopping import Stopping

LONGEST_SECONDS = 0.1

logger = logging.getLogger(__name__)


class Outbox:
    """Of one slot, used by its thread alone. Nothing here raises for what a document or the database does."""

    def __init__(self, equipment: Equipment, stopping: Stopping) -> None:
        self._queue = equipment.queue
        self._results = equipment.results
        self._stopping = stopping
        self._waiting: list[Delivery] = []
        self._due_at = 0.0
        self._database: Patience | None = None

    def put(self, delivery: Delivery) -> None:
        """Let it wait for the next commit."""
        if self._database is None:
            self._database = Patience(delivery.claim, self._stopping)
            self._due_at = boottime() + LONGEST_SECONDS
        self._waiting.append(delivery)

    @property
    def due_in(self) -> float:
        """Seconds until `tend` has something to do, endless when nothing waits."""
        if self._database is None:
            return float("inf")
        return max(self._due_at - boottime(), self._database.asks_in)

    def tend(self) -> None:
        """Commit what has waited long enough. Asks once: what gets no answer is tried again the next time."""
        if self._database is not None and self.due_in <= 0:
            self._commit(self._database.attempt)

    def flush(self) -> None:
        """Commit everything now, however long the database takes."""
        if self._database is not None:
            self._commit(self._database.insist)

    def _commit(self, ask: Callable[[Callable[[], None]], object]) -> None:
        answers: list[frozenset[uuid.UUID]] = []
        try:
            ask(lambda: answers.append(self._write()))
        except LeaseLost:  # everything must be given back, and nobody answers
            for delivery in self._taken():
                delivery.progress.lost()
        except Exception as error:  # noqa: BLE001 - whose fault it is, each finds out for itself
            logger.info("results that were to share a commit are committed one by one: %s", error)
            for delivery in self._taken():
                delivery.hand_over()
        else:
            for accepted in answers:
                for delivery in self._taken():
                    delivery.settle(accepted=delivery.claim.lease_token in accepted)

    def _write(self) -> frozenset[uuid.UUID]:
        with self._queue.completing_all([each.completion for each in self._waiting]) as (connection, accepted):
            kept = [each for each in self._waiting if each.claim.lease_token in accepted]
            self._results.write_all_pages(connection, [(each.claim, each.progress.unsaved) for each in kept])
            self._results.write_all_found(connection, [(each.claim, each.found) for each in kept])
        return accepted

    def _taken(self) -> list[Delivery]:
        waiting, self._waiting, self._database = self._waiting, [], None
        return waiting

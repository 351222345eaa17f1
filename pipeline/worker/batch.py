"""What one claim brought, until all of it has ended: tasks that wait for their turn, results that wait for a commit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from sqlalchemy.exc import SQLAlchemyError

from pipeline.queue.model import Claim
from pipeline.results import Material
from pipeline.worker.delivery import Delivery
from pipeline.worker.equipment import Equipment
from pipeline.worker.outbox import Outbox
from pipeline.worker.patience import first_line
from pipeline.worker.shelf import Shelf
from pipeline.worker.stopping import Stopping

logger = logging.getLogger(__name__)


class Batch:
    """Of one slot, used by its thread alone. `on_return` is called once tasks went back in line.

    Nothing here raises for what a document or the database does.
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        asked_at: float,
        *,
        equipment: Equipment,
        stopping: Stopping,
        on_return: Callable[[], None],
    ) -> None:
        self._equipment = equipment
        self._stopping = stopping
        self._on_return = on_return
        self._shelf = Shelf(equipment.queue, claims, asked_at)
        self._outbox = Outbox(equipment, stopping)
        self._first = self._shelf.take()
        self._materials = {} if self._shelf.is_empty else self._material_of(claims)

    def next(self) -> Claim | None:
        """The task to begin now, None when there is none left."""
        if self._first is not None:
            claim, self._first = self._first, None
            return claim
        self._give_back()
        return None if self._why_back() else self._shelf.take()

    def material(self, claim: Claim) -> Material | None:
        """What it starts from, None where it must be asked for."""
        return self._materials.get(claim.task_id)

    def put(self, delivery: Delivery) -> None:
        """A document was read: its result waits for others, or is committed with those that wait."""
        if delivery.parts:
            delivery.hand_over()
            return
        self._outbox.put(delivery)
        if not delivery.may_wait:
            self._outbox.flush()

    @property
    def due_in(self) -> float:
        """Seconds until `tend` has something to do at the latest."""
        return self._outbox.due_in

    def tend(self) -> None:
        """Look after what waits while a document is read."""
        self._outbox.tend()
        self._give_back()

    def end(self) -> bool:
        """Commit and give back the rest; False when some of it could not be given back."""
        self._outbox.flush()
        if not self._shelf.is_empty and self._shelf.give_back(self._why_back() or "its worker met a fault"):
            self._on_return()
        return self._shelf.is_empty

    def _give_back(self) -> None:
        if (why := self._why_back()) and self._shelf.give_back(why):
            self._on_return()

    def _why_back(self) -> str:
        """Why what waits for its turn goes to others, empty while it may wait."""
        if self._shelf.is_empty:
            return ""
        if self._stopping.is_draining:
            return "its worker was stopped"
        return "a document before it took long" if self._shelf.is_overdue else ""

    def _material_of(self, claims: Sequence[Claim]) -> dict[int, Material]:
        try:
            return self._equipment.results.materials(claims)
        except SQLAlchemyError as error:
            logger.info("what %d tasks start from is asked for one by one: %s", len(claims), first_line(error))
            return {}

"""A slot: a thread of the parent and one long-lived child. It claims tasks, works them one by one, and claims again."""

from __future__ import annotations

import enum
import logging
import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from pipeline.queue.model import Claim
from pipeline.queue.sweeper import Sweeper
from pipeline.queue.wakeup import Bell
from pipeline.worker.appetite import Appetite
from pipeline.worker.attempt import Attempt
from pipeline.worker.batch import Batch
from pipeline.worker.deaths import ChildDied
from pipeline.worker.equipment import Equipment
from pipeline.worker.hands import Hands
from pipeline.worker.held import HeldLease, boottime
from pipeline.worker.process import ChildProcess
from pipeline.worker.stopping import Stopping

LOOK_SECONDS = 1.0

logger = logging.getLogger(__name__)


class Until(enum.Enum):
    """When a slot ends by itself."""

    STOPPED = "stopped"
    IDLE = "idle"  # when nothing is ready
    EMPTY = "empty"  # when nothing is ready, delayed or in work anywhere


@dataclass(frozen=True, slots=True)
class SlotSettings:
    """What a slot needs to know beside its parts. `poll_seconds` is how long it waits for work without being woken."""

    poll_seconds: float
    until: Until = Until.STOPPED


class Slot:
    """Runs one document at a time until the worker stops."""

    def __init__(
        self,
        *,
        equipment: Equipment,
        sweeper: Sweeper,
        bell: Bell,
        worker_id: str,
        settings: SlotSettings,
        suspect_lane: threading.Lock,
        hands: Hands,
        child: ChildProcess,
    ) -> None:
        self._queue = equipment.queue
        self._equipment = equipment
        self._sweeper = sweeper
        self._bell = bell
        self._worker_id = worker_id
        self._settings = settings
        self._suspect_lane = suspect_lane
        self._child = child
        self._hands = hands
        self._appetite = Appetite(equipment.settings.claim_ahead_seconds)
        self._looked_at = 0.0
        self._was_idle = False

    def run(self, stopping: Stopping) -> None:
        """Claim and work until it drains, or there is nothing left if so asked."""
        try:
            while not stopping.is_draining:
                rings = self._bell.rings
                if self._serve_one(stopping):
                    continue
                if self._is_over():
                    return
                wait = self._settings.poll_seconds * (0.75 + random.random() / 2)  # noqa: S311 - spreads polls
                self._bell.wait(rings, wait)
                self._was_idle = True
        finally:
            self._child.kill()
            self._hands.leave(self._queue, self._worker_id)

    def _serve_one(self, stopping: Stopping) -> bool:
        """Whether there was a task."""
        try:
            self._child.ensure()
            self._sweeper.run_if_overdue()
            return self._claim_and_work(stopping)
        except SQLAlchemyError as error:
            logger.warning("no claim, the database is away: %s", str(error).splitlines()[0])
        except ChildDied as died:
            logger.error("the parser process does not start: %s", died)
        except Exception:
            # A slot that ends takes its share of the work along for good, and nobody sees it.
            logger.exception("a fault of doclease; the slot goes on")
            self._child.kill()
        return False

    def _claim_and_work(self, stopping: Stopping) -> bool:
        """Many at once leave out documents that took a worker down: those are asked for one at a time, every second."""
        wanted = min(self._appetite.tasks, self._child.documents_left)
        if wanted > 1 and boottime() - self._looked_at < LOOK_SECONDS:
            claims, asked_at = self._claim(wanted, suspects=False)
            if len(claims) < wanted:
                self._looked_at = 0.0
            if claims:
                self._work_off(claims, asked_at, stopping)
                return True
        return self._claim_one(stopping)

    def _claim_one(self, stopping: Stopping) -> bool:
        self._looked_at = boottime()
        has_lane = self._suspect_lane.acquire(blocking=False)
        try:
            claims, asked_at = self._claim(1, suspects=has_lane)
            if has_lane and not (claims and claims[0].is_suspect):
                # An innocent task does not keep the lane.
                self._suspect_lane.release()
                has_lane = False
            self._work_off(claims, asked_at, stopping)
            return bool(claims)
        finally:
            if has_lane:
                self._suspect_lane.release()

    def _claim(self, batch: int, *, suspects: bool) -> tuple[list[Claim], float]:
        """What was claimed, and when it was asked for at the earliest."""
        asked_at = 0.0

        def ask() -> list[Claim]:
            nonlocal asked_at
            asked_at = boottime()
            return self._queue.claim(self._worker_id, batch=batch, suspects=suspects)

        return self._hands.claim(self._queue, self._worker_id, ask), asked_at

    def _work_off(self, claims: Sequence[Claim], asked_at: float, stopping: Stopping) -> None:
        if claims and self._was_idle:
            self._was_idle = False
            self._bell.ring()  # where there was something for one, there may be something for the next
        batch = Batch(claims, asked_at, equipment=self._equipment, stopping=stopping, on_return=self._wake)
        try:
            while (claim := batch.next()) is not None:
                self._work(claim, asked_at, stopping, batch)
                self._child.ensure()
        finally:
            has_ended = batch.end()
            self._hands.done(claims, in_doubt=not has_ended)

    def _work(self, claim: Claim, asked_at: float, stopping: Stopping, batch: Batch) -> None:
        began_at = boottime()
        lease = HeldLease(asked_at, claim.lease_seconds)
        delivery = Attempt(
            claim, lease, child=self._child, equipment=self._equipment, stopping=stopping, batch=batch
        ).run()
        if delivery is not None:
            batch.put(delivery)
        self._appetite.cost(boottime() - began_at)

    def _wake(self) -> None:
        """Tasks went back in line: somebody idle may begin them, here or elsewhere."""
        self._bell.ring()
        self._equipment.notify()

    def _is_over(self) -> bool:
        match self._settings.until:
            case Until.STOPPED:
                return False
            case Until.IDLE:
                return True
            case Until.EMPTY:
                return not self._has_live_tasks()

    def _has_live_tasks(self) -> bool:
        try:
            return self._queue.has_live_tasks()
        except SQLAlchemyError:
            return True

"""A slot: a thread of the parent and one long-lived child. It claims a task, drives the attempt, and claims again."""

from __future__ import annotations

import enum
import logging
import random
import threading
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from pipeline.queue.model import Claim
from pipeline.queue.sweeper import Sweeper
from pipeline.queue.wakeup import Bell
from pipeline.worker.attempt import Attempt
from pipeline.worker.deaths import ChildDied
from pipeline.worker.equipment import Equipment
from pipeline.worker.hands import Hands
from pipeline.worker.held import HeldLease, boottime
from pipeline.worker.process import ChildProcess
from pipeline.worker.stopping import Stopping

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
        has_lane = self._suspect_lane.acquire(blocking=False)
        try:
            claims, asked_at = self._claim(has_lane)
            if has_lane and not (claims and claims[0].is_suspect):
                # An innocent task does not keep the lane.
                self._suspect_lane.release()
                has_lane = False
            for claim in claims:
                try:
                    self._work(claim, asked_at, stopping)
                finally:
                    self._hands.done(claim)
            return bool(claims)
        finally:
            if has_lane:
                self._suspect_lane.release()

    def _claim(self, has_lane: bool) -> tuple[list[Claim], float]:
        """What was claimed, and when it was asked for at the earliest."""
        asked_at = 0.0

        def ask() -> list[Claim]:
            nonlocal asked_at
            asked_at = boottime()
            return self._queue.claim(self._worker_id, suspects=has_lane)

        return self._hands.claim(self._queue, self._worker_id, ask), asked_at

    def _work(self, claim: Claim, asked_at: float, stopping: Stopping) -> None:
        attempt = Attempt(
            claim,
            HeldLease(asked_at, claim.lease_seconds),
            child=self._child,
            equipment=self._equipment,
            stopping=stopping,
        )
        attempt.run()

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

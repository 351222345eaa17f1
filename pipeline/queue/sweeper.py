"""The background jobs of the queue: sweep, promote, calibrate. Nothing else schedules.

Every worker process runs them by APScheduler, and `doclease sweep` runs them alone. No leader: any one alive is enough,
and sweep.sql keeps several apart. A job that overlaps itself or comes late is run once (max_instances=1, coalesce,
misfire_grace_time=None), so a stall of the process never stops it for good.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy.exc import SQLAlchemyError

from pipeline.queue.model import SweepReport
from pipeline.queue.store import Queue

CALIBRATE_SECONDS = 600

logger = logging.getLogger(__name__)


class Sweeper:
    """Takes back expired leases and promotes delayed tasks every `interval_seconds`, with a little jitter.

    `on_work` is called when tasks came back in line.
    """

    def __init__(
        self,
        queue: Queue,
        *,
        worker: str,
        interval_seconds: float,
        batch: int,
        on_work: Callable[[], None],
        learn: bool = True,
    ) -> None:
        self._queue = queue
        self._worker = worker
        self._interval_seconds = interval_seconds
        self._batch = batch
        self._on_work = on_work
        self._learn = learn
        self._scheduler: BackgroundScheduler | None = None
        self._sweeping = threading.Lock()
        self._last_sweep = time.monotonic()

    def start(self) -> None:
        """Run the jobs in the background until `stop`."""
        scheduler = BackgroundScheduler(
            timezone="UTC",
            job_defaults={"max_instances": 1, "coalesce": True, "misfire_grace_time": None},
        )
        jitter = self._interval_seconds / 10
        scheduler.add_job(self._safely(self.run_once), "interval", seconds=self._interval_seconds, jitter=jitter)
        if self._learn:
            scheduler.add_job(self._safely(self._queue.calibrate), "interval", seconds=CALIBRATE_SECONDS, jitter=60)
        scheduler.start()
        self._scheduler = scheduler

    def stop(self) -> None:
        """End the jobs; one that is under way is finished first."""
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=True)
            self._scheduler = None

    def run_once(self) -> SweepReport:
        """Sweep and promote until nothing is left to take; returns what the last sweep did."""
        with self._sweeping:
            self._last_sweep = time.monotonic()
            report = self._sweep()
            promoted = self._queue.promote(batch=self._batch)
        if report.taken or promoted:
            self._on_work()
        return report

    def run_if_overdue(self) -> None:
        """Sweep now if the scheduler has not for two intervals: a worker calls this before it claims.

        So recovery does not hang on one thread. Errors are left to the claim that follows.
        """
        if time.monotonic() - self._last_sweep > 2 * self._interval_seconds and not self._sweeping.locked():
            self._safely(self.run_once)()

    def _sweep(self) -> SweepReport:
        while True:
            report = self._queue.sweep(worker=self._worker, interval_seconds=self._interval_seconds, batch=self._batch)
            for swept in report.taken:
                logger.warning(
                    "took back task %d (attempt %d): no progress within its lease; now %s",
                    swept.task_id,
                    swept.attempt_no,
                    swept.status,
                )
            if len(report.taken) < self._batch:
                return report

    def _safely(self, job: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            try:
                job()
            except SQLAlchemyError as error:
                logger.warning("background job put off: %s", str(error).splitlines()[0])

        return run

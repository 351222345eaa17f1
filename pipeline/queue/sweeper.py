"""The background jobs of the queue: look, sweep, promote, calibrate. Nothing else schedules.

Every worker process runs them by APScheduler, and `doclease sweep` runs them alone. No leader: any one alive is enough,
and sweep.sql keeps several apart. A job that overlaps itself or comes late is run once (max_instances=1, coalesce,
misfire_grace_time=None), so a stall of the process never stops it for good.

A look is one small statement that says what there is to do; nothing else is asked of an idle database but the sweeps.
"""

from __future__ import annotations

import datetime as dt
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from apscheduler.schedulers.background import BackgroundScheduler
from sqlalchemy.exc import SQLAlchemyError

from pipeline.queue.model import SweepReport
from pipeline.queue.store import Queue

CALIBRATE_SECONDS = 600
PATIENCE_SECONDS = 1.0  # between two looks at a worker whose session is gone
UNREST_SECONDS = 10.0  # … when it looks like the server or the network
CROWD = 8  # so many workers look as often as they can; a larger fleet looks about as often all together

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often the jobs run. `look_seconds` is also how long a task may wait whose notification was lost."""

    interval_seconds: float
    look_seconds: float
    batch: int = 500
    learn: bool = True

    def pause(self, workers: int) -> float:
        """Seconds between the looks of one of so many workers: many together look about as often as CROWD would."""
        return min(max(self.look_seconds, self.look_seconds * workers / CROWD), self.interval_seconds)


class Sweeper:
    """Takes back expired leases every interval; looks in between for what is due or ready, and who is gone.

    `on_work` is called when tasks came back in line, `on_ready` when a look saw some that are ready.
    """

    def __init__(
        self,
        queue: Queue,
        *,
        worker: str,
        rhythm: Rhythm,
        on_work: Callable[[], None],
        on_ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._queue = queue
        self._worker = worker
        self._rhythm = rhythm
        self._on_work = on_work
        self._on_ready = on_ready
        self._scheduler: BackgroundScheduler | None = None
        self._sweeping = threading.Lock()
        self._last_sweep = time.monotonic()
        self._next_look = 0.0
        self._is_away = False

    def start(self) -> None:
        """Run the jobs in the background until `stop`."""
        scheduler = BackgroundScheduler(
            timezone="UTC",
            job_defaults={"max_instances": 1, "coalesce": True, "misfire_grace_time": None},
        )
        interval, look = self._rhythm.interval_seconds, min(self._rhythm.look_seconds, self._rhythm.interval_seconds)
        scheduler.add_job(self._safely(self._judge), "interval", seconds=interval, jitter=interval / 10)
        scheduler.add_job(self._safely(self._look_in_turn), "interval", seconds=look, jitter=look / 10)
        if self._rhythm.learn:
            scheduler.add_job(self._safely(self._queue.calibrate), "interval", seconds=CALIBRATE_SECONDS, jitter=60)
        scheduler.start()
        self._scheduler = scheduler

    def stop(self) -> None:
        """End the jobs, one that is under way is finished first, and tell that the worker has ended."""
        if self._scheduler is not None:
            self._scheduler.shutdown(wait=True)
            self._scheduler = None
            self._safely(lambda: self._queue.leave(self._worker))()

    def run_once(self) -> SweepReport:
        """Sweep and promote until nothing is left to take; returns what the last sweep did."""
        report = self._sweep()
        promoted = self._queue.promote(batch=self._rhythm.batch)
        if report.taken or promoted:
            self._on_work()
        return report

    def run_if_overdue(self) -> None:
        """Sweep now if the scheduler has not for two intervals: a worker calls this before it claims.

        So recovery does not hang on one thread. Errors are left to the claim that follows.
        """
        if time.monotonic() - self._last_sweep > 2 * self._rhythm.interval_seconds and not self._sweeping.locked():
            self._safely(self.run_once)()

    def look(self) -> None:
        """See what there is to do, and do it."""
        seen = self._queue.look()
        # Half a turn early: a turn comes a little sooner or later, and this one must not be missed.
        self._next_look = time.monotonic() + self._rhythm.pause(seen.workers) - self._rhythm.look_seconds / 2
        if seen.due and self._queue.promote(batch=self._rhythm.batch):
            self._on_work()
        if seen.absent:
            self._look_for_the_absent()
        if seen.ready:
            self._on_ready()

    def look_soon(self, seconds: float = 0.0) -> None:
        """Have the next look before its turn, in the background."""
        if self._scheduler is not None:
            at = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=seconds)
            look = self._safely(self.look)
            self._scheduler.add_job(look, "date", run_date=at, id="soon", replace_existing=True)

    def _look_in_turn(self) -> None:
        if time.monotonic() >= self._next_look:
            self.look()

    def _look_for_the_absent(self) -> None:
        found = self._queue.shorten(
            worker=self._worker,
            interval_seconds=self._rhythm.interval_seconds,
            patience_seconds=PATIENCE_SECONDS,
            unrest_seconds=UNREST_SECONDS,
        )
        if found.shortened:
            logger.warning("a worker's session is gone: %d of its leases are ended", found.shortened)
            self._judge()
        if found.again:
            self.look_soon(PATIENCE_SECONDS)

    def _judge(self) -> None:
        if self._sweep().taken:
            self._on_work()

    def _sweep(self) -> SweepReport:
        with self._sweeping:
            self._last_sweep = time.monotonic()
            while True:
                report = self._sweep_a_batch()
                if len(report.taken) < self._rhythm.batch:
                    return report

    def _sweep_a_batch(self) -> SweepReport:
        report = self._queue.sweep(
            worker=self._worker, interval_seconds=self._rhythm.interval_seconds, batch=self._rhythm.batch
        )
        for swept in report.taken:
            logger.warning(
                "took back task %d (attempt %d): no progress within its lease; now %s",
                swept.task_id,
                swept.attempt_no,
                swept.status,
            )
        return report

    def _safely(self, job: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            try:
                job()
                self._is_away = False
            except SQLAlchemyError as error:
                # Once for each time the database is away, not with every look.
                level = logging.DEBUG if self._is_away else logging.WARNING
                self._is_away = True
                logger.log(level, "background job put off: %s", str(error).splitlines()[0])

        return run

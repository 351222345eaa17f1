"""One attempt, driven by the parent: the child reads, the parent stores pages, renews the lease and ends the attempt.

Renewal is a by-product of progress: a checkpoint stores finished pages and renews in one fenced transaction. Nothing
renews by a timer, so a hung parser loses its lease. One long page may have a few more leases while its child uses the
processor.

Whatever ends the attempt, pages that are finished are stored first: the next attempt begins after them.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from pipeline.config import WorkerSettings
from pipeline.documents.archive import Archive
from pipeline.documents.text import Page, clean
from pipeline.errors import LeaseLost, StoreUnavailable
from pipeline.queue.lease import LeasePolicy
from pipeline.queue.model import Claim, Outcome, Usage
from pipeline.queue.settle import Counts, Fault, decide
from pipeline.queue.store import Queue
from pipeline.reasons import Reason, Retry
from pipeline.results import Material, Results, checked_result
from pipeline.work import Job
from pipeline.worker.ends import End
from pipeline.worker.frames import BrokenFrame, Frame, job_frame, page_count_of, page_of, usage_of
from pipeline.worker.held import LAST_WORD_SECONDS, HeldLease, boottime
from pipeline.worker.inspector import known_reason
from pipeline.worker.patience import Patience, first_line
from pipeline.worker.process import ChildDied, ChildProcess, Death
from pipeline.worker.stopping import Stopping

PATIENCE_SECONDS = 0.2  # how long the parent waits for the child before it looks after the lease
BUSY_SHARE = 0.05  # a child that used this share of the time it had is working, also on a crowded machine
SHORTEST_LOOK_SECONDS = 0.5  # over less, what the system counts in ticks says nothing
DELIVERED = (Reason.OK, Reason.OK_WITH_GAPS, Reason.EMPTY_TEXT)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How an attempt is driven: seconds between checkpoints, extra leases for one page, pages a document may have."""

    checkpoint_seconds: float
    busy_extensions: int
    max_pages: int


class Attempt:
    """Drives one claim to its end. Never raises for what a document, its child or the database does."""

    def __init__(
        self,
        claim: Claim,
        lease: HeldLease,
        *,
        child: ChildProcess,
        queue: Queue,
        results: Results,
        archive: Archive,
        policy: Callable[[str], LeasePolicy],
        worker: WorkerSettings,
        pace: Pace,
        stopping: Stopping,
    ) -> None:
        self._claim = claim
        self._lease = lease
        self._child = child
        self._queue = queue
        self._results = results
        self._archive = archive
        self._find_policy = policy
        self._worker = worker
        self._pace = pace
        self._stopping = stopping
        self._page_count = max(claim.page_count, 1)
        self._name = ""
        self._stored = 0
        self._unsaved: list[Page] = []
        self._saved_at = self._step_at = self._began_at = boottime()
        self._step = "opening"
        self._extensions = 0
        self._was_busy = True
        self._cpu_at_start = self._cpu_at_grant = child.cpu_seconds()
        self._database = Patience(claim, stopping)
        self._child_is_idle = True
        self._finished = False

    def run(self) -> None:
        """Read the document and end the attempt, one way or another."""
        try:
            self._drive()
        except LeaseLost:
            self._lost()
        except End as end:
            # Nothing can be recorded; the sweep takes the task back.
            logger.error("task %d: attempt %d cannot be closed: %s", *self._ids(), end.error)
        finally:
            # Only a child that was asked for nothing more may live on.
            if not self._child_is_idle:
                self._child.kill()

    def _drive(self) -> None:
        try:
            self._read()
        except ChildDied as died:
            self._close(Fault.CRASH, died.death.reason, died.death.error, died.death.peak_rss_bytes)
        except End as end:
            self._close(end.fault, end.reason, end.error, 0 if self._child_is_idle else self._child.kill())
        except LeaseLost:
            raise
        except Exception as error:
            logger.exception("task %d: attempt %d met a fault of doclease", *self._ids())
            self._child.kill()
            self._close(Fault.TRANSIENT, Reason.INTERNAL_ERROR, f"{type(error).__name__}: {error}")

    def _read(self) -> None:
        self._policy = self._database.insist(lambda: self._find_policy(self._claim.handler))
        self._begin(self._database.insist(self._material))
        while not self._finished:
            frame = self._child.receive(PATIENCE_SECONDS)
            if frame is not None:
                self._on_frame(frame)
            if not self._finished:
                self._tend()

    def _material(self) -> Material:
        return self._results.material(self._claim, skip_after_crashes=self._worker.skip_page_after_crashes)

    # What the child says

    def _begin(self, material: Material) -> None:
        path = self._stored_bytes(material.sha256)
        self._name = material.name
        self._stored = len(material.stored)
        if self._stored:
            logger.info("task %d: attempt %d goes on at page %d of %s", *self._ids(), self._stored + 1, self._name)
        job = Job(
            path=path,
            name=material.name,
            handler=self._claim.handler,
            max_pages=self._pace.max_pages,
            stored=material.stored,
            skip=material.skip,
        )
        self._child_is_idle = False
        self._child.send(job_frame(job, cpu_seconds=self._claim.deadline_seconds))

    def _stored_bytes(self, sha256: str) -> Path:
        """Where the document's bytes are, looked at whole: what was damaged on disk must not become a result."""
        path = self._archive.path_of(sha256)
        if not path.is_file():
            missing = f"its bytes are not in the store at {path}; every worker must see the same data_dir"
            raise End(Fault.TRANSIENT, Reason.IO_ERROR, missing)
        try:
            is_whole = self._archive.verify(sha256)
        except StoreUnavailable as error:
            raise End(Fault.TRANSIENT, Reason.IO_ERROR, str(error)) from error
        if not is_whole:
            damaged = f"its bytes in the store at {path} are damaged; restore them from a backup or send the file again"
            raise End(Fault.TRANSIENT, Reason.IO_ERROR, damaged)
        return path

    def _on_frame(self, frame: Frame) -> None:
        self._step_at = boottime()
        try:
            match frame["kind"]:
                case "opened":
                    self._page_count = page_count_of(frame)
                case "page":
                    self._take_page(page_of(frame.get("page", {})))
                case "finished":
                    self._child_is_idle = True
                    self._complete(frame)
                case "refused":
                    self._child_is_idle = True
                    self._refused(frame)
                case other:
                    raise BrokenFrame(f"a frame of kind {other[:20]!r}")
        except BrokenFrame as error:
            raise self._killed(Reason.CRASH, f"the parser answered nonsense: {error}") from error
        done = self._stored + len(self._unsaved)
        self._step = f"page {done + 1}" if done < self._page_count else "the handler"

    def _take_page(self, page: Page) -> None:
        if page.number != self._stored + len(self._unsaved) + 1:
            raise BrokenFrame(f"page {page.number} out of turn")
        self._unsaved.append(page)
        self._extensions = 0

    def _refused(self, frame: Frame) -> None:
        reason = known_reason(frame.get("reason"))
        error = str(frame.get("error", ""))[:500]
        if reason.retry is Retry.SUSPECT:
            raise self._killed(reason, error)
        raise End(Fault.PERMANENT if reason.retry is Retry.NEVER else Fault.TRANSIENT, reason, error)

    # What the parent looks after

    def _tend(self) -> None:
        if self._stopping.must_release:
            raise End(Fault.RELEASE, Reason.RELEASED, "the worker was stopped")
        if self._is_checkpoint_due():
            self._database.attempt(self._checkpoint)
        elif self._lease.is_running_out:
            self._extend_while_busy()
        if self._lease.is_over and self._database.is_away:
            raise End(Fault.RELEASE, Reason.RELEASED, "the database was away for longer than the lease")
        self._end_what_takes_too_long()

    def _is_checkpoint_due(self) -> bool:
        if not self._unsaved or not self._database.may_ask:
            return False
        step = 1 if self._claim.is_suspect else self._policy.step_pages
        return (
            len(self._unsaved) >= step
            or boottime() - self._saved_at >= self._pace.checkpoint_seconds
            or self._lease.is_running_out
        )

    def _extend_while_busy(self) -> None:
        if not self._database.may_ask:
            return
        if self._is_busy() and self._extensions < self._pace.busy_extensions:
            if self._database.attempt(self._checkpoint):
                self._extensions += 1
        elif self._lease.is_ending:
            self._end_step(f"made no progress within its lease of {self._claim.lease_seconds:g} s")

    def _is_busy(self) -> bool:
        elapsed = boottime() - self._saved_at
        if elapsed < SHORTEST_LOOK_SECONDS:
            return self._was_busy
        return self._child.cpu_seconds() - self._cpu_at_grant >= BUSY_SHARE * elapsed

    def _end_what_takes_too_long(self) -> None:
        allowed = self._worker.page_seconds if self._step.startswith("page") else self._worker.open_seconds
        if boottime() - self._step_at > allowed:
            key = "page_seconds" if self._step.startswith("page") else "open_seconds"
            self._end_step(f"took longer than worker.{key} ({allowed:g} s)")
        if boottime() - self._began_at > self._claim.deadline_seconds - LAST_WORD_SECONDS:
            self._end_attempt(f"the whole attempt reached its limit of {self._claim.deadline_seconds:g} s")

    def _end_attempt(self, why: str) -> None:
        """A document that comes on is given back, uncharged: the next attempt goes on at its next page."""
        if self._stored + len(self._unsaved) > self._claim.pages_done:
            raise End(Fault.PAUSE, Reason.TIMEOUT, why)
        self._end_step(f"was under way when {why}")

    def _end_step(self, what: str) -> None:
        reason = Reason.TIMEOUT if self._is_busy() else Reason.STALLED
        raise self._killed(reason, f"{self._step} {what}")

    def _killed(self, reason: Reason, error: str) -> ChildDied:
        return ChildDied(Death(reason, error, self._child.kill()))

    # What is written, always under the fence

    def _checkpoint(self) -> None:
        asked_at = boottime()
        done = self._stored + len(self._unsaved)
        left = max(self._page_count - done, 0)
        seconds = self._policy.lease_seconds(left, min(self._claim.ocr_page_count, left))
        with self._queue.checkpointing(self._claim, pages_done=done, lease_seconds=seconds) as (connection, answer):
            self._results.write_pages(connection, self._claim, self._unsaved)
        self._lease.renewed(asked_at, answer.lease_seconds)
        self._stored, self._unsaved = done, []
        self._was_busy = self._is_busy()
        self._saved_at = boottime()
        self._cpu_at_grant = self._child.cpu_seconds()
        if answer.cancel_requested:
            raise End(Fault.CANCEL, Reason.CANCELLED, "cancelled on request")

    def _complete(self, frame: Frame) -> None:
        self._finished = True
        reason = known_reason(frame.get("reason"))
        if reason not in DELIVERED:
            raise BrokenFrame(f"finished with reason {reason}")
        usage = Usage(*usage_of(frame))
        result = checked_result(frame.get("result"))

        def write() -> None:
            done = self._stored + len(self._unsaved)
            with self._queue.completing(
                self._claim, reason=reason, pages_done=done, result=result, usage=usage
            ) as connection:
                self._results.write_pages(connection, self._claim, self._unsaved)

        try:
            self._database.insist(write)
        except LeaseLost:
            if self._database.insist(lambda: self._queue.outcome(self._claim)) is not Outcome.SUCCEEDED:
                raise
            # The commit had arrived; only its answer was lost.
        kind, pages = result["document_type"], self._stored + len(self._unsaved)
        seconds = boottime() - self._began_at
        logger.info(
            "task %d: read %s in %.1f s: %s, pages: %d, %s", self._ids()[0], self._name, seconds, kind, pages, reason
        )

    def _close(self, fault: Fault, reason: Reason, error: str, peak_rss_bytes: int = 0) -> None:
        """End an attempt that did not succeed. What is finished is stored first."""
        self._finished = True
        page_no = self._stored + len(self._unsaved) + 1 if self._step.startswith("page") else None
        if self._unsaved and fault is not Fault.PERMANENT:
            try:
                self._database.insist(self._checkpoint)
            except End as end:
                fault, reason, error = end.fault, end.reason, end.error
        counts = Counts(self._claim.failure_count, self._claim.crash_count, self._claim.release_count)
        decision = decide(fault, counts, self._queue.limits, jitter=random.random())  # noqa: S311 - spreads retries
        told = clean(error)[:1000]
        status = self._database.insist(
            lambda: self._queue.fail(
                self._claim, decision, reason=reason, error=told, page_no=page_no, usage=self._usage(peak_rss_bytes)
            )
        )
        level = logging.INFO if fault in (Fault.RELEASE, Fault.PAUSE, Fault.CANCEL) else logging.WARNING
        logger.log(level, "task %d ended its attempt %d: %s (%s); now %s", *self._ids(), reason, told, status)

    def _lost(self) -> None:
        logger.warning("task %d: the lease of attempt %d was lost; its work is dropped", *self._ids())
        try:
            self._queue.late_finish(self._claim)
        except SQLAlchemyError as error:
            logger.warning("task %d: late finish of attempt %d not recorded: %s", *self._ids(), first_line(error))

    def _usage(self, peak_rss_bytes: int) -> Usage:
        # A child that is gone cannot be asked any more; what it had used at the last checkpoint is certain.
        used = max(self._child.cpu_seconds(), self._cpu_at_grant) - self._cpu_at_start
        return Usage(cpu_seconds=used if used > 0 else None, peak_rss_bytes=peak_rss_bytes or None)

    def _ids(self) -> tuple[int, int]:
        return self._claim.task_id, self._claim.attempt_no

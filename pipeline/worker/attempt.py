"""One attempt, driven by the parent: the child reads, the parent stores pages, renews the lease and ends the attempt.

Renewal is a by-product of progress: a checkpoint stores finished pages and renews in one fenced transaction. Nothing
renews by a timer, so a hung parser loses its lease. One long page may have a few more leases while its child uses the
processor.

Whatever ends the attempt, pages that are finished are stored first: the next attempt begins after them.
"""

from __future__ import annotations

import logging
import random

from sqlalchemy.exc import SQLAlchemyError

from pipeline.attachments import Parent, Part
from pipeline.config import LimitSettings
from pipeline.documents.text import Page, clean
from pipeline.errors import LeaseLost
from pipeline.found import checked
from pipeline.queue.model import Claim, Outcome, Usage
from pipeline.queue.settle import Counts, Fault, decide
from pipeline.reasons import Reason, Retry
from pipeline.results import Material
from pipeline.worker import carrying
from pipeline.worker.busyness import Busyness
from pipeline.worker.deaths import ChildDied, Death
from pipeline.worker.ends import End
from pipeline.worker.equipment import Equipment
from pipeline.worker.frames import (
    BrokenFrame,
    Frame,
    Unpacked,
    known_reason,
    page_count_of,
    page_of,
    stored_frames,
    unpacked_of,
    usage_of,
)
from pipeline.worker.held import LAST_WORD_SECONDS, HeldLease, boottime
from pipeline.worker.patience import Patience, first_line
from pipeline.worker.process import ChildProcess
from pipeline.worker.recollection import Recollection
from pipeline.worker.stopping import Stopping

PATIENCE_SECONDS = 0.2  # how long the parent waits for the child before it looks after the lease
SECONDS_A_PART = 10.0  # by which each file that was unpacked puts off the end of the attempt
NOTHING_KNOWN = Material("", "", Parent(0, None, 0, None, 0))
DELIVERED = (Reason.OK, Reason.OK_WITH_GAPS, Reason.EMPTY_TEXT)

logger = logging.getLogger(__name__)


class Attempt:
    """Drives one claim to its end. Never raises for what a document, its child or the database does."""

    def __init__(
        self,
        claim: Claim,
        lease: HeldLease,
        *,
        child: ChildProcess,
        equipment: Equipment,
        stopping: Stopping,
    ) -> None:
        self._claim = claim
        self._lease = lease
        self._child = child
        self._equipment = equipment
        self._queue = equipment.queue
        self._worker = equipment.settings
        self._stopping = stopping
        self._page_count = max(claim.page_count, 1)
        self._name = ""
        self._start = NOTHING_KNOWN
        self._stored = 0
        self._unsaved: list[Page] = []
        self._parts: list[Part] = []
        self._limits = LimitSettings()
        self._has_news = False
        self._step_at = self._began_at = boottime()
        self._step = "opening"
        self._extensions = 0
        self._busyness = Busyness(child)
        self._database = Patience(claim, stopping)
        self._recollection = Recollection(equipment.memory, self._database)
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
        self._policy = self._database.insist(lambda: self._equipment.policy(self._claim.handler))
        self._begin(self._database.insist(self._material))
        while not self._finished:
            frame = self._child.receive(PATIENCE_SECONDS)
            if frame is not None:
                self._on_frame(frame)
            if not self._finished:
                self._tend()

    def _material(self) -> Material:
        return self._equipment.results.material(self._claim, skip_after_crashes=self._worker.skip_page_after_crashes)

    # What the child says

    def _begin(self, material: Material) -> None:
        self._name, self._start = material.name, material
        self._stored = len(material.stored)
        if self._stored:
            logger.info("task %d: attempt %d goes on at page %d of %s", *self._ids(), self._stored + 1, self._name)
        request = carrying.request(self._claim, material)
        with carrying.document(self._equipment.archive, material.sha256) as file:
            self._child_is_idle = False
            provision = self._equipment.provision()
            self._limits = provision.limits
            allowed = carrying.allowance(provision, material)
            self._child.assign(request, file, allowed, stored_frames(material.stored))

    def _on_frame(self, frame: Frame) -> None:
        self._step_at = boottime()
        try:
            match frame["kind"]:
                case "opened":
                    self._page_count = page_count_of(frame)
                case "page":
                    self._take_page(page_of(frame.get("page", {})))
                case "attachment":
                    self._take_part(unpacked_of(frame.get("attachment", {})))
                case "issuer":
                    self._child.tell(self._recollection.answer(frame))
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
        self._step = f"page {self._done + 1}" if self._done < self._page_count else "what follows the pages"

    @property
    def _done(self) -> int:
        return self._stored + len(self._unsaved)

    def _take_page(self, page: Page) -> None:
        if page.number != self._done + 1:
            raise BrokenFrame(f"page {page.number} out of turn")
        self._unsaved.append(page)
        self._has_news = True
        self._extensions = 0

    def _take_part(self, unpacked: Unpacked) -> None:
        self._parts.append(carrying.part(unpacked, self._child, self._equipment.archive, self._limits))
        self._has_news = True
        self._child.go_on()

    def _refused(self, frame: Frame) -> None:
        reason = known_reason(frame.get("reason"))
        error = str(frame.get("error", ""))[:500]
        if reason.retry is Retry.SUSPECT:
            raise self._killed(reason, error)
        if reason is Reason.BOMB:
            raise End(Fault.HOSTILE, reason, error)
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
        if not self._has_news or not self._database.may_ask:
            return False
        step = 1 if self._claim.is_suspect else self._policy.step_pages
        return (
            len(self._unsaved) >= step
            or boottime() - self._busyness.renewed_at >= self._equipment.pace.checkpoint_seconds
            or self._lease.is_running_out
        )

    def _extend_while_busy(self) -> None:
        if not self._database.may_ask:
            return
        if self._busyness.is_busy() and self._extensions < self._equipment.pace.busy_extensions:
            if self._database.attempt(self._checkpoint):
                self._extensions += 1
        elif self._lease.is_ending:
            self._end_step(f"made no progress within its lease of {self._claim.lease_seconds:g} s")

    def _end_what_takes_too_long(self) -> None:
        allowed = self._worker.page_seconds if self._step.startswith("page") else self._worker.open_seconds
        if boottime() - self._step_at > allowed:
            key = "page_seconds" if self._step.startswith("page") else "open_seconds"
            self._end_step(f"took longer than worker.{key} ({allowed:g} s)")
        deadline_seconds = self._claim.deadline_seconds + SECONDS_A_PART * len(self._parts)
        if boottime() - self._began_at > deadline_seconds - LAST_WORD_SECONDS:
            self._end_attempt(f"the whole attempt reached its limit of {self._claim.deadline_seconds:g} s")

    def _end_attempt(self, why: str) -> None:
        """A document that comes on is given back, uncharged: the next attempt goes on at its next page."""
        if self._done > self._claim.pages_done:
            raise End(Fault.PAUSE, Reason.TIMEOUT, why)
        self._end_step(f"was under way when {why}")

    def _end_step(self, what: str) -> None:
        reason = Reason.TIMEOUT if self._busyness.is_busy() else Reason.STALLED
        raise self._killed(reason, f"{self._step} {what}")

    def _killed(self, reason: Reason, error: str) -> ChildDied:
        return ChildDied(Death(reason, error, self._child.kill()))

    # What is written, always under the fence

    def _checkpoint(self) -> None:
        asked_at = boottime()
        done = self._done
        left = max(self._page_count - done, 0)
        seconds = self._policy.lease_seconds(left, min(self._claim.ocr_page_count, left))
        with self._queue.checkpointing(
            self._claim, pages_done=done, lease_seconds=seconds, pages_stored=self._stored
        ) as (connection, answer):
            self._equipment.results.write_pages(connection, self._claim, self._unsaved)
        self._lease.renewed(asked_at, answer.lease_seconds)
        self._stored, self._unsaved, self._has_news = done, [], False
        self._busyness.renewed()
        if answer.cancel_requested:
            raise End(Fault.CANCEL, Reason.CANCELLED, "cancelled on request")

    def _complete(self, frame: Frame) -> None:
        self._finished = True
        reason = known_reason(frame.get("reason"))
        if reason not in DELIVERED:
            raise BrokenFrame(f"finished with reason {reason}")
        usage = Usage(*usage_of(frame))
        found = checked(frame.get("result"))

        def write() -> None:
            with self._queue.completing(
                self._claim,
                reason=reason,
                pages_done=self._done,
                result=found.result,
                usage=usage,
                pages_stored=self._stored,
            ) as connection:
                self._equipment.results.write_pages(connection, self._claim, self._unsaved)
                self._equipment.results.write_found(connection, self._claim, found)
                self._equipment.attachments.record(
                    connection, self._start.parent, self._parts, handler=self._claim.handler, policy=self._policy
                )

        try:
            self._database.insist(write)
        except LeaseLost:
            if self._database.insist(lambda: self._queue.outcome(self._claim)) is not Outcome.SUCCEEDED:
                raise
            # The commit had arrived; only its answer was lost.
        if self._parts:
            self._equipment.notify()
        kind, pages = found.result["document_type"], self._done
        seconds = boottime() - self._began_at
        logger.info(
            "task %d: read %s in %.1f s: %s, pages: %d, %s", self._ids()[0], self._name, seconds, kind, pages, reason
        )

    def _close(self, fault: Fault, reason: Reason, error: str, peak_rss_bytes: int = 0) -> None:
        """End an attempt that did not succeed. What is finished is stored first."""
        self._finished = True
        page_no = self._done + 1 if self._step.startswith("page") else None
        came_on = self._done > self._claim.pages_done
        if fault is Fault.CRASH and page_no is not None and len(self._start.skip) >= self._worker.max_skipped_pages:
            fault = Fault.HOSTILE
            error = f"{error}; worker.max_skipped_pages ({self._worker.max_skipped_pages}) are skipped already"
        if self._unsaved and fault not in (Fault.PERMANENT, Fault.HOSTILE):
            try:
                self._database.insist(self._checkpoint)
            except End as end:
                fault, reason, error = end.fault, end.reason, end.error
        counts = Counts(self._claim.failure_count, self._claim.crash_count, self._claim.release_count)
        jitter = random.random()  # noqa: S311 - spreads retries
        decision = decide(fault, counts, self._queue.limits, jitter=jitter, came_on=came_on)
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
        used = self._busyness.used_seconds()
        return Usage(cpu_seconds=used if used > 0 else None, peak_rss_bytes=peak_rss_bytes or None)

    def _ids(self) -> tuple[int, int]:
        return self._claim.task_id, self._claim.attempt_no

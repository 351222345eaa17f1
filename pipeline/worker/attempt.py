"""One attempt, driven by the parent: the child reads, the parent stores pages, renews the lease and ends the attempt.

Nothing renews by a timer, so a hung parser loses its lease. One long page may have a few more leases while its child
uses the processor.
"""

from __future__ import annotations

import logging

from pipeline.attachments import Parent, Part
from pipeline.config import LimitSettings
from pipeline.documents.text import Page
from pipeline.errors import LeaseLost
from pipeline.found import checked
from pipeline.queue.model import Claim, Usage
from pipeline.queue.settle import Fault
from pipeline.reasons import Reason, Retry
from pipeline.results import Material
from pipeline.worker import carrying
from pipeline.worker.batch import Batch
from pipeline.worker.busyness import Busyness
from pipeline.worker.deaths import ChildDied, Death
from pipeline.worker.delivery import Delivery
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
from pipeline.worker.process import ChildProcess
from pipeline.worker.progress import Progress
from pipeline.worker.recollection import Recollection
from pipeline.worker.stopping import Stopping

PATIENCE_SECONDS = 0.2  # how long the parent waits for the child before it looks after the lease
SECONDS_A_PART = 10.0  # by which each file that was unpacked puts off the end of the attempt
NOTHING_KNOWN = Material("", "", Parent(0, None, 0, None, 0))
DELIVERED = (Reason.OK, Reason.OK_WITH_GAPS, Reason.EMPTY_TEXT)

logger = logging.getLogger(__name__)


class Attempt:
    """Drives one claim to its end. Never raises for what a document, its child or the database does.

    `batch` is what was claimed along with it: it is looked after whenever the attempt looks after its lease.
    """

    def __init__(
        self,
        claim: Claim,
        lease: HeldLease,
        *,
        child: ChildProcess,
        equipment: Equipment,
        stopping: Stopping,
        batch: Batch,
    ) -> None:
        self._claim = claim
        self._lease = lease
        self._child = child
        self._equipment = equipment
        self._worker = equipment.settings
        self._stopping = stopping
        self._batch = batch
        self._name = ""
        self._start = NOTHING_KNOWN
        self._parts: list[Part] = []
        self._limits = LimitSettings()
        self._step_at = self._began_at = boottime()
        self._step = "opening"
        self._extensions = 0
        self._busyness = Busyness(child)
        self._progress = Progress(claim, lease, equipment=equipment, busyness=self._busyness, stopping=stopping)
        self._database = self._progress.database
        self._recollection = Recollection(equipment.memory, self._database)
        self._child_is_idle = True
        self._is_over = False
        self._delivery: Delivery | None = None

    def run(self) -> Delivery | None:
        """Read the document. What was read is to be committed by the caller; None when the attempt ended otherwise."""
        try:
            with self._progress.last_word():
                self._drive()
        finally:
            # Only a child that was asked for nothing more may live on.
            if not self._child_is_idle:
                self._child.kill()
        return self._delivery

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
            logger.exception("task %d: attempt %d met a fault of doclease", *self._progress.ids)
            self._child.kill()
            self._close(Fault.TRANSIENT, Reason.INTERNAL_ERROR, f"{type(error).__name__}: {error}")

    def _read(self) -> None:
        self._progress.policy = self._database.insist(lambda: self._equipment.policy(self._claim.handler))
        self._begin(self._batch.material(self._claim) or self._database.insist(self._material))
        while not self._is_over:
            frame = self._child.receive(min(PATIENCE_SECONDS, max(self._batch.due_in, 0)))
            if frame is not None:
                self._on_frame(frame)
            if not self._is_over:
                self._tend()

    def _material(self) -> Material:
        return self._equipment.results.material(self._claim, skip_after_crashes=self._worker.skip_page_after_crashes)

    # What the child says

    def _begin(self, material: Material) -> None:
        self._name, self._start = material.name, material
        self._progress.stored = stored = len(material.stored)
        if stored:
            logger.info("task %d: attempt %d goes on at page %d of %s", *self._progress.ids, stored + 1, self._name)
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
                    self._progress.page_count = page_count_of(frame)
                case "page":
                    self._take_page(page_of(frame.get("page", {})))
                case "attachment":
                    self._take_part(unpacked_of(frame.get("attachment", {})))
                case "issuer":
                    self._child.tell(self._recollection.answer(frame))
                case "finished":
                    self._child_is_idle = True
                    self._deliver(frame)
                case "refused":
                    self._child_is_idle = True
                    self._refused(frame)
                case other:
                    raise BrokenFrame(f"a frame of kind {other[:20]!r}")
        except BrokenFrame as error:
            raise self._killed(Reason.CRASH, f"the parser answered nonsense: {error}") from error
        done = self._progress.done
        self._step = f"page {done + 1}" if done < self._progress.page_count else "what follows the pages"

    def _take_page(self, page: Page) -> None:
        self._progress.take(page)
        self._extensions = 0

    def _take_part(self, unpacked: Unpacked) -> None:
        self._parts.append(carrying.part(unpacked, self._child, self._equipment.archive, self._limits))
        self._progress.has_news = True
        self._child.go_on()

    def _deliver(self, frame: Frame) -> None:
        reason = known_reason(frame.get("reason"))
        if reason not in DELIVERED:
            raise BrokenFrame(f"finished with reason {reason}")
        found = checked(frame.get("result"))
        self._delivery = Delivery(
            equipment=self._equipment,
            progress=self._progress,
            name=self._name,
            parent=self._start.parent,
            reason=reason,
            found=found,
            usage=Usage(*usage_of(frame)),
            seconds=boottime() - self._began_at,
            parts=self._parts,
        )
        self._is_over = True

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
        self._batch.tend()
        if self._is_checkpoint_due():
            self._database.attempt(self._progress.checkpoint)
        elif self._lease.is_running_out:
            self._extend_while_busy()
        if self._lease.is_over and self._database.is_away:
            raise End(Fault.RELEASE, Reason.RELEASED, "the database was away for longer than the lease")
        self._end_what_takes_too_long()

    def _is_checkpoint_due(self) -> bool:
        progress = self._progress
        if not progress.has_news or not self._database.may_ask:
            return False
        step = 1 if self._claim.is_suspect else progress.policy.step_pages
        return (
            len(progress.unsaved) >= step
            or boottime() - self._busyness.renewed_at >= self._equipment.pace.checkpoint_seconds
            or self._lease.is_running_out
        )

    def _extend_while_busy(self) -> None:
        if not self._database.may_ask:
            return
        if self._busyness.is_busy() and self._extensions < self._equipment.pace.busy_extensions:
            if self._database.attempt(self._progress.checkpoint):
                self._extensions += 1
        elif self._lease.is_ending:
            self._end_step(f"made no progress within its lease of {self._claim.lease_seconds:g} s")

    def _end_what_takes_too_long(self) -> None:
        allowed = self._worker.page_seconds if self._step.startswith("page") else self._worker.open_seconds
        if boottime() - self._step_at > allowed:
            key = "page_seconds" if self._step.startswith("page") else "open_seconds"
            self._end_step(f"took longer than worker.{key} ({allowed:g} s)")
        deadline_seconds = self._claim.deadline_seconds + SECONDS_A_PART * len(self._parts)
        if boottime() - self._lease.claimed_at > deadline_seconds - LAST_WORD_SECONDS:
            self._end_attempt(f"the whole attempt reached its limit of {self._claim.deadline_seconds:g} s")

    def _end_attempt(self, why: str) -> None:
        """A document that comes on is given back, uncharged: the next attempt goes on at its next page."""
        if self._progress.came_on:
            raise End(Fault.PAUSE, Reason.TIMEOUT, why)
        self._end_step(f"was under way when {why}")

    def _end_step(self, what: str) -> None:
        reason = Reason.TIMEOUT if self._busyness.is_busy() else Reason.STALLED
        raise self._killed(reason, f"{self._step} {what}")

    def _killed(self, reason: Reason, error: str) -> ChildDied:
        return ChildDied(Death(reason, error, self._child.kill()))

    def _close(self, fault: Fault, reason: Reason, error: str, peak_rss_bytes: int = 0) -> None:
        """End an attempt that did not succeed."""
        self._is_over = True
        page_no = self._progress.done + 1 if self._step.startswith("page") else None
        if fault is Fault.CRASH and page_no is not None and len(self._start.skip) >= self._worker.max_skipped_pages:
            fault = Fault.HOSTILE
            error = f"{error}; worker.max_skipped_pages ({self._worker.max_skipped_pages}) are skipped already"
        self._progress.close(fault, reason, error, page_no=page_no, usage=self._usage(peak_rss_bytes))

    def _usage(self, peak_rss_bytes: int) -> Usage:
        used = self._busyness.used_seconds()
        return Usage(cpu_seconds=used if used > 0 else None, peak_rss_bytes=peak_rss_bytes or None)

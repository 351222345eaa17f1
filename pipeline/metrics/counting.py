"""The parts of a worker, counting what they do. Each counts what the database has confirmed, and changes nothing."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext

from pipeline.config import WorkerSettings
from pipeline.documents.text import Page
from pipeline.metrics import catalogue
from pipeline.metrics.counts import Counts
from pipeline.queue.model import Checkpoint, Claim, Completion, NewTask, Outcome, SweepReport
from pipeline.queue.settle import Decision, Limits
from pipeline.queue.states import FINAL, Status
from pipeline.queue.store import Queue
from pipeline.reasons import Reason
from pipeline.results import Results
from pipeline.worker.hands import Hands
from pipeline.worker.process import ChildProcess

# What a transaction has written; a list of its own for each, since another thread may use the connection next.
_WRITTEN = "doclease_pages_written"


class CountingQueue(Queue):
    """A queue that counts claims, attempts, documents, recoveries, sweeps, and the pages written under its fences."""

    def __init__(self, counts: Counts, engine: Engine, *, limits: Limits, aging_ms: int) -> None:
        super().__init__(engine, limits=limits, aging_ms=aging_ms)
        self._counts = counts

    def reject(self, connection: Connection, task: NewTask, *, reason: str, **values: Any) -> int:
        """As Queue.reject; counted although the caller has yet to commit."""
        task_id = super().reject(connection, task, reason=reason, **values)
        self._counts.add(catalogue.DOCUMENTS, str(reason))
        return task_id

    def claim(self, worker: str, **values: Any) -> list[Claim]:
        """As Queue.claim."""
        claims = super().claim(worker, **values)
        self._counts.add(catalogue.CLAIMS, amount=len(claims))
        return claims

    @contextmanager
    def checkpointing(self, claim: Claim, **values: Any) -> Iterator[tuple[Connection, Checkpoint]]:
        """As Queue.checkpointing."""
        with super().checkpointing(claim, **values) as (connection, answer):
            written: list[str] = []
            connection.info[_WRITTEN] = written
            yield connection, answer
        self._count_pages(written)

    @contextmanager
    def completing_all(self, completions: Sequence[Completion]) -> Iterator[tuple[Connection, frozenset[uuid.UUID]]]:
        """As Queue.completing_all; `completing` is one of these."""
        with super().completing_all(completions) as (connection, accepted):
            written: list[str] = []
            connection.info[_WRITTEN] = written
            yield connection, accepted
        self._count_pages(written)
        for completion in completions:
            if completion.claim.lease_token in accepted:
                self._counts.add(catalogue.ATTEMPTS, Outcome.SUCCEEDED)
                self._counts.add(catalogue.DOCUMENTS, str(completion.reason))

    def fail(self, claim: Claim, decision: Decision, *, reason: str, **values: Any) -> Status:
        """As Queue.fail."""
        status = super().fail(claim, decision, reason=reason, **values)
        self._counts.add(catalogue.ATTEMPTS, decision.outcome)
        if decision.outcome is Outcome.CRASHED:
            self._counts.add(catalogue.RECOVERIES, str(reason))
        self._count_end(status, str(reason))
        return status

    def late_finish(self, claim: Claim) -> None:
        """As Queue.late_finish."""
        super().late_finish(claim)
        self._counts.add(catalogue.FALSE_RECOVERIES)

    def sweep(self, **values: Any) -> SweepReport:
        """As Queue.sweep."""
        report = super().sweep(**values)
        self._counts.add(catalogue.SWEEPS, amount=int(report.judged))
        self._counts.add(catalogue.LEASES_EXTENDED, amount=report.graced)
        for swept in report.taken:
            self._counts.add(catalogue.ATTEMPTS, Outcome.EXPIRED)
            self._counts.add(catalogue.RECOVERIES, Reason.LOST_LEASE)
            self._count_end(swept.status, Reason.LOST_LEASE)
        return report

    def _count_end(self, status: Status, reason: str) -> None:
        if status in FINAL:
            self._counts.add(catalogue.DOCUMENTS, Reason.CANCELLED if status is Status.CANCELLED else reason)

    def _count_pages(self, sources: Sequence[str]) -> None:
        for source in sources:
            self._counts.add(catalogue.PAGES, source)


class CountingResults(Results):
    """Results that note what they write, for the queue to count once it is committed."""

    def write_all_pages(self, connection: Connection, finished: Sequence[tuple[Claim, Sequence[Page]]]) -> None:
        """As Results.write_all_pages; `write_pages` is one of these."""
        super().write_all_pages(connection, finished)
        sources = (page.source.value for _, pages in finished for page in pages)
        connection.info.setdefault(_WRITTEN, []).extend(sources)


class CountingHands(Hands):
    """Hands that count the slots that have something in them."""

    def __init__(self, counts: Counts) -> None:
        super().__init__()
        self._counts = counts

    def claim(self, queue: Queue, worker: str, ask: Callable[[], list[Claim]]) -> list[Claim]:
        """As Hands.claim."""
        claims = super().claim(queue, worker, ask)
        self._counts.occupy(int(bool(claims)))
        return claims

    def done(self, claims: Sequence[Claim], *, in_doubt: bool = False) -> None:
        """As Hands.done."""
        super().done(claims, in_doubt=in_doubt)
        self._counts.occupy(-int(bool(claims)))


class CountingChild(ChildProcess):
    """A parser child whose starts are counted."""

    def __init__(self, counts: Counts, settings: WorkerSettings, module: str, *, max_file_bytes: int) -> None:
        super().__init__(settings, module, max_file_bytes=max_file_bytes)
        self._counts = counts
        counts.watch(self)

    def ensure(self) -> None:
        """As ChildProcess.ensure."""
        before = self.pid
        super().ensure()
        if self.pid != before:
            self._counts.add(catalogue.CHILD_STARTS)


def count_errors(engine: Engine, counts: Counts) -> None:
    """Count what goes wrong on the engine from now on, by SQLSTATE."""

    def note(context: ExceptionContext) -> None:
        state = getattr(context.original_exception, "sqlstate", None)
        counts.add(catalogue.DATABASE_ERRORS, state or "none")

    event.listen(engine, "handle_error", note)

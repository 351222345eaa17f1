"""What workers write, with whatever claim they have: the holder's gets through, every other one is refused."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.documents.text import Page
from pipeline.errors import LeaseLost
from pipeline.queue.model import Claim, Outcome, Usage
from pipeline.queue.settle import Counts, Decision, Fault, decide
from pipeline.queue.states import Status
from pipeline.results import Results
from tests.search.actions import Judged
from tests.search.model import WAITING, Between, Model, bounds
from tests.search.sessions import Call, Desk


@dataclass(slots=True)
class Hand:
    """What a worker believes to hold: a claim, and how many pages it knows to be stored."""

    claim: Claim
    pages_done: int


@dataclass
class Write(Judged):
    """A worker writes with a claim that may be stale. The base of the fenced writes."""

    refusals = (LeaseLost,)
    hand: Hand

    def __str__(self) -> str:
        return f"{type(self).__name__} of attempt {self.hand.claim.attempt_no} of task {self.hand.claim.task_id}"

    def allowed(self, model: Model, call: Call) -> bool:
        return model.held_with(self.hand.claim) is not None

    def locks(self, call: Call) -> set[int]:
        return {self.hand.claim.task_id}

    def _pages(self, last: int) -> list[Page]:
        claim = self.hand.claim
        return [
            Page(number, str(claim.lease_token), engine="search")
            for number in range(self.hand.pages_done + 1, last + 1)
        ]


@dataclass
class Checkpoint(Write):
    """A worker stores pages and renews its lease."""

    more: int
    lease_seconds: float
    stored: int = field(init=False)
    done: int = field(init=False)
    pages: list[Page] = field(init=False)

    def __post_init__(self) -> None:
        self.stored = self.hand.pages_done
        self.done = min(self.stored + self.more, self.hand.claim.page_count)
        self.pages = self._pages(self.done)

    def run(self, desk: Desk) -> bool:
        claim = self.hand.claim
        renewing = desk.queue.checkpointing(
            claim, pages_done=self.done, pages_stored=self.stored, lease_seconds=self.lease_seconds
        )
        with renewing as (connection, answer):
            Results(desk.engine).write_pages(connection, claim, self.pages)
        return answer.cancel_requested

    def check(self, model: Model, call: Call) -> None:
        asked = model.tasks[self.hand.claim.task_id].cancel_requested
        assert call.answer == asked, "a checkpoint tells of a cancellation"

    def apply(self, model: Model, call: Call, at: float) -> None:
        task = model.tasks[self.hand.claim.task_id]
        earliest, latest = call.began + self.lease_seconds, at + self.lease_seconds
        deadline = bounds(task.deadline)
        expires = Between(min(earliest, deadline.lowest), min(latest, deadline.highest))
        task.renewed([page.number for page in self.pages], self.done, expires)
        self.hand.pages_done = max(self.hand.pages_done, self.done)


@dataclass
class Complete(Write):
    """A worker hands in its result, with the pages that were not stored yet."""

    stored: int = field(init=False)
    pages: list[Page] = field(init=False)

    def __post_init__(self) -> None:
        self.stored = self.hand.pages_done
        self.pages = self._pages(self.hand.claim.page_count)

    def run(self, desk: Desk) -> None:
        claim = self.hand.claim
        result = {"by": str(claim.lease_token)}
        completing = desk.queue.completing(
            claim,
            reason="ok",
            pages_done=claim.page_count,
            pages_stored=self.stored,
            result=result,
            usage=Usage(),
        )
        with completing as connection:
            Results(desk.engine).write_pages(connection, claim, self.pages)

    def apply(self, model: Model, call: Call, at: float) -> None:
        claim = self.hand.claim
        numbers = [page.number for page in self.pages]
        model.tasks[claim.task_id].completed(numbers, claim.page_count, str(claim.lease_token))


@dataclass
class Fail(Write):
    """A worker ends an attempt that did not succeed, in one of the ways it can."""

    fault: Fault
    decision: Decision = field(init=False)
    came_on: bool

    def run(self, desk: Desk) -> Status:
        claim = self.hand.claim
        counts = Counts(claim.failure_count, claim.crash_count, claim.release_count)
        limits = desk.queue.limits
        self.decision = decide(self.fault, counts, limits, jitter=0.5, came_on=self.came_on)
        return desk.queue.fail(claim, self.decision, reason="io_error", error="it went wrong")

    def check(self, model: Model, call: Call) -> None:
        cancelled = model.tasks[self.hand.claim.task_id].cancel_requested and self.decision.status in WAITING
        expected = Status.CANCELLED if cancelled else self.decision.status
        assert call.answer == expected, "a task goes where it was decided"

    def apply(self, model: Model, call: Call, at: float) -> None:
        delay = self.decision.delay_seconds
        not_before = Between(call.began + delay, at + delay)
        model.tasks[self.hand.claim.task_id].ended(self.decision, call.answer, not_before)


@dataclass
class FinishLate(Judged):
    """A worker that finds its lease gone leaves its mark."""

    hand: Hand

    def run(self, desk: Desk) -> None:
        desk.queue.late_finish(self.hand.claim)

    def apply(self, model: Model, call: Call, at: float) -> None:
        attempt = model.attempt_of(self.hand.claim)
        if attempt and attempt.outcome is Outcome.EXPIRED:
            attempt.finished_late = True

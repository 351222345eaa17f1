"""What anybody does to the queue. Each action knows how to run, what answer the model allows, and what it then changes.

An answer is judged when it comes, by what is committed then; it changes the model when its transaction commits.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from pipeline.errors import IllegalMove
from pipeline.queue.model import Claim, NewTask
from pipeline.queue.states import Status
from tests.search.model import RETRIABLE, WAITING, Model
from tests.search.sessions import Call, Desk, How
from tests.search.world import AGING_MS

_ADD_DOCUMENT = text(
    "INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count)"
    " VALUES (:sha256, 'document', 'document', 'text/plain', 1, :pages) RETURNING document_id"
)


class Judged:
    """An action with a verdict. The base refuses every refusal and changes nothing."""

    refusals: ClassVar[tuple[type[Exception], ...]] = ()
    may_wait: ClassVar[bool] = True

    def run(self, desk: Desk) -> Any:
        """Do it; returns the queue's answer."""
        raise NotImplementedError

    def allowed(self, model: Model, call: Call) -> bool:
        """Whether the model lets it succeed."""
        return True

    def judge(self, model: Model, call: Call) -> None:
        """Fail when the answer is not what it must be."""
        if call.refusal is not None:
            if not isinstance(call.refusal, self.refusals):
                raise call.refusal
            assert not self.allowed(model, call), f"{self} was refused: {call.refusal!r}"
        else:
            assert self.allowed(model, call), f"{self} got through, and must not"
            self.check(model, call)

    def check(self, model: Model, call: Call) -> None:
        """Fail when what came back is not what it must be."""

    def apply(self, model: Model, call: Call, at: float) -> None:
        """Change the model as the commit changes the rows. `at` is when the answer came."""

    def locks(self, call: Call) -> set[int]:
        """The tasks that its open transaction keeps from others."""
        return set()

    def __str__(self) -> str:
        return type(self).__name__


@dataclass
class Enqueue(Judged):
    """A document comes in, or one that is known comes in anew."""

    refusals = (IntegrityError,)
    pages: int
    lease_seconds: float
    deadline_seconds: float
    priority: int
    document_id: int | None = None

    def run(self, desk: Desk) -> tuple[int, NewTask]:
        with desk.engine.begin() as connection:
            document_id = self.document_id
            if document_id is None:
                values = {"sha256": uuid.uuid4().hex * 2, "pages": self.pages}
                document_id = int(connection.execute(_ADD_DOCUMENT, values).scalar_one())
            given = (self.pages, self.lease_seconds, self.deadline_seconds)
            new = NewTask(document_id, "auto", *given, priority=self.priority)
            return desk.queue.enqueue(connection, new), new

    def allowed(self, model: Model, call: Call) -> bool:
        return self.document_id is None or model.live_task_of(self.document_id) is None

    def apply(self, model: Model, call: Call, at: float) -> None:
        task_id, new = call.answer
        model.add(task_id, new, at=call.began, aging_ms=AGING_MS)


@dataclass
class Take(Judged):
    """A worker claims. It passes over what others have locked."""

    may_wait = False
    worker: str
    batch: int
    suspects: bool

    def run(self, desk: Desk) -> list[Claim]:
        return desk.queue.claim(self.worker, batch=self.batch, suspects=self.suspects)

    def check(self, model: Model, call: Call) -> None:
        claims: list[Claim] = call.answer
        line = model.in_line(suspects=self.suspects)
        found = [claim.task_id for claim in claims]
        # A process that looked at the whole line less than a second ago may overlook what others put in front since.
        may_begin = range(len(line)) if call.how is How.AT_ONCE and model.looked_at == call.began else [0]
        allowed = [line[start : start + self.batch] for start in may_begin] or [[]]
        assert found in allowed, f"a claim takes what is first in line, {line}, not {found}"
        if call.how is How.AT_ONCE:
            model.looked_at = call.began
        for claim in claims:
            task = model.tasks[claim.task_id]
            told = (claim.attempt_no, claim.pages_done, claim.failure_count, claim.crash_count, claim.release_count)
            counts = (len(task.attempts) + 1, task.pages_done, task.failures, task.crashes, task.releases)
            assert told == counts, "a claim tells how the task stands"

    def apply(self, model: Model, call: Call, at: float) -> None:
        for claim in call.answer:
            model.tasks[claim.task_id].claimed(claim, self.worker, at)

    def locks(self, call: Call) -> set[int]:
        return {claim.task_id for claim in call.answer}


@dataclass
class Cancel(Judged):
    """Somebody asks that a task ends."""

    refusals = (IllegalMove,)
    task_id: int

    def run(self, desk: Desk) -> Status:
        return desk.queue.cancel(self.task_id)

    def allowed(self, model: Model, call: Call) -> bool:
        return model.tasks[self.task_id].status in WAITING | {Status.PROCESSING}

    def check(self, model: Model, call: Call) -> None:
        waits = model.tasks[self.task_id].status in WAITING
        assert call.answer == (Status.CANCELLED if waits else Status.PROCESSING), "what waits is cancelled at once"

    def apply(self, model: Model, call: Call, at: float) -> None:
        model.tasks[self.task_id].cancelled()

    def locks(self, call: Call) -> set[int]:
        return {self.task_id}


@dataclass
class Retry(Judged):
    """An operator puts a task in line again."""

    refusals = (IllegalMove, IntegrityError)
    task_id: int

    def run(self, desk: Desk) -> None:
        desk.queue.retry(self.task_id)

    def allowed(self, model: Model, call: Call) -> bool:
        task = model.tasks[self.task_id]
        live = model.live_task_of(task.document_id)
        return task.status in RETRIABLE and live in (None, task)

    def apply(self, model: Model, call: Call, at: float) -> None:
        model.tasks[self.task_id].retried()

    def locks(self, call: Call) -> set[int]:
        return {self.task_id}

"""The queue with one guard missing, again and again: each of these the search has to find.

Most are cuts in the statements. Three are in the hands of whoever calls them: a result or pages written beside the
fenced transaction, and a sweep in two statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Row, text

from pipeline.queue.front import Front
from pipeline.queue.model import Checkpoint, Claim
from pipeline.queue.settle import Limits
from pipeline.queue.statements import statement
from pipeline.queue.store import Queue
from tests.queue import mutation
from tests.queue.mutation import Cut
from tests.search.world import AGING_MS, World

Builder = Callable[[Engine], Queue]
Factory = Callable[[World, Limits], Builder]

OF_ATTEMPT = "AND tasks.{own} = (SELECT {column} FROM attempts WHERE attempts.lease_token = {brought})\n"
SKIP = "    FOR NO KEY UPDATE SKIP LOCKED\n"
RETRIABLE = "    AND status IN ('failed', 'quarantined', 'cancelled', 'delayed')\n"


def plain(world: World, limits: Limits) -> Builder:
    """The queue as it is, on statements that may have been cut."""
    return lambda engine: world.queue(engine, limits)


class Beside(Queue):
    """A queue of which a part runs on a connection of its own, beside the transaction it belongs to."""

    def __init__(self, engine: Engine, world: World, limits: Limits) -> None:
        super().__init__(engine, limits=limits, aging_ms=AGING_MS, front=Front(world.clock))
        self._beside = world.engine

    @classmethod
    def factory(cls, world: World, limits: Limits) -> Builder:
        """Builds queues of this kind."""
        return lambda engine: cls(engine, world, limits)


class ResultBeforeTheFence(Beside):
    """Writes the result, commits it, and then asks whether the lease is still there."""

    @contextmanager
    def completing(self, claim: Claim, **values: Any) -> Iterator[Connection]:
        """Beside the fence, before it."""
        with self._beside.begin() as connection:
            yield connection
        with super().completing(claim, **values):
            pass


class PagesBesideTheFence(Beside):
    """Passes the fence, and stores the pages in a transaction that another one's end does not touch."""

    @contextmanager
    def checkpointing(self, claim: Claim, **values: Any) -> Iterator[tuple[Connection, Checkpoint]]:
        """Beside the fence, behind it."""
        with super().checkpointing(claim, **values) as (_, answer), self._beside.begin() as connection:
            yield connection, answer


class SweepInTwoStatements(Beside):
    """Reads which leases are over, and takes back those tasks by their ids."""

    _LOCKED = "    WHERE status = 'processing'\n        AND lease_expires_at < (SELECT judged_at FROM previous)\n"

    def _all(self, name: str, **values: Any) -> list[Row[Any]]:
        if name != "sweep":
            return super()._all(name, **values)
        expired = text(
            "SELECT task_id FROM tasks WHERE status = 'processing' AND lease_expires_at < public.queue_now()"
        )
        whole = statement("sweep").text
        for guard, instead in (
            (f"{self._LOCKED}        AND (SELECT NOT", "    WHERE task_id = ANY (:expired)\n        AND (SELECT NOT"),
            (mutation.SWEEP_LOCK, mutation.SWEEP_WITHOUT_LOCK),
            (mutation.TAKEN_GUARD, mutation.TAKEN_BY_ID),
        ):
            assert guard in whole, f"sweep.sql has no such guard any more: {guard}"
            whole = whole.replace(guard, instead)
        with self._single.connect() as connection:
            ids = list(connection.execute(expired).scalars())
            return list(connection.execute(text(whole), {**values, "expired": ids}))


@dataclass(frozen=True, slots=True)
class Mutant:
    """A queue with a guard missing."""

    cuts: tuple[Cut, ...] = ()
    factory: Factory = plain


def _fenced_by(own: str, column: str, *more: Cut) -> Mutant:
    """The fence asks for a column of the task as it is in the attempt of the token, wherever the token is asked for."""
    bound = OF_ATTEMPT.format(own=own, column=column, brought="CAST(:lease_token AS uuid)")
    brought = OF_ATTEMPT.format(own=own, column=column, brought="brought.lease_token")
    cuts = [(verb, mutation.OWN, bound) for verb in ("checkpoint", "fail")]
    return Mutant((*cuts, ("complete", mutation.BROUGHT_OWN, brought), *more))


MUTANTS: Mapping[str, Mutant] = {
    # The fence
    "complete by id": Mutant(mutation.COMPLETE_BY_ID),
    "complete by status": Mutant(mutation.COMPLETE_BY_STATUS),
    "renew by id": Mutant((*mutation.CHECKPOINT_BY_STATUS, ("checkpoint", mutation.STATUS, ""))),
    "renew by status": Mutant(mutation.CHECKPOINT_BY_STATUS),
    "fail and release by id": Mutant(
        (
            *mutation.FAIL_BY_STATUS,
            ("fail", f"        {mutation.STATUS}    FOR NO KEY", "    FOR NO KEY"),
            ("fail", "        AND tasks.status = 'processing'\n", ""),
        )
    ),
    "fail and release by status": Mutant(mutation.FAIL_BY_STATUS),
    "fence by the worker's name": _fenced_by("lease_holder", "worker"),
    "fence by the attempt's number, which a release refunds": _fenced_by(
        "attempt_no",
        "attempt_no",
        ("fail", "SET status = decided.status,", "SET attempt_no = attempt_no - :releases, status = decided.status,"),
        (
            "fail",
            "RETURNING tasks.task_id, tasks.attempt_no,",
            "RETURNING tasks.task_id, tasks.attempt_no + :releases AS attempt_no,",
        ),
    ),
    "fence by the attempt's number, which a retry resets": _fenced_by(
        "attempt_no", "attempt_no", ("retry", "SET status = 'enqueued',", "SET attempt_no = 0, status = 'enqueued',")
    ),
    "a claim draws no new number": Mutant(
        (("claim", "attempt_no = attempt_no + 1", "attempt_no = GREATEST(attempt_no, 1)"),)
    ),
    # Transactions
    "result written before the fence": Mutant(factory=ResultBeforeTheFence.factory),
    "pages written beside the fence": Mutant(factory=PagesBesideTheFence.factory),
    # The sweep
    "sweep in two statements": Mutant(factory=SweepInTwoStatements.factory),
    "sweep without a lock, by id": Mutant(mutation.SWEEP_BY_ID),
    "sweep without a lock, by status": Mutant(mutation.SWEEP_BY_STATUS),
    "sweep decides from its snapshot": Mutant(mutation.SWEEP_BY_SNAPSHOT),
    "sweep forgets to close the attempt": Mutant(
        (("sweep", "AND attempts.outcome IS NULL", "AND attempts.outcome IS NOT NULL"),)
    ),
    "two sweeps judge at once": Mutant(
        (("sweep", "        WHERE only_row\n        FOR NO KEY UPDATE SKIP LOCKED\n", "        WHERE only_row\n"),)
    ),
    "no grace after an outage": Mutant(
        (("sweep", "CASE WHEN outage THEN last_ok_at ELSE queue_now() END", "queue_now()"),)
    ),
    "no brake": Mutant((("sweep", "AND (SELECT NOT too_many OR has_waited FROM verdict)", ""),)),
    # The rest
    "claim without a lock": Mutant((("claim", SKIP, ""),)),
    "claim waits for locks": Mutant((("claim", SKIP, "    FOR NO KEY UPDATE\n"),)),
    "promote without a lock": Mutant((("promote", SKIP, ""),)),
    "cancel whatever it is": Mutant((("cancel", "\n    AND status IN ('enqueued', 'delayed', 'processing')", ""),)),
    "retry whatever it is": Mutant((("retry", RETRIABLE, ""),)),
    "fail decides from its snapshot": Mutant((("fail", "    FOR NO KEY UPDATE\n", ""),)),
    "renewals pass the deadline": Mutant((("checkpoint", "            deadline_at),", "            'infinity'),"),)),
    "late finish on any attempt": Mutant((("late_finish", "    AND outcome = 'expired'\n", ""),)),
}

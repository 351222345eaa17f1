"""A queue whose tables are filled by SQL, for measuring at any size."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine

from bench.pages_touched import Bench
from pipeline.queue.front import Front
from pipeline.queue.model import Claim, NewTask, Usage

SWEEP_BATCH = 500

DOCUMENTS = """
INSERT INTO documents (sha256, name, raw_name, media_type, byte_count, page_count)
SELECT lpad(to_hex(number), 64, '0'), 'document', 'document', 'text/plain', 1, 2
FROM generate_series(CAST(:first AS bigint), CAST(:last AS bigint)) AS number
"""
FINISHED = """
INSERT INTO tasks (document_id, handler, page_count, rank_ms, lease_seconds, deadline_seconds, status, reason,
                   attempt_no, finished_at)
SELECT document_id, 'auto', 2, document_id, 600, 3600, 'succeeded', 'ok', 1, now()
FROM documents
WHERE NOT EXISTS (SELECT FROM tasks WHERE tasks.document_id = documents.document_id)
"""
THEIR_ATTEMPTS = """
INSERT INTO attempts (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at, ended_at,
                      outcome)
SELECT task_id, 1, gen_random_uuid(), 'host-' || task_id % 10, 600, now(), now(), now(), 'succeeded'
FROM tasks
WHERE status = 'succeeded'
    AND NOT EXISTS (SELECT FROM attempts WHERE attempts.task_id = tasks.task_id)
"""
READY = """
INSERT INTO tasks (document_id, handler, page_count, rank_ms, lease_seconds, deadline_seconds)
SELECT document_id, 'auto', 2, CAST(extract(epoch FROM now()) * 1000 AS bigint) + document_id, 600, 3600
FROM documents
WHERE NOT EXISTS (SELECT FROM tasks WHERE tasks.document_id = documents.document_id)
"""
RENEW_ALL = """
UPDATE tasks
SET lease_expires_at = now() + interval '10 minutes', pages_done = pages_done + 1, progressed_at = now()
WHERE status = 'processing'
"""
COMPLETE_ALL = """
WITH completed AS (
    UPDATE tasks
    SET status = 'succeeded', reason = 'ok', finished_at = now(),
        lease_token = NULL, lease_holder = NULL, lease_expires_at = NULL, deadline_at = NULL
    WHERE status = 'processing'
    RETURNING task_id, attempt_no
)
UPDATE attempts
SET outcome = 'succeeded', reason = 'ok', ended_at = now()
FROM completed
WHERE attempts.task_id = completed.task_id AND attempts.attempt_no = completed.attempt_no
"""
EXPIRE_ALL = "UPDATE tasks SET lease_expires_at = now() - interval '1 hour' WHERE status = 'processing'"
DELAY_ALL = """
UPDATE tasks
SET status = 'delayed', not_before = now() - interval '1 second',
    lease_token = NULL, lease_holder = NULL, lease_expires_at = NULL, deadline_at = NULL
WHERE status = 'processing'
"""


@dataclass
class Watch:
    """A clock that stands still until it is moved, so that the whole line is looked at when we say."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


class Growing(Bench):
    """A bench whose tables are filled by SQL."""

    def __init__(self, engine: Engine) -> None:
        self.watch = Watch()
        super().__init__(engine, Front(self.watch))
        self._documents = 0
        for table in ("tasks", "attempts"):  # its pages would be counted with ours; we vacuum ourselves
            self.run(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")

    def fill(self, number: int, *statements: str) -> None:
        """Add documents, then what is about them; nothing is checked row by row."""
        first = self._documents + 1
        self._documents += number
        self.run("SET session_replication_role = replica")
        self.run(DOCUMENTS, first=first, last=self._documents)
        for statement in statements:
            self.run(statement)
        self.run("SET session_replication_role = origin")
        self.vacuum()

    def vacuum(self) -> None:
        """What autovacuum does, now."""
        for table in ("documents", "tasks", "attempts"):
            self.run(f"VACUUM ANALYZE {table}")

    def enqueuing(self, number: int) -> Callable[[], object]:
        """An act that enqueues one document after the other of `number` fresh ones."""
        first = self._documents + 1
        self.fill(number)
        fresh = itertools.count(first)

        def enqueue() -> None:
            task = NewTask(next(fresh), "auto", 2, 600, 3600)
            with self.engine.begin() as connection:
                self.queue.enqueue(connection, task)

        return enqueue

    def claimed(self, number: int) -> list[Claim]:
        """That many tasks in hand."""
        batches = [min(500, number - begun) for begun in range(0, number, 500)]
        return [claim for batch in batches for claim in self.queue.claim("worker-1", batch=batch)]

    def complete(self, claim: Claim) -> None:
        """Through the fence, with a result that has no fields."""
        with self.queue.completing(claim, reason="ok", pages_done=2, result={}, usage=Usage()):
            pass

    def sweep(self, batch: int = SWEEP_BATCH) -> int:
        """Take back what expired; returns how many."""
        return len(self.queue.sweep(worker="sweeper", interval_seconds=5, batch=batch).taken)

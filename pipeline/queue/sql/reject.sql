-- Promise: a document that cannot be worked on is on record from the start, ended, with its reason. Never claimed.
-- Runs inside the caller's transaction. An operator's retry moves it like any failed task.
INSERT INTO tasks (document_id, handler, page_count, status, reason, error, priority, rank_ms, lease_seconds, deadline_seconds,
                   failure_count, finished_at)
VALUES (
    :document_id,
    :handler,
    :page_count,
    CAST(:status AS text),
    :reason,
    :error,
    CAST(:priority AS smallint),
    CAST(EXTRACT(EPOCH FROM queue_now()) * 1000 AS bigint) - CAST(:priority AS bigint) * CAST(:aging_ms AS bigint),
    CAST(:lease_seconds AS double precision),
    CAST(:deadline_seconds AS double precision),
    1,
    queue_now()
)
RETURNING task_id

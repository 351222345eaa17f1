-- Promise: at most one attempt's result is ever accepted, and only from the holder of the token. No row back: the lease is lost.
-- The fence of the completing transaction: it closes task and attempt first; whatever else the result needs is written after it.
-- Pages that the holder knows to be stored and the row does not were forgotten by a failover: the result would have a gap.
WITH completed AS (
    UPDATE tasks
    SET status = 'succeeded',
        reason = :reason,
        pages_done = CAST(:pages_done AS integer),
        progressed_at = queue_clock(),
        finished_at = queue_clock(),
        cancel_requested = false,
        lease_token = NULL,
        lease_holder = NULL,
        lease_expires_at = NULL,
        deadline_at = NULL
    WHERE task_id = :task_id
        AND lease_token = :lease_token
        AND status = 'processing'
        AND pages_done >= CAST(:pages_stored AS integer)
    RETURNING task_id, attempt_no, reason, pages_done, finished_at
)
UPDATE attempts
SET outcome = 'succeeded',
    reason = completed.reason,
    ended_at = completed.finished_at,
    progressed_at = completed.finished_at,
    pages_done = completed.pages_done,
    cpu_seconds = CAST(:cpu_seconds AS double precision),
    peak_rss_bytes = CAST(:peak_rss_bytes AS bigint),
    result = CAST(:result AS jsonb)
FROM completed
WHERE attempts.task_id = completed.task_id
    AND attempts.attempt_no = completed.attempt_no
RETURNING attempts.task_id

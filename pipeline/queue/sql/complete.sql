-- Promise: at most one attempt's result is ever accepted for a task, and only from the holder of its token. No row back: the
-- lease is lost. Many may be completed at once; each is judged by itself.
-- The fence of the completing transaction: it closes tasks and attempts first; whatever else the results need is written after.
-- Pages that the holder knows to be stored and the row does not were forgotten by a failover: the result would have a gap.
-- ANY (ARRAY(...)): rows are looked up one by one. A join alone, planned without knowing how many, may read the whole table.
-- By task_id, which finds a row also where somebody moved it to meanwhile, and in this order, so that nobody waits in a circle.
WITH brought AS MATERIALIZED (
    SELECT *
    FROM jsonb_to_recordset(CAST(:completions AS jsonb)) AS brought (
        task_id bigint,
        lease_token uuid,
        reason text,
        pages_done integer,
        pages_stored integer,
        cpu_seconds double precision,
        peak_rss_bytes bigint,
        result jsonb
    )
),
completed AS (
    UPDATE tasks
    SET status = 'succeeded',
        reason = brought.reason,
        pages_done = brought.pages_done,
        progressed_at = queue_clock(),
        finished_at = queue_clock(),
        cancel_requested = false,
        lease_token = NULL,
        lease_holder = NULL,
        lease_expires_at = NULL,
        deadline_at = NULL
    FROM brought
    WHERE tasks.task_id = ANY (ARRAY(SELECT task_id FROM brought))
        AND tasks.task_id = brought.task_id
        AND tasks.lease_token = brought.lease_token
        AND tasks.status = 'processing'
        AND tasks.pages_done >= brought.pages_stored
    RETURNING
        tasks.task_id,
        tasks.attempt_no,
        tasks.finished_at,
        brought.lease_token,
        brought.reason,
        brought.pages_done,
        brought.cpu_seconds,
        brought.peak_rss_bytes,
        brought.result
)
UPDATE attempts
SET outcome = 'succeeded',
    reason = completed.reason,
    ended_at = completed.finished_at,
    progressed_at = completed.finished_at,
    pages_done = completed.pages_done,
    cpu_seconds = completed.cpu_seconds,
    peak_rss_bytes = completed.peak_rss_bytes,
    result = completed.result
FROM completed
WHERE attempts.task_id = completed.task_id
    AND attempts.attempt_no = completed.attempt_no
RETURNING CAST(completed.lease_token AS text)

-- Promise: an attempt that did not succeed is closed with its cause, and its task goes where pipeline/queue/settle.py decided.
-- Only the holder of the token makes it. No row back: the lease is lost. A cancellation that was asked for wins over a retry.
WITH decided AS MATERIALIZED (
    SELECT
        task_id,
        CASE
            WHEN cancel_requested AND CAST(:status AS text) IN ('enqueued', 'delayed') THEN 'cancelled'
            ELSE CAST(:status AS text)
        END AS status
    FROM tasks
    WHERE task_id = :task_id
        AND lease_token = :lease_token
        AND status = 'processing'
    FOR NO KEY UPDATE
),
failed AS (
    UPDATE tasks
    SET status = decided.status,
        reason = CASE WHEN decided.status = 'cancelled' THEN 'cancelled' ELSE CAST(:reason AS text) END,
        error = CAST(:error AS text),
        failure_count = failure_count + CAST(:failures AS integer),
        crash_count = crash_count + CAST(:crashes AS integer),
        release_count = release_count + CAST(:releases AS integer),
        not_before = CASE
            WHEN decided.status = 'delayed'
            THEN queue_clock() + make_interval(secs => CAST(:delay_seconds AS double precision))
        END,
        finished_at = CASE
            WHEN decided.status IN ('failed', 'quarantined', 'cancelled')
            THEN queue_clock()
        END,
        lease_token = NULL,
        lease_holder = NULL,
        lease_expires_at = NULL,
        deadline_at = NULL
    FROM decided
    WHERE tasks.task_id = decided.task_id
        AND tasks.status = 'processing'
    RETURNING tasks.task_id, tasks.attempt_no, tasks.status
),
closed AS (
    UPDATE attempts
    SET outcome = CAST(:outcome AS text),
        reason = CAST(:reason AS text),
        error = CAST(:error AS text),
        page_no = CAST(:page_no AS integer),
        ended_at = queue_clock(),
        cpu_seconds = CAST(:cpu_seconds AS double precision),
        peak_rss_bytes = CAST(:peak_rss_bytes AS bigint)
    FROM failed
    WHERE attempts.task_id = failed.task_id
        AND attempts.attempt_no = failed.attempt_no
)
SELECT status
FROM failed

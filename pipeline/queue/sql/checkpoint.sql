-- Promise: progress and renewal are one write, and only the holder of the token makes it. No row back: the lease is lost.
-- The pages themselves follow in the same transaction. The attempt's deadline caps every renewal.
-- Pages that the holder knows to be stored and the row does not were forgotten by a failover: going on would leave a gap.
-- A lease that has expired but was not swept is renewed: the token in the row proves that nobody else has the task.
WITH renewed AS (
    UPDATE tasks
    SET lease_expires_at = LEAST(
            queue_clock() + make_interval(secs => CAST(:lease_seconds AS double precision)),
            deadline_at),
        pages_done = GREATEST(pages_done, CAST(:pages_done AS integer)),
        progressed_at = queue_clock()
    WHERE task_id = :task_id
        AND lease_token = :lease_token
        AND status = 'processing'
        AND pages_done >= CAST(:pages_stored AS integer)
    RETURNING task_id, attempt_no, pages_done, progressed_at, lease_expires_at, cancel_requested
),
recorded AS (
    UPDATE attempts
    SET pages_done = renewed.pages_done,
        progressed_at = renewed.progressed_at,
        renewals = attempts.renewals + 1
    FROM renewed
    WHERE attempts.task_id = renewed.task_id
        AND attempts.attempt_no = renewed.attempt_no
)
SELECT
    CAST(EXTRACT(EPOCH FROM lease_expires_at - queue_clock()) AS double precision) AS lease_seconds,
    cancel_requested
FROM renewed

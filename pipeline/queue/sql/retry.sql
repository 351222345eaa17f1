-- Promise: a task that ended without a result, or waits, is in line again with its counters at zero and its finished pages kept.
-- attempt_no is never reset: it is the key of the attempts that were. No row back: the task is in line, in work or succeeded.
UPDATE tasks
SET status = 'enqueued',
    reason = NULL,
    error = NULL,
    failure_count = 0,
    crash_count = 0,
    release_count = 0,
    cancel_requested = false,
    not_before = NULL,
    finished_at = NULL
WHERE task_id = :task_id
    AND status IN ('failed', 'quarantined', 'cancelled', 'delayed')
RETURNING task_id

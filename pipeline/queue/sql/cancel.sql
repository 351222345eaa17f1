-- Promise: a task that waits is cancelled at once; one in work is told at its next checkpoint, or by the sweep if its worker is
-- gone. A task that has ended is left alone (no row back).
UPDATE tasks
SET status = CASE WHEN status = 'processing' THEN status ELSE 'cancelled' END,
    reason = CASE WHEN status = 'processing' THEN reason ELSE 'cancelled' END,
    finished_at = CASE WHEN status = 'processing' THEN NULL ELSE queue_clock() END,
    not_before = NULL,
    cancel_requested = true
WHERE task_id = :task_id
    AND status IN ('enqueued', 'delayed', 'processing')
RETURNING status

-- Promise: a worker that finishes after its lease was taken leaves this mark and nothing else. It counts false recoveries.
UPDATE attempts
SET late_finish_at = queue_clock()
WHERE task_id = :task_id
    AND lease_token = :lease_token
    AND outcome = 'expired'
    AND late_finish_at IS NULL

-- Promise: a delayed task is back in line once its wait is over. Safe to run anywhere, any time, by anybody.
WITH picked AS MATERIALIZED (
    SELECT task_id
    FROM tasks
    WHERE status = 'delayed'
        AND not_before <= queue_now()
    ORDER BY not_before
    LIMIT CAST(:batch AS integer)
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE tasks
SET status = 'enqueued',
    not_before = NULL
FROM picked
WHERE tasks.task_id = picked.task_id
RETURNING tasks.task_id

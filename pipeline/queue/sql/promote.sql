-- Promise: a delayed task is back in line once its wait is over. Safe to run anywhere, any time, by anybody.
-- ANY (ARRAY(...)): the ids are looked up one by one. A join, planned without knowing :batch, may read the whole table.
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
WHERE tasks.task_id = ANY (ARRAY(SELECT task_id FROM picked))
RETURNING task_id

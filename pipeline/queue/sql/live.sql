-- Promise: tells whether any task waits or is in work anywhere.
-- The first of each kind by the index of its kind. Asked for all kinds at once, a plan may read through what has ended.
SELECT COALESCE(
    (SELECT min(rank_ms) FROM tasks WHERE status = 'enqueued'),
    (SELECT min(task_id) FROM tasks WHERE status = 'processing'),
    (SELECT CAST(EXTRACT(EPOCH FROM min(not_before)) AS bigint) FROM tasks WHERE status = 'delayed')
) IS NOT NULL AS live

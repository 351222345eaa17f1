-- Promise: tells what there is to do, and changes nothing. A handful of pages, however many tasks there are and are in work.
-- ORDER BY … LIMIT 1: with EXISTS a plan may read the table from its beginning until it finds one.
-- A session whose start is not shown belongs to another login; its number has to do.
SELECT
    (SELECT rank_ms FROM tasks WHERE status = 'enqueued' ORDER BY rank_ms, task_id LIMIT 1) IS NOT NULL AS ready,
    COALESCE(
        (SELECT not_before FROM tasks WHERE status = 'delayed' ORDER BY not_before LIMIT 1) <= queue_now(),
        false) AS due,
    count(*) AS workers,
    count(*) FILTER (WHERE session.pid IS NULL) AS absent
FROM workers
LEFT JOIN pg_stat_activity AS session
    ON session.pid = workers.session_pid
    AND COALESCE(session.backend_start, workers.session_start) = workers.session_start
WHERE workers.server_started_at = pg_postmaster_start_time()

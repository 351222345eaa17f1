-- Promise: what a worker held whose session is gone is judged by the next sweep, not only at the end of its lease.
-- It shortens leases and does nothing else to a task: whether, how and at whose charge one is taken back is for sweep.sql.
-- A session that is there proves nothing, and lengthens nothing.
--
-- Gone: missing in two looks, :patience_seconds apart at least, and the worker has shown no life between them. A worker that was
--   only cut off attends anew within moments; it is another session then, and its row is another row for this statement.
-- Unrest: when more than half are missing, somebody came back a moment ago, or leases were just graced, it looks like the server
--   or the network, not like the workers. Then a session has to be missing for :unrest_seconds.
-- Rows that were written before the server started, or on another one, are not judged: their numbers mean nothing here.
-- Whoever runs this lives: its own row goes when its session is missing, until it attends anew.
-- A worker that is gone and holds no valid lease any more is forgotten, so that it does not count among the missing.
-- min(…): one value for all, so that it holds for the row as it was locked. What it spares is shortened by the next look.
WITH seen AS MATERIALIZED (
    SELECT
        workers.worker,
        workers.session_pid,
        workers.session_start,
        workers.missing_since,
        workers.returned_at,
        session.pid IS NULL AS missing
    FROM workers
    LEFT JOIN pg_stat_activity AS session
        ON session.pid = workers.session_pid
        AND COALESCE(session.backend_start, workers.session_start) = workers.session_start
    WHERE workers.server_started_at = pg_postmaster_start_time()
),
patience AS MATERIALIZED (
    SELECT make_interval(secs => CASE
        WHEN count(*) FILTER (WHERE missing) * 2 > count(*)
            OR max(returned_at) > queue_now() - make_interval(secs => CAST(:unrest_seconds AS double precision))
            OR (SELECT
                    last_ok_at < queue_now() - make_interval(secs => 3 * CAST(:interval_seconds AS double precision))
                    OR graced_at > queue_now() - make_interval(secs => CAST(:unrest_seconds AS double precision))
                FROM sweeper_state)
        THEN CAST(:unrest_seconds AS double precision)
        ELSE CAST(:patience_seconds AS double precision)
    END) AS length
    FROM seen
),
marked AS (
    UPDATE workers
    SET missing_since = queue_now()
    FROM seen
    WHERE workers.worker = seen.worker
        AND workers.worker <> CAST(:worker AS text)
        AND workers.session_pid = seen.session_pid
        AND workers.session_start = seen.session_start
        AND seen.missing
        AND seen.missing_since IS NULL
),
gone AS MATERIALIZED (
    SELECT workers.worker, workers.missing_since
    FROM workers
    JOIN seen ON seen.worker = workers.worker
    WHERE seen.missing
        AND workers.worker <> CAST(:worker AS text)
        AND workers.session_pid = seen.session_pid
        AND workers.session_start = seen.session_start
        AND workers.missing_since <= queue_now() - (SELECT length FROM patience)
    FOR NO KEY UPDATE OF workers SKIP LOCKED
),
held AS MATERIALIZED (
    SELECT task_id, lease_holder, progressed_at, lease_expires_at > queue_now() AS is_valid
    FROM tasks
    WHERE status = 'processing'
        AND EXISTS (SELECT FROM gone)
),
silent AS MATERIALIZED (
    SELECT gone.worker, gone.missing_since, count(*) FILTER (WHERE held.is_valid) AS leases
    FROM gone
    LEFT JOIN held ON held.lease_holder = gone.worker
    GROUP BY gone.worker, gone.missing_since
    HAVING COALESCE(max(held.progressed_at) <= gone.missing_since, true)
),
picked AS MATERIALIZED (
    SELECT task_id, lease_holder
    FROM tasks
    WHERE status = 'processing'
        AND task_id = ANY (ARRAY(SELECT task_id FROM held JOIN silent ON silent.worker = held.lease_holder))
        AND lease_holder = ANY (ARRAY(SELECT worker FROM silent))
        AND progressed_at <= (SELECT min(missing_since) FROM silent)
        AND lease_expires_at > queue_now()
    FOR NO KEY UPDATE SKIP LOCKED
),
shortened AS (
    UPDATE tasks
    SET lease_expires_at = queue_now()
    WHERE tasks.task_id = ANY (ARRAY(SELECT task_id FROM picked))
        AND tasks.status = 'processing'
    RETURNING tasks.task_id
),
forgotten AS (
    DELETE FROM workers
    USING seen
    WHERE workers.worker = seen.worker
        AND workers.session_pid = seen.session_pid
        AND workers.session_start = seen.session_start
        AND seen.missing
        AND (workers.worker = CAST(:worker AS text)
            OR workers.worker IN (
                SELECT worker
                FROM silent
                WHERE leases = (SELECT count(*) FROM picked WHERE picked.lease_holder = silent.worker)
            ))
)
SELECT
    (SELECT count(*) FROM shortened) AS shortened,
    EXISTS (SELECT FROM seen WHERE missing AND missing_since IS NULL) AS again

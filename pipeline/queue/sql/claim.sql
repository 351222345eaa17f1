-- Promise: at most :batch ready tasks, best rank first, each to exactly one caller, each with a fresh lease and a fresh token.
-- MATERIALIZED: joined any other way, a plan may run the inner SELECT again and take more than :batch rows.
-- ANY (ARRAY(...)): rows are looked up one by one. A join, planned without knowing :batch, may read the whole table.
-- By ctid, which spares the way through an index: the lock keeps a row where it is. One that changed after the statement's
-- snapshot and before the lock is not found there. It comes back empty, and the caller asks again.
-- FOR NO KEY UPDATE: a row of attempts being inserted elsewhere must not hide its task.
-- :from_rank spares the index entries of tasks that are long claimed, see pipeline/queue/front.py.
-- 'enqueued' is a literal: a bound status would lose the partial index under a generic plan.
-- (SELECT :batch), (SELECT :from_rank): values that a plan cannot look into. So one plan serves them all and is kept, where
-- planning costs as much as claiming; LIMIT 1000 tells it that few rows are wanted, and is the most that there ever are.
WITH picked AS MATERIALIZED (
    SELECT task_id, place
    FROM (
        SELECT task_id, ctid AS place
        FROM tasks
        WHERE status = 'enqueued'
            AND rank_ms >= (SELECT CAST(:from_rank AS bigint))
            AND (crash_count = 0 OR (SELECT CAST(:suspects AS boolean)))
        ORDER BY rank_ms, task_id
        LIMIT (SELECT CAST(:batch AS integer))
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS ready
    LIMIT 1000
),
claimed AS (
    UPDATE tasks
    SET status = 'processing',
        reason = NULL,
        error = NULL,
        attempt_no = attempt_no + 1,
        lease_token = gen_random_uuid(),
        lease_holder = :worker,
        lease_expires_at = queue_clock() + make_interval(secs => lease_seconds),
        deadline_at = queue_clock() + make_interval(secs => deadline_seconds),
        progressed_at = queue_clock()
    WHERE tasks.ctid = ANY (ARRAY(SELECT place FROM picked))
    RETURNING *
),
opened AS (
    INSERT INTO attempts (task_id, attempt_no, lease_token, worker, lease_seconds, started_at, progressed_at,
                          pages_done, pages_reused)
    SELECT task_id, attempt_no, lease_token, lease_holder, lease_seconds, progressed_at, progressed_at, pages_done, pages_done
    FROM claimed
)
SELECT
    claimed.task_id,
    document_id,
    attempt_no,
    lease_token,
    handler,
    page_count,
    ocr_page_count,
    pages_done,
    lease_seconds,
    deadline_seconds,
    failure_count,
    crash_count,
    release_count,
    rank_ms
FROM picked
LEFT JOIN claimed ON claimed.task_id = picked.task_id
ORDER BY claimed.rank_ms, claimed.task_id

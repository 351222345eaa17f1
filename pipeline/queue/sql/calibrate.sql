-- Promise: seconds a page takes, by handler and kind of page: the 99th percentile over the newest 10,000 attempts, where
-- there are 50 or more. A killed attempt counts as at least what it used, so that survivors do not make leases short; so
-- does one that was given back with pages done: the slowest come to their deadline.
-- Of an attempt whose worker was lost nobody knows more than its last sign of life, unless it finished late: the lease that
-- it then took to be noticed says nothing of pages, and leases must not learn from leases.
-- The first second is left to the fixed part of a lease: a claim may wait in memory for the one before it, an end for its
-- commit, and a document of two pages takes less than either. Processor time has no such waits, so it counts in full.
-- Where pages need recognition, the others weigh nothing beside them: what a document took is put down to those.
WITH recent AS (
    SELECT
        tasks.handler,
        CASE WHEN tasks.ocr_page_count > 0 THEN 'ocr' ELSE 'text' END AS source,
        GREATEST(EXTRACT(EPOCH FROM attempts.lasted) - 1, attempts.cpu_seconds, 0)
            / GREATEST(LEAST(attempts.pages, NULLIF(tasks.ocr_page_count, 0)), 1) AS seconds_per_page
    FROM (
        SELECT
            task_id,
            cpu_seconds,
            pages_done - pages_reused AS pages,
            CASE outcome WHEN 'expired' THEN COALESCE(late_finish_at, progressed_at) ELSE ended_at END - started_at AS lasted
        FROM attempts
        WHERE outcome IN ('succeeded', 'crashed', 'expired')
            OR (outcome = 'released' AND pages_done > pages_reused)
        ORDER BY task_id DESC, attempt_no DESC
        LIMIT 10000
    ) AS attempts
    -- LATERAL with a limit: 10,000 look-ups, whatever the number of tasks; a plain join would read them all.
    CROSS JOIN LATERAL (
        SELECT handler, ocr_page_count
        FROM tasks
        WHERE tasks.task_id = attempts.task_id
        LIMIT 1
    ) AS tasks
)
INSERT INTO lease_rates (handler, source, seconds_per_page, samples, calibrated_at)
SELECT
    handler,
    source,
    GREATEST(percentile_cont(0.99) WITHIN GROUP (ORDER BY seconds_per_page), 0.000001),
    count(*),
    queue_now()
FROM recent
GROUP BY handler, source
HAVING count(*) >= 50
ON CONFLICT (handler, source) DO UPDATE
SET seconds_per_page = excluded.seconds_per_page,
    samples = excluded.samples,
    calibrated_at = excluded.calibrated_at
RETURNING handler, source, seconds_per_page, samples

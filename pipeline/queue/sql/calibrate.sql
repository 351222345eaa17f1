-- Promise: seconds a page takes, by handler and kind of page: the 99th percentile over the newest 10,000 attempts, where
-- there are 50 or more. A killed attempt counts as at least what it used, so that survivors do not make leases short.
WITH recent AS (
    SELECT
        tasks.handler,
        CASE WHEN tasks.ocr_page_count > 0 THEN 'ocr' ELSE 'text' END AS source,
        EXTRACT(EPOCH FROM attempts.ended_at - attempts.started_at)
            / GREATEST(attempts.pages_done - attempts.pages_reused, 1) AS seconds_per_page
    FROM (
        SELECT *
        FROM attempts
        WHERE outcome IN ('succeeded', 'crashed', 'expired')
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

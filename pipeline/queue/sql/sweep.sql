-- Promise: a task whose lease ran out is claimable again after this statement, or ended if it took its worker down too often.
-- Safe to run anywhere, any time, by anybody: it needs no leader and no knowledge of what the tasks are.
--
-- One statement, because read-then-write would take back a task that completed in between. The inner SELECT locks, because
-- otherwise it waits for a committing worker and then re-enqueues the finished row. What is decided is decided from the rows
-- as they were locked, never from the snapshot: a cancellation may have come in between.
-- Nothing here waits: a session that stopped inside a transaction hides its own task, never the others.
-- No join with tasks but by locked ids, so no estimate can turn it into a scan of every task there ever was.
-- Expiries of a task are told apart by FILTER: as a condition, the plan reads the index of all expiries there ever were.
-- any_expired, EXISTS (SELECT FROM …): where nothing is to be done, no plan reads what is in work a second time.
-- Whoever does not get the one row of sweeper_state leaves the sweep to whoever has it.
--
-- Grace: when nobody swept for 3 intervals, or the server started since, leases ran while nobody could renew them. What was
--   valid at the last good sweep gets one more lease, once.
-- Brake: more than half of 10 or more running tasks of 2 or more holders expired at once looks like the network, not like
--   the workers. Take none, wait an interval, look again; then let go, batch after batch.
-- Charge: an expiry counts as a crash of the document when its holder has shown life since, or held nothing else. When the
--   holder fell silent with all it held, no document is to blame, until it has happened :max_crashes times.
WITH previous AS MATERIALIZED (
    SELECT
        last_ok_at,
        braked_at,
        outage,
        CASE WHEN outage THEN last_ok_at ELSE queue_now() END AS judged_at
    FROM (
        SELECT
            last_ok_at,
            braked_at,
            queue_now() - last_ok_at > make_interval(secs => 3 * CAST(:interval_seconds AS double precision))
                OR pg_postmaster_start_time() > last_ok_at AS outage
        FROM sweeper_state
        WHERE only_row
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS state
),
running AS MATERIALIZED (
    SELECT
        task_id,
        lease_holder,
        progressed_at,
        lease_expires_at < (SELECT judged_at FROM previous) AS expired
    FROM tasks
    WHERE status = 'processing'
        AND EXISTS (SELECT FROM previous)
),
holders AS MATERIALIZED (
    SELECT
        lease_holder,
        count(*) AS tasks,
        max(progressed_at) FILTER (WHERE NOT expired) AS alive_at
    FROM running
    GROUP BY lease_holder
),
verdict AS MATERIALIZED (
    SELECT
        count(*) FILTER (WHERE expired) * 2 > count(*)
            AND count(*) >= 10
            AND count(DISTINCT lease_holder) >= 2 AS too_many,
        count(*) FILTER (WHERE expired) > 0 AS any_expired,
        (SELECT braked_at IS NOT NULL
            AND queue_now() - braked_at >= make_interval(secs => CAST(:interval_seconds AS double precision))
         FROM previous) AS has_waited
    FROM running
),
spared AS MATERIALIZED (
    SELECT task_id
    FROM tasks
    WHERE status = 'processing'
        AND lease_expires_at >= (SELECT judged_at FROM previous)
        AND (SELECT outage FROM previous)
    FOR NO KEY UPDATE SKIP LOCKED
),
graced AS (
    UPDATE tasks
    SET lease_expires_at = GREATEST(
            tasks.lease_expires_at,
            queue_clock() + make_interval(secs => tasks.lease_seconds)),
        deadline_at = tasks.deadline_at + GREATEST(
            queue_now() - GREATEST((SELECT last_ok_at FROM previous), tasks.progressed_at),
            INTERVAL '0')
    FROM spared
    WHERE tasks.task_id = spared.task_id
        AND tasks.status = 'processing'
        AND EXISTS (SELECT FROM spared)
    RETURNING tasks.task_id
),
picked AS MATERIALIZED (
    SELECT
        task_id,
        lease_holder,
        lease_expires_at,
        progressed_at,
        attempt_no,
        crash_count,
        cancel_requested
    FROM tasks
    WHERE status = 'processing'
        AND lease_expires_at < (SELECT judged_at FROM previous)
        AND (SELECT any_expired FROM verdict)
        AND (SELECT NOT too_many OR has_waited FROM verdict)
    ORDER BY task_id
    LIMIT CAST(:batch AS integer)
    FOR NO KEY UPDATE SKIP LOCKED
),
judged AS MATERIALIZED (
    SELECT
        picked.*,
        COALESCE(holders.alive_at > picked.lease_expires_at, false)
        OR (
            COALESCE(holders.tasks, 1) = 1
            AND NOT EXISTS (
                SELECT
                FROM attempts
                WHERE attempts.worker = picked.lease_holder
                    AND attempts.outcome = 'expired'
                    AND attempts.ended_at > picked.progressed_at
            )
        )
        OR (
            picked.attempt_no > CAST(:max_crashes AS integer)
            AND (
                SELECT count(*) FILTER (WHERE attempts.outcome = 'expired') >= CAST(:max_crashes AS integer)
                FROM attempts
                WHERE attempts.task_id = picked.task_id
            )
        ) AS charged
    FROM picked
    LEFT JOIN holders ON holders.lease_holder = picked.lease_holder
),
decided AS MATERIALIZED (
    SELECT
        task_id,
        charged,
        CASE
            WHEN cancel_requested THEN 'cancelled'
            WHEN charged AND crash_count + 1 >= CAST(:max_crashes AS integer) THEN 'quarantined'
            WHEN charged AND crash_count >= 1 THEN 'delayed'
            ELSE 'enqueued'
        END AS status
    FROM judged
),
taken AS (
    UPDATE tasks
    SET status = decided.status,
        reason = CASE WHEN decided.status = 'cancelled' THEN 'cancelled' ELSE 'lost_lease' END,
        error = 'no sign of progress within the lease; the worker is gone, frozen or cut off',
        crash_count = tasks.crash_count + CASE WHEN decided.charged THEN 1 ELSE 0 END,
        not_before = CASE
            WHEN decided.status = 'delayed'
            THEN queue_clock() + make_interval(secs =>
                LEAST(
                    CAST(:backoff_cap_seconds AS double precision),
                    CAST(:backoff_seconds AS double precision) * power(2, LEAST(tasks.crash_count - 1, 30)))
                * (0.5 + random()))
        END,
        finished_at = CASE WHEN decided.status IN ('cancelled', 'quarantined') THEN queue_clock() END,
        lease_token = NULL,
        lease_holder = NULL,
        lease_expires_at = NULL,
        deadline_at = NULL
    FROM decided
    WHERE tasks.task_id = decided.task_id
        AND tasks.status = 'processing'
        AND EXISTS (SELECT FROM decided)
    RETURNING tasks.task_id, tasks.attempt_no, tasks.status, tasks.error, decided.charged
),
closed AS (
    UPDATE attempts
    SET outcome = 'expired',
        reason = 'lost_lease',
        ended_at = queue_clock(),
        page_no = attempts.pages_done + 1,
        error = taken.error
    FROM taken
    WHERE attempts.task_id = taken.task_id
        AND attempts.attempt_no = taken.attempt_no
        AND attempts.outcome IS NULL
),
noted AS (
    UPDATE sweeper_state
    SET last_ok_at = GREATEST(sweeper_state.last_ok_at, queue_now()),
        swept_by = :worker,
        braked_at = CASE
            WHEN verdict.too_many
                AND (NOT verdict.has_waited OR (SELECT count(*) FROM picked) >= CAST(:batch AS integer))
            THEN COALESCE(sweeper_state.braked_at, queue_now())
        END,
        graced_at = CASE WHEN (SELECT outage FROM previous) THEN queue_now() ELSE sweeper_state.graced_at END
    FROM verdict
    WHERE sweeper_state.only_row
        AND EXISTS (SELECT FROM previous)
    RETURNING verdict.too_many AND NOT verdict.has_waited AS braked
)
SELECT
    EXISTS (SELECT FROM noted) AS judged,
    COALESCE((SELECT braked FROM noted), false) AS braked,
    (SELECT count(*) FROM graced) AS graced,
    taken.task_id,
    taken.attempt_no,
    taken.status,
    taken.charged
FROM (VALUES (1)) AS always (one)
LEFT JOIN taken ON true

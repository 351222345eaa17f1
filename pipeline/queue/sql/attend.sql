-- Promise: from now on the session that runs this stands for its worker, and no older one of that worker does.
-- Behind a pooler it writes nothing and returns nothing: a client that reaches its server directly was told the number of its
-- session (:session_pid) when it connected; a pooler hands out numbers of its own, so that it can cancel for its clients.
-- Rows of an earlier start of the server are judged by nobody; old ones are cleared away.
WITH cleared AS (
    DELETE FROM workers
    WHERE worker <> CAST(:worker AS text)
        AND server_started_at <> pg_postmaster_start_time()
        AND attended_at < queue_now() - INTERVAL '1 day'
)
INSERT INTO workers (worker, host, session_pid, session_start, server_started_at, attended_at, returned_at)
SELECT
    CAST(:worker AS text),
    CAST(:host AS text),
    pid,
    backend_start,
    pg_postmaster_start_time(),
    queue_now(),
    CASE WHEN CAST(:returned AS boolean) THEN queue_now() END
FROM pg_stat_activity
WHERE pid = pg_backend_pid()
    AND pid = CAST(:session_pid AS integer)
    AND backend_start IS NOT NULL
ON CONFLICT (worker) DO UPDATE
SET session_pid = excluded.session_pid,
    session_start = excluded.session_start,
    server_started_at = excluded.server_started_at,
    attended_at = excluded.attended_at,
    returned_at = excluded.returned_at,
    missing_since = NULL
RETURNING session_pid

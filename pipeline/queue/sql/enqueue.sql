-- Promise: a document has at most one live task (index tasks_one_live), and it waits in line from this commit on.
-- Runs inside the caller's transaction, beside the rows the task is about. Ranks by linear aging: see docs/how-leases-work.md.
INSERT INTO tasks (document_id, handler, page_count, ocr_page_count, priority, rank_ms, lease_seconds, deadline_seconds)
VALUES (
    :document_id,
    :handler,
    :page_count,
    :ocr_page_count,
    CAST(:priority AS smallint),
    CAST(EXTRACT(EPOCH FROM queue_now()) * 1000 AS bigint) - CAST(:priority AS bigint) * CAST(:aging_ms AS bigint),
    CAST(:lease_seconds AS double precision),
    CAST(:deadline_seconds AS double precision)
)
RETURNING task_id, rank_ms

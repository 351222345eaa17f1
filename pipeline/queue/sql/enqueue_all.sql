-- Promise: that of enqueue, for many documents at once: each has at most one live task, and waits in line from this commit on.
-- All of them or none. They are numbered, and so claimed, in the order in which they are given.
INSERT INTO tasks (document_id, handler, page_count, ocr_page_count, priority, rank_ms, lease_seconds, deadline_seconds)
SELECT
    document_id,
    handler,
    page_count,
    ocr_page_count,
    priority,
    CAST(EXTRACT(EPOCH FROM queue_now()) * 1000 AS bigint) - priority * CAST(:aging_ms AS bigint),
    lease_seconds,
    deadline_seconds
FROM ROWS FROM (
    json_to_recordset(CAST(:tasks AS json)) AS (
        document_id bigint,
        handler text,
        page_count integer,
        ocr_page_count integer,
        priority smallint,
        lease_seconds double precision,
        deadline_seconds double precision
    )
) WITH ORDINALITY AS given (
    document_id, handler, page_count, ocr_page_count, priority, lease_seconds, deadline_seconds, place
)
ORDER BY place
RETURNING task_id, document_id, rank_ms

-- Promise: tells what a worker holds, so that it can give back what it was never told of: a claim whose answer was lost.
SELECT
    task_id,
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
    release_count
FROM tasks
WHERE status = 'processing'
    AND lease_holder = :worker
ORDER BY task_id

-- Promise: a task as it stands; no row when there is none.
SELECT task_id, document_id, status, reason, attempt_no, pages_done, page_count, not_before
FROM tasks
WHERE task_id = :task_id

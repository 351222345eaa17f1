-- Promise: tells how an attempt ended, for a worker that lost the answer to its COMMIT. NULL: it has not ended.
SELECT outcome
FROM attempts
WHERE task_id = :task_id
    AND lease_token = :lease_token

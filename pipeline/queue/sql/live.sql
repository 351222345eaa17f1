-- Promise: tells whether any task waits or is in work anywhere.
SELECT EXISTS (
    SELECT
    FROM tasks
    WHERE status IN ('enqueued', 'delayed', 'processing')
) AS live

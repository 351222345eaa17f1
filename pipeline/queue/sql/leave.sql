-- Promise: nobody looks for this worker any more. What it still holds is judged by its leases alone.
DELETE FROM workers
WHERE worker = :worker

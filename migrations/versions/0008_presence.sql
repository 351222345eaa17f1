-- Which session stands for which worker: the one it keeps open to be woken. One that is gone shortens the leases of its worker.
-- docs/how-leases-work.md tells what follows from a row here, and what does not.
CREATE TABLE workers (
    worker            text PRIMARY KEY,
    host              text NOT NULL,
    session_pid       integer NOT NULL,
    session_start     timestamptz NOT NULL,
    server_started_at timestamptz NOT NULL,
    attended_at       timestamptz NOT NULL,
    returned_at       timestamptz,
    missing_since     timestamptz
) WITH (fillfactor = 70);

"""A worker by hand that is woken: `python -m bench.peers.bare_listener CONNINFO FILE` notes when it has a job.

What somebody would write first: LISTEN, one statement that claims, one that ends. It has no child, no lease that runs
out and no history.
"""

from __future__ import annotations

import sys
from pathlib import Path

import psycopg

from bench.peers.body import now

CHANNEL = "bare"
POLL_SECONDS = 2.0
TABLE = """
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload text NOT NULL, status text NOT NULL DEFAULT 'ready',
    expires_at timestamptz
);
CREATE INDEX ON jobs (id) WHERE status = 'ready';
"""
ADD = "INSERT INTO jobs (payload) VALUES (%s)"
CLAIM = """
UPDATE jobs SET status = 'running', expires_at = now() + interval '1 minute'
WHERE id = (SELECT id FROM jobs WHERE status = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id
"""
END = "UPDATE jobs SET status = 'done', expires_at = NULL WHERE id = %s"


def main() -> None:
    """Work until killed."""
    conninfo, file = sys.argv[1:]
    with psycopg.connect(conninfo, autocommit=True) as connection, Path(file).open("a", encoding="ascii") as noted:
        connection.execute(f"LISTEN {CHANNEL}")
        while True:
            while (row := connection.execute(CLAIM).fetchone()) is not None:
                noted.write(f"{now()}\n")
                noted.flush()
                connection.execute(END, row)
            for _ in connection.notifies(timeout=POLL_SECONDS, stop_after=1):
                pass


if __name__ == "__main__":
    main()

"""doclease and hand-written SQL, drained as the peers are: `python -m bench.peers.own_drains WHAT ACTION N`

WHAT is doclease (N tasks a claim, completed together, as a worker does with short documents), doclease_single (N a
claim, each completed by itself), or sql and sql_single, the same in hand-written SQL.
"""

from __future__ import annotations

import sys

import psycopg

from bench.growing import FINISHED, READY, THEIR_ATTEMPTS, Growing
from bench.peers.drains import CONNINFO, DATABASE, HOST, USER, Tally
from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.queue.model import Completion, Usage
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue

BEFORE = 10_000
# What somebody would write who wants a lease, a fence and a history, and no more.
TABLES = """
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload jsonb NOT NULL, status text NOT NULL DEFAULT 'ready',
    priority smallint NOT NULL DEFAULT 0, attempt integer NOT NULL DEFAULT 0, created_at timestamptz DEFAULT now(),
    expires_at timestamptz, finished_at timestamptz
) WITH (fillfactor = 85);
CREATE INDEX ON jobs (priority DESC, created_at, id) WHERE status = 'ready';
CREATE TABLE tries (
    job_id bigint, attempt integer, worker text, started_at timestamptz DEFAULT now(), finished_at timestamptz,
    outcome text, result jsonb, PRIMARY KEY (job_id, attempt)
) WITH (fillfactor = 70);
"""
CLAIM = """
WITH picked AS MATERIALIZED (
    SELECT id FROM jobs WHERE status = 'ready' ORDER BY priority DESC, created_at, id LIMIT %s FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE jobs SET status = 'running', attempt = attempt + 1, expires_at = now() + interval '1 minute'
    FROM picked WHERE jobs.id = picked.id RETURNING jobs.id, payload, attempt
), opened AS (
    INSERT INTO tries (job_id, attempt, worker) SELECT id, attempt, 'worker' FROM claimed
)
SELECT * FROM claimed
"""
DONE = """
WITH done AS (
    UPDATE jobs SET status = 'done', finished_at = now(), expires_at = NULL
    FROM unnest(%s::bigint[], %s::integer[]) AS mine (id, attempt)
    WHERE jobs.id = mine.id AND jobs.attempt = mine.attempt AND jobs.status = 'running'
    RETURNING jobs.id, jobs.attempt
)
UPDATE tries SET finished_at = now(), outcome = 'done', result = '{}'
FROM done WHERE tries.job_id = done.id AND tries.attempt = done.attempt
"""


def doclease(what: str, action: str, number: int) -> None:
    """Queue.claim and Queue.completing_all, as a worker calls them."""
    url = database.parse_url(f"postgresql://{USER}@/{DATABASE}?host={HOST}")
    engine = database.open_engine(url, DatabaseSettings(), name="bench")
    if action == "fill":
        database.upgrade(engine)
        bench = Growing(engine)
        bench.fill(BEFORE, FINISHED, THEIR_ATTEMPTS)  # no plan is made for empty tables
        bench.fill(number, READY)
        return
    queue, tally = Queue(engine, limits=Limits(), aging_ms=600_000), Tally()
    while claims := queue.claim("worker-1", batch=number):
        brought = [Completion(claim, "ok", 2, {}, Usage()) for claim in claims]
        for part in [brought] if what == "doclease" else [[each] for each in brought]:
            with queue.completing_all(part) as (_, accepted):
                assert len(accepted) == len(part)
            tally.add(len(part))


def sql(what: str, action: str, number: int) -> None:
    """What PostgreSQL allows."""
    with psycopg.connect(CONNINFO, autocommit=True) as connection:
        if action == "fill":
            for statement in TABLES.split(";\n")[:-1]:
                connection.execute(statement)
            connection.execute("INSERT INTO jobs (payload) SELECT '{}' FROM generate_series(1, %s)", (number,))
            connection.execute("VACUUM ANALYZE jobs")
            return
        tally = Tally()
        while found := connection.execute(CLAIM, (number,)).fetchall():
            for part in [found] if what == "sql" else [[each] for each in found]:
                connection.execute(DONE, ([each[0] for each in part], [each[2] for each in part]))
                tally.add(len(part))


def main() -> None:
    """Do what is asked on the command line."""
    what, action, number = sys.argv[1:]
    (sql if what.startswith("sql") else doclease)(what, action, int(number))


if __name__ == "__main__":
    main()

"""A database for the search: its time stands still until it is moved, and what happens in it is on record.

A copy of the schema has its nets cut (trigger, CHECKs, unique indexes that only repeat what the statements promise), so
that a mutant has to be found by the search itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, Row, create_engine, text

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.queue.front import Front
from pipeline.queue.settle import Limits
from pipeline.queue.states import FINAL, TRANSITIONS
from pipeline.queue.store import Queue
from tests import postgres

CONNECTIONS = 12
GATE = 4711  # the advisory lock that a paused statement waits for
AGING_MS = 600_000

# Far in the future: to the sweep the server must not look as if it had been restarted.
_TIME = """
CREATE TABLE search_clock (seconds double precision NOT NULL);
INSERT INTO search_clock VALUES (0);
CREATE FUNCTION search_start() RETURNS timestamptz
    LANGUAGE sql IMMUTABLE
    AS $$ SELECT timestamptz '2100-01-01 00:00:00+00' $$;
CREATE OR REPLACE FUNCTION queue_now() RETURNS timestamptz
    LANGUAGE sql STABLE
    AS $$ SELECT search_start() + make_interval(secs => (SELECT seconds FROM search_clock)) $$;
CREATE OR REPLACE FUNCTION queue_clock() RETURNS timestamptz
    LANGUAGE sql VOLATILE
    AS $$ SELECT search_start() + make_interval(secs => (SELECT seconds FROM search_clock)) $$;
CREATE SCHEMA paused;
CREATE FUNCTION paused.queue_now() RETURNS timestamptz
    LANGUAGE plpgsql VOLATILE
    AS $$ BEGIN
        PERFORM pg_advisory_xact_lock_shared({gate});
        RETURN search_start() + make_interval(secs => CAST(current_setting('search.began') AS double precision));
    END $$;
"""

# A page is a holder's when its attempt is open and has the task, or was completed by this very transaction.
_RECORD = """
CREATE TABLE moves (
    move_id bigint GENERATED ALWAYS AS IDENTITY,
    task_id bigint, from_status text, to_status text, from_no integer, to_no integer, from_token uuid, to_token uuid
);
CREATE FUNCTION record_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO moves (task_id, from_status, to_status, from_no, to_no, from_token, to_token)
    VALUES (NEW.task_id, OLD.status, NEW.status, OLD.attempt_no, NEW.attempt_no, OLD.lease_token, NEW.lease_token);
    RETURN NULL;
END $$;
CREATE TRIGGER record_move AFTER UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION record_move();
CREATE TABLE writings (task_id bigint, page_no integer, attempt_no integer, by_holder boolean);
CREATE FUNCTION record_writing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO writings
    SELECT NEW.task_id, NEW.page_no, NEW.attempt_no, EXISTS (
        SELECT FROM attempts JOIN tasks USING (task_id)
        WHERE attempts.task_id = NEW.task_id
            AND attempts.attempt_no = NEW.attempt_no
            AND ((attempts.outcome IS NULL AND tasks.lease_token = attempts.lease_token)
                OR (attempts.outcome = 'succeeded' AND attempts.xmin = CAST(pg_current_xact_id() AS xid))));
    RETURN NULL;
END $$;
CREATE TRIGGER record_writing AFTER INSERT OR UPDATE ON pages FOR EACH ROW EXECUTE FUNCTION record_writing();
"""

# tasks_one_live stays: it is no net but the guard itself.
_CUT_NETS = """
DROP TRIGGER tasks_guard ON tasks;
ALTER TABLE tasks
    DROP CONSTRAINT processing_has_a_lease,
    DROP CONSTRAINT only_processing_has_a_lease,
    DROP CONSTRAINT final_has_an_end,
    DROP CONSTRAINT final_has_a_reason,
    DROP CONSTRAINT delayed_has_a_date;
DROP INDEX attempts_one_result;
ALTER TABLE attempts
    DROP CONSTRAINT ended_has_an_outcome,
    DROP CONSTRAINT only_success_has_a_result,
    DROP CONSTRAINT attempts_pkey CASCADE;
"""

_EMPTY = """
DELETE FROM pages; DELETE FROM attempts; DELETE FROM tasks; DELETE FROM documents;
DELETE FROM moves; DELETE FROM writings;
UPDATE search_clock SET seconds = 0;
UPDATE sweeper_state SET last_ok_at = search_start(), braked_at = NULL, graced_at = NULL, swept_by = NULL;
"""

_LOOK = text(
    """
    SELECT
        task_id, status, attempt_no, lease_token, lease_holder, failure_count, crash_count, release_count, pages_done,
        cancel_requested,
        CAST(EXTRACT(EPOCH FROM lease_expires_at - search_start()) AS double precision) AS expires,
        CAST(EXTRACT(EPOCH FROM deadline_at - search_start()) AS double precision) AS deadline,
        CAST(EXTRACT(EPOCH FROM not_before - search_start()) AS double precision) AS not_before,
        (
            SELECT COALESCE(json_agg(json_build_array(
                attempt_no, lease_token, worker, outcome, pages_done, renewals,
                late_finish_at IS NOT NULL, result ->> 'by')
                ORDER BY attempt_no, started_at, lease_token), '[]')
            FROM attempts
            WHERE attempts.task_id = tasks.task_id
        ) AS attempts,
        (
            SELECT COALESCE(json_agg(json_build_array(page_no, attempt_no) ORDER BY page_no), '[]')
            FROM pages
            WHERE pages.task_id = tasks.task_id
        ) AS pages
    FROM tasks
    ORDER BY task_id
    """
)

_ALLOWED = ", ".join(f"('{before}', '{after}')" for before, after in TRANSITIONS)
_FINAL = ", ".join(f"'{status}'" for status in sorted(FINAL))

# What must hold whatever the model thinks, as one query: each row it returns is a broken promise and its task.
_BROKEN = text(
    f"""
    SELECT 'a task has two accepted results' AS promise, task_id
    FROM attempts WHERE outcome = 'succeeded' GROUP BY task_id HAVING count(*) > 1
    UNION ALL
    SELECT 'the accepted result is the last holder''s', task_id
    FROM attempts JOIN tasks USING (task_id)
    WHERE (outcome = 'succeeded' OR result IS NOT NULL)
        AND (tasks.status <> 'succeeded' OR tasks.attempt_no <> attempts.attempt_no OR outcome <> 'succeeded'
            OR result ->> 'by' IS DISTINCT FROM CAST(attempts.lease_token AS text))
    UNION ALL
    SELECT 'a task has succeeded exactly when a result of it was accepted', task_id
    FROM tasks
    WHERE status = 'succeeded'
        AND NOT EXISTS (SELECT FROM attempts WHERE attempts.task_id = tasks.task_id AND outcome = 'succeeded')
    UNION ALL
    SELECT 'a succeeded task has all its pages', task_id
    FROM tasks
    WHERE status = 'succeeded'
        AND page_count <> (SELECT count(*) FROM pages WHERE pages.task_id = tasks.task_id)
    UNION ALL
    SELECT 'processing and only processing has a lease', task_id
    FROM tasks
    WHERE num_nonnulls(lease_token, lease_holder, lease_expires_at, deadline_at) <>
        CASE WHEN status = 'processing' THEN 4 ELSE 0 END
    UNION ALL
    SELECT 'final and only final has an end and a reason', task_id
    FROM tasks
    WHERE (status IN ({_FINAL})) <> (finished_at IS NOT NULL) OR (finished_at IS NOT NULL AND reason IS NULL)
    UNION ALL
    SELECT 'delayed and only delayed has a date', task_id
    FROM tasks WHERE (status = 'delayed') <> (not_before IS NOT NULL)
    UNION ALL
    SELECT 'attempts are numbered from 1 without a gap', tasks.task_id
    FROM tasks LEFT JOIN attempts USING (task_id)
    GROUP BY tasks.task_id
    HAVING count(attempts.attempt_no) <> tasks.attempt_no OR count(DISTINCT attempts.attempt_no) <> tasks.attempt_no
        OR COALESCE(max(attempts.attempt_no), 0) <> tasks.attempt_no
    UNION ALL
    SELECT 'a task in work has one open attempt, its last, with its token; others have none', tasks.task_id
    FROM tasks LEFT JOIN attempts ON attempts.task_id = tasks.task_id AND attempts.outcome IS NULL
    GROUP BY tasks.task_id
    HAVING count(attempts.attempt_no) <> CASE WHEN tasks.status = 'processing' THEN 1 ELSE 0 END
        OR bool_or(attempts.lease_token IS DISTINCT FROM tasks.lease_token AND attempts.attempt_no IS NOT NULL)
    UNION ALL
    SELECT 'ended and only ended has an outcome', task_id
    FROM attempts WHERE (ended_at IS NULL) <> (outcome IS NULL)
    UNION ALL
    SELECT 'a status moves as the table says', task_id
    FROM moves WHERE from_status <> to_status AND (from_status, to_status) NOT IN ({_ALLOWED})
    UNION ALL
    SELECT 'a claim and only a claim draws a number, the next one, and a token', task_id
    FROM moves
    WHERE to_no - from_no <> CASE WHEN from_status <> 'processing' AND to_status = 'processing' THEN 1 ELSE 0 END
        OR (from_status = 'processing' AND to_status = 'processing' AND from_token IS DISTINCT FROM to_token)
    UNION ALL
    SELECT 'a token is drawn once', min(task_id)
    FROM moves WHERE to_token IS DISTINCT FROM from_token AND to_token IS NOT NULL GROUP BY to_token HAVING count(*) > 1
    UNION ALL
    SELECT 'a page is written by a holder', task_id
    FROM writings WHERE NOT by_holder
    UNION ALL
    SELECT 'a document has one live task', min(task_id)
    FROM tasks WHERE status IN ('enqueued', 'delayed', 'processing') GROUP BY document_id HAVING count(*) > 1
    """
)


class World:
    """The database of one search, seen from outside."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.seconds = 0.0

    def queue(self, engine: Engine, limits: Limits) -> Queue:
        """The queue on this world's time."""
        return Queue(engine, limits=limits, aging_ms=AGING_MS, front=Front(self.clock))

    def clock(self) -> float:
        """The seconds that have passed."""
        return self.seconds

    def empty(self) -> None:
        """Forget all tasks and start at second 0."""
        self.seconds = 0
        with self.engine.begin() as connection:
            connection.exec_driver_sql(_EMPTY)

    def advance(self, seconds: float) -> None:
        """Let time pass for every session, open ones included."""
        self.seconds += seconds
        with self.engine.begin() as connection:
            connection.execute(text("UPDATE search_clock SET seconds = seconds + :seconds"), {"seconds": seconds})

    def look(self, connection: Connection) -> list[Row[Any]]:
        """The tasks as they are committed, with attempts and pages; times in seconds."""
        return list(connection.execute(_LOOK))

    def broken(self, connection: Connection) -> list[str]:
        """Every promise that the rows break."""
        return [f"{row.promise}: task {row.task_id}" for row in connection.execute(_BROKEN)]


@contextmanager
def open_world(server: URL, name: str, *, nets: bool) -> Iterator[World]:
    """A database of its own for a search, with or without the schema's nets."""
    url = postgres.create_database(server, name)
    plain = database.open_engine(url, DatabaseSettings(), name="search")
    database.upgrade(plain)
    with plain.begin() as connection:
        connection.exec_driver_sql(_TIME.format(gate=GATE) + _RECORD + ("" if nets else _CUT_NETS))
    plain.dispose()
    # Sessions stand still inside transactions here for as long as the search wants them to.
    options = "-c timezone=UTC -c synchronous_commit=off -c statement_timeout=60000 -c jit=off"
    engine = create_engine(url, connect_args={"options": options}, pool_size=CONNECTIONS, max_overflow=0)
    yield World(engine)
    engine.dispose()

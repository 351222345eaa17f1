"""A worker's presence: the session it keeps open to be woken is on record, and the end of that session is a hint.

It only ever shortens a lease, never lengthens one: sql/shorten.sql says when. A worker that is not on record is judged
by its leases alone: where a pooler stands between it and its server, or its role may not write there.
"""

from __future__ import annotations

import logging
import socket

import psycopg
from sqlalchemy.dialects import postgresql

from pipeline.queue.statements import statement

logger = logging.getLogger(__name__)


class Presence:
    """Puts the listening sessions of one worker on record, one after the other."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._host = socket.gethostname()
        self._attend = str(statement("attend").compile(dialect=postgresql.dialect()))  # type: ignore[no-untyped-call]
        self._has_attended = False

    def attend(self, session: psycopg.Connection[tuple[object, ...]]) -> None:
        """Let a session, in autocommit, stand for the worker. Raises psycopg.OperationalError when it is lost."""
        values = {
            "worker": self._worker,
            "host": self._host,
            "session_pid": session.info.backend_pid,
            "returned": self._has_attended,
        }
        try:
            is_direct = session.execute(self._attend, values).fetchone() is not None
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            logger.warning("presence is not on record, leases alone decide: %s", str(error).splitlines()[0])
            return
        if not is_direct:
            logger.info("a pooler stands before the database: presence is not on record, leases alone decide")
        self._has_attended = True

"""What the server grants our sessions: time limits, connections, vacuum, the hour. Read, never changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

from sqlalchemy import Connection, text

from pipeline.reports.checks import Check, State, judged
from pipeline.reports.durations import duration

# Room for another process and for somebody who wants to look.
SPARE_CONNECTIONS = 4
CLOCKS_AGREE_SECONDS = 2.0

_SETTINGS = text("""
    SELECT name, setting
    FROM pg_settings
    WHERE name IN ('idle_in_transaction_session_timeout', 'statement_timeout', 'autovacuum', 'track_counts',
                   'max_connections', 'superuser_reserved_connections', 'reserved_connections', 'TimeZone')
""")
_CONNECTIONS = text("SELECT COALESCE(sum(numbackends), 0) FROM pg_stat_database")
_NOW = text("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS double precision)")


def settings(connection: Connection, *, lease_seconds: float) -> Iterator[Check]:
    """What is in force for this session, set up like those of workers. `lease_seconds` is the shortest lease."""
    found = {row.name: str(row.setting) for row in connection.execute(_SETTINGS)}
    yield _idle_limit(found, lease_seconds)
    yield _statement_limit(found)
    vacuums = found["autovacuum"] == found["track_counts"] == "on"
    yield judged(
        "autovacuum",
        "on" if vacuums else "off",
        vacuums,
        "claims get slower with every task: ALTER SYSTEM SET autovacuum = on, track_counts too",
        otherwise=State.ADVICE,
    )
    yield _room_for_connections(connection, found)
    yield judged(
        "time zone",
        found["TimeZone"],
        found["TimeZone"] in ("UTC", "Etc/UTC"),
        "instants are right all the same, views print them in that zone: ALTER ROLE … SET timezone = 'UTC'",
        otherwise=State.ADVICE,
    )


def clocks(connection: Connection, host_time: Callable[[], float] = time.time) -> Check:
    """How far this host's clock is from the database's, give or take half a round trip. No lease asks for it."""
    asked_at = host_time()
    theirs = connection.execute(_NOW).scalar_one()
    ahead_seconds = (asked_at + host_time()) / 2 - theirs
    agrees = abs(ahead_seconds) <= CLOCKS_AGREE_SECONDS
    way = "ahead of" if ahead_seconds > 0 else "behind"
    return judged(
        "clocks",
        "they agree" if agrees else f"this host is {duration(abs(ahead_seconds))} {way} the database",
        agrees,
        "leases do not mind, they are judged by the database's clock alone; but times in logs differ: set up NTP",
        otherwise=State.ADVICE,
    )


def _idle_limit(found: Mapping[str, str], lease_seconds: float) -> Check:
    seconds = int(found["idle_in_transaction_session_timeout"]) / 1000
    return judged(
        "idle transactions",
        f"ended after {seconds:g} s" if seconds else "never ended",
        0 < seconds < lease_seconds,
        "a session that stops inside a transaction hides its task from the sweep for that long:"
        " ALTER ROLE … SET idle_in_transaction_session_timeout = '5s'",
    )


def _statement_limit(found: Mapping[str, str]) -> Check:
    seconds = int(found["statement_timeout"]) / 1000
    return judged(
        "statements",
        f"ended after {seconds:g} s" if seconds else "never ended",
        seconds > 0,
        "a statement that waits for ever stops its process: ALTER ROLE … SET statement_timeout = '30s'",
        otherwise=State.ADVICE,
    )


def _room_for_connections(connection: Connection, found: Mapping[str, str]) -> Check:
    used = int(connection.execute(_CONNECTIONS).scalar_one())
    reserved = int(found["superuser_reserved_connections"]) + int(found.get("reserved_connections", 0))
    most = int(found["max_connections"]) - reserved
    return judged(
        "connections",
        f"{used} of {most} in use",
        most - used >= SPARE_CONNECTIONS,
        "a process of doclease holds two at most: raise max_connections, or end what holds the others",
        otherwise=State.ADVICE,
    )

"""Whether the tables of the queue stay small and quick: what keeps dead rows alive, and whether renewals stay cheap.

A renewal is cheap as long as it is a heap-only update (HOT): no index is touched, and the space is used again at once.
A snapshot that is held open anywhere keeps every row version since then, and a claim reads past all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, text

from pipeline.reports.checks import Check, State, judged
from pipeline.reports.durations import duration

PINNED_SECONDS = 600.0
PINNED_TRANSACTIONS = 1_000_000
ENOUGH_UPDATES = 1_000
# Each attempt moves its task between partial indexes twice, by its claim and at its end; those two are never HOT.
MOVES_AN_ATTEMPT = 2
DEAD_ROWS, DEAD_SHARE = 10_000, 0.5

_PINNED = text("""
    SELECT who, seconds, transactions
    FROM (
        SELECT
            format('session %s (%s, %s)', pid, COALESCE(NULLIF(application_name, ''), 'unnamed'),
                   COALESCE(usename, 'unknown')) AS who,
            CAST(EXTRACT(EPOCH FROM clock_timestamp() - xact_start) AS double precision) AS seconds,
            age(backend_xmin) AS transactions
        FROM pg_stat_activity
        WHERE backend_xmin IS NOT NULL
            AND pid <> pg_backend_pid()
            AND (datname = current_database() OR datname IS NULL)
        UNION ALL
        SELECT
            format('prepared transaction %s (%s)', gid, owner),
            CAST(EXTRACT(EPOCH FROM clock_timestamp() - prepared) AS double precision),
            age(transaction)
        FROM pg_prepared_xacts
        WHERE database = current_database()
        UNION ALL
        SELECT
            format('replication slot %s (%s)', slot_name, CASE WHEN active THEN 'in use' ELSE 'not in use' END),
            NULL,
            age(xmin)
        FROM pg_replication_slots
        WHERE xmin IS NOT NULL
    ) AS holders
    WHERE seconds > :seconds
        OR transactions > :transactions
    ORDER BY seconds DESC NULLS LAST, transactions DESC
    LIMIT 5
""")
_RENEWALS = text("""
    SELECT
        tables.n_tup_upd AS updates,
        tables.n_tup_hot_upd AS hot,
        recent.attempts,
        recent.renewals
    FROM pg_stat_user_tables AS tables
    CROSS JOIN (
        SELECT count(*) AS attempts, COALESCE(sum(renewals), 0) AS renewals
        FROM (SELECT renewals FROM attempts ORDER BY task_id DESC, attempt_no DESC LIMIT 1000) AS newest
    ) AS recent
    WHERE tables.relid = to_regclass('tasks')
""")
_COSTLY_INDEXES = text("""
    SELECT CAST(CAST(indexrelid AS regclass) AS text) AS name
    FROM pg_index
    WHERE indrelid = to_regclass('tasks')
        AND pg_get_indexdef(indexrelid) ~ '\\y(lease_expires_at|progressed_at|pages_done)\\y'
""")
_DEAD = text("""
    SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead
    FROM pg_stat_user_tables
    WHERE relid IN (to_regclass('tasks'), to_regclass('attempts'), to_regclass('pages'))
        AND n_dead_tup > GREATEST(CAST(:rows AS bigint), :share * n_live_tup)
    ORDER BY n_dead_tup DESC
""")


def upkeep(connection: Connection) -> Iterator[Check]:
    """All of it. Bounded: statistics of the server, and the newest 1,000 attempts."""
    yield pinned(connection)
    yield renewals(connection)
    yield dead_rows(connection)


def pinned(connection: Connection, *, longer_than_seconds: float = PINNED_SECONDS) -> Check:
    """Who keeps old row versions alive, and since when: sessions, prepared transactions, replication slots."""
    values = {"seconds": longer_than_seconds, "transactions": PINNED_TRANSACTIONS}
    holders = [
        f"{row.who} for " + (f"{row.transactions} transactions" if row.seconds is None else duration(row.seconds))
        for row in connection.execute(_PINNED, values)
    ]
    return judged(
        "snapshots",
        "; ".join(holders) or "none is old",
        not holders,
        "claims get slower until it ends: pg_terminate_backend, ROLLBACK PREPARED or pg_drop_replication_slot",
        otherwise=State.ADVICE,
    )


def renewals(connection: Connection) -> Check:
    """Whether renewals touch no index: by what indexes hold, and by what the server counted."""
    costly = [str(row.name) for row in connection.execute(_COSTLY_INDEXES)]
    if costly:
        found = f"{', '.join(costly)} holds what each renewal changes"
        return Check(
            "renewals", found, State.ADVICE, f"drop it, each renewal writes to every index: {', '.join(costly)}"
        )
    row = connection.execute(_RENEWALS).one()
    changes = row.renewals + MOVES_AN_ATTEMPT * row.attempts
    if row.updates < ENOUGH_UPDATES or not row.renewals:
        return Check("renewals", "too few to tell", State.FINE)
    share, expected = row.hot / row.updates, row.renewals / changes
    return judged(
        "renewals",
        f"{share:.0%} of updates are heap-only, {expected:.0%} expected",
        share >= expected / 2,
        "look for an old snapshot, or a fillfactor that was changed: ALTER TABLE tasks SET (fillfactor = 70)",
        otherwise=State.ADVICE,
    )


def dead_rows(connection: Connection) -> Check:
    """Whether vacuum keeps up with the queue."""
    found = [
        f"{row.name}: {row.dead} dead beside {row.live}"
        for row in connection.execute(_DEAD, {"rows": DEAD_ROWS, "share": DEAD_SHARE})
    ]
    return judged(
        "dead rows",
        "; ".join(found) or "few",
        not found,
        "VACUUM these tables; if that does not help, something holds an old snapshot",
        otherwise=State.ADVICE,
    )

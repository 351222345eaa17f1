"""What the role of this session may not do, of all that reading, taking in and working need. Tries nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Connection, text

from pipeline.reports.checks import Check, State, judged

# A right on some columns of a table counts: roles that may do only their part have no other.
_NEEDED: Mapping[str, str] = {
    "read": """
        SELECT tasks, SELECT attempts, SELECT pages, SELECT documents, SELECT attachments, SELECT arrivals,
        SELECT inbox_scans, SELECT lease_rates, SELECT sweeper_state
    """,
    "take in": """
        INSERT documents, UPDATE documents, INSERT tasks, UPDATE tasks, INSERT arrivals, UPDATE arrivals,
        INSERT inbox_scans, UPDATE inbox_scans
    """,
    "work": """
        UPDATE tasks, INSERT attempts, UPDATE attempts, INSERT pages, UPDATE pages, INSERT attachments,
        UPDATE attachments, UPDATE sweeper_state, INSERT lease_rates, UPDATE lease_rates, INSERT workers, UPDATE workers
    """,
}
_MAY = text("""
    SELECT needed.privilege || ' ' || needed.name AS "right"
    FROM unnest(CAST(:privileges AS text[]), CAST(:names AS text[])) AS needed (privilege, name)
    WHERE NOT has_any_column_privilege(to_regclass(needed.name), needed.privilege)
""")
_SESSION = text("SELECT current_user AS role, pg_is_in_recovery() AS standby, current_setting('transaction_read_only')")


def rights(connection: Connection) -> Check:
    """What commands of this role would be refused, by what they want to do."""
    role, is_standby, is_read_only = connection.execute(_SESSION).one()
    if is_standby or is_read_only == "on":
        why = "the server is a standby" if is_standby else "transactions are read only"
        advice = "workers and intake need a database that can be written: name the primary, or another role"
        return Check("rights", f"{role} may not write, {why}", State.ADVICE, advice)
    lacking: dict[str, list[str]] = defaultdict(list)
    for purpose, words in _NEEDED.items():
        needed = re.findall(r"([A-Z]+) (\w+)", words)
        values = {"privileges": [each[0] for each in needed], "names": [each[1] for each in needed]}
        for right in connection.execute(_MAY, values).scalars():
            lacking[purpose].append(right)
    found = "; ".join(f"{purpose}, lacking {', '.join(which)}" for purpose, which in lacking.items())
    return judged(
        "rights",
        f"{role} may not {found}" if lacking else f"{role} may read, take in and work",
        not lacking,
        "right for a role that does only its part; docs/operating.md lists what the others are granted",
        otherwise=State.ADVICE,
    )

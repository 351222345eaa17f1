"""The place of an export: what it has seen, so that the next one begins there and no row is ever skipped.

Times and ids do not tell: a transaction takes both when it writes and may commit later than one that took higher ones;
an export between the two would see the second, go on from there, and never meet the first. PostgreSQL's own snapshot
does tell. It names the transactions that had ended when it was taken; every result bears the transaction that wrote it
(current_results.changed_xid), so what is new is exactly what the last snapshot could not see, however late it commits.

Transactions are numbered by one server, from where a failover or a restore may go back. So a place names its database
and the timeline; from a place of another one, everything is exported again.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import re
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import Connection, text

from pipeline.documents.archive import sync_folder
from pipeline.errors import UsageProblem

logger = logging.getLogger(__name__)

# The second condition is for the index; the third leaves out numbers of another server, which a restore may bring.
CHANGED_SINCE = """
    NOT pg_visible_in_snapshot(current_results.changed_xid, CAST(:snapshot AS pg_snapshot))
    AND current_results.changed_xid >= pg_snapshot_xmin(CAST(:snapshot AS pg_snapshot))
    AND current_results.changed_xid < pg_snapshot_xmax(pg_current_snapshot())
"""
# A standby does not know which of the transactions after the oldest running one have ended.
_HERE = text("""
    SELECT
        concat_ws('/', server.system_identifier, point.timeline_id, pg_database.oid, current_schema()) AS database,
        CASE
            WHEN pg_is_in_recovery()
            THEN format('%1$s:%1$s:', pg_snapshot_xmin(pg_current_snapshot()))
            ELSE CAST(pg_current_snapshot() AS text)
        END AS snapshot,
        now() AS taken_at
    FROM pg_control_system() AS server
    CROSS JOIN pg_control_checkpoint() AS point
    JOIN pg_catalog.pg_database ON pg_database.datname = current_database()
""")
_SNAPSHOT = re.compile(r"[0-9]+:([0-9]+):[0-9,]*")


@dataclass(frozen=True, slots=True)
class Place:
    """Up to where an export has seen its view: all transactions that had ended in `snapshot`, of one database."""

    export: str
    database: str
    snapshot: str
    taken_at: str

    def leads_to(self, now: Place) -> bool:
        """Whether the next export may begin here. Raises UsageProblem for the place of another export."""
        if self.export != now.export:
            raise UsageProblem(f"this is the place of an export of {self.export}; keep one file for each export")
        if self.database == now.database and _end(self.snapshot) <= _end(now.snapshot):
            return True
        logger.warning("the database is not the one of %s, or was set back: everything is exported", self.taken_at)
        return False


def here(connection: Connection, export: str) -> Place:
    """The place of an export of what this transaction sees, which must not take a new snapshot for each statement."""
    row = connection.execute(_HERE).one()
    return Place(export, row.database, row.snapshot, row.taken_at.astimezone(dt.UTC).isoformat(timespec="seconds"))


def read(path: Path) -> Place | None:
    """The place that a file keeps, None if there is no such file yet. Raises UsageProblem for another kind of file."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        place = Place(**{name: str(value) for name, value in kept.items()})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UsageProblem(_advice(path)) from error
    if not _SNAPSHOT.fullmatch(place.snapshot):
        raise UsageProblem(_advice(path))
    return place


def keep(place: Place, path: Path) -> None:
    """Replace what the file keeps, as one step that lasts. Only when the rows are where they belong.

    Raises UsageProblem when it cannot be written; the next export then begins where this one did.
    """
    try:
        _replace(place, path)
    except OSError as error:
        raise UsageProblem(f"{path} cannot be written: {error.strerror}. Name another file with --new-since") from error


def _replace(place: Place, path: Path) -> None:
    descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(place), file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        Path(unfinished).replace(path)
    finally:
        Path(unfinished).unlink(missing_ok=True)
    sync_folder(path.parent)


def _end(snapshot: str) -> int:
    found = _SNAPSHOT.fullmatch(snapshot)
    return int(found[1]) if found else 0


def _advice(path: Path) -> str:
    return f"{path} does not keep the place of an export. Name another file, or remove it to export everything"

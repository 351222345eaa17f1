"""The ledger of a chaos run: what was put in against what came out, by the database, the folders and the log."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from pipeline.config import Settings
from pipeline.errors import DatabaseUnavailable
from pipeline.trials import audit
from pipeline.trials.faults import Fault
from pipeline.trials.feeding import Paper
from pipeline.trials.paper import marker
from pipeline.trials.proxy import Sessions
from pipeline.trials.recoveries import DATABASE_FAULTS, Recoveries, account_for, lost_attempts

STARTING_SECONDS = 30.0  # a member that finds no database within this of its start may give up
COMPLAINTS = re.compile(r"Traceback \(most recent call last\)|CheckViolation|a fault of doclease")

_DOCUMENTS = text("SELECT sha256, status, reason FROM documents_v")
_STUCK = text(
    """
    SELECT
        (SELECT count(*) FROM tasks WHERE finished_at IS NULL)
        + (SELECT count(*) FROM arrivals WHERE placed_at IS NULL)
    """
)
_DOUBLED = text(
    """
    SELECT
        (SELECT count(*) FROM (
            SELECT task_id FROM attempts WHERE outcome = 'succeeded' GROUP BY task_id HAVING count(*) > 1) AS twice)
        + (SELECT count(*) FROM (
            SELECT document_id FROM tasks GROUP BY document_id HAVING count(*) > 1) AS tasks)
        + (SELECT count(*) FROM arrivals WHERE duplicate)
    """
)
# What an attempt's end is charged to has to be seen in the counters. Not every crash is: one that came on starts anew.
_UNEVEN = text(
    """
    SELECT count(*)
    FROM tasks
    CROSS JOIN LATERAL (
        SELECT
            count(*) AS rows,
            count(*) FILTER (WHERE outcome IS NULL) AS open,
            count(*) FILTER (WHERE outcome = 'succeeded') AS succeeded,
            count(*) FILTER (WHERE outcome = 'failed') AS failed,
            count(*) FILTER (
                WHERE outcome = 'released' AND reason = 'released' AND error NOT LIKE 'nobody began it:%'
            ) AS released,
            count(*) FILTER (WHERE outcome IN ('crashed', 'expired')) AS lost
        FROM attempts
        WHERE attempts.task_id = tasks.task_id
    ) AS of_task
    WHERE of_task.rows <> attempt_no
        OR of_task.open > 0
        OR of_task.succeeded <> CASE WHEN status = 'succeeded' THEN 1 ELSE 0 END
        OR of_task.failed <> failure_count
        OR of_task.released <> release_count
        OR of_task.lost < crash_count
    """
)
_PAGES = text(
    """
    SELECT documents.sha256, pages.page_no, split_part(pages.text, chr(10), 1) AS first_line
    FROM pages
    JOIN tasks ON tasks.task_id = pages.task_id
    JOIN documents ON documents.document_id = tasks.document_id
    """
)
_ATTEMPTS = text(
    "SELECT count(*) AS rows, COALESCE(sum(pages_reused), 0) AS reused,"
    " count(*) FILTER (WHERE outcome IN ('crashed', 'expired')) AS hits FROM attempts"
)


@dataclass(frozen=True, slots=True)
class Ended:
    """A member that ended without being told to. Times in seconds since 1970."""

    role: str
    pid: int
    exit_code: int
    started_at: float
    ended_at: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a finished trial leaves beside its database: what went in, by sha256, and what was done to whom."""

    papers: Mapping[str, Paper]
    settings: Settings
    log_path: Path
    scratch_path: Path
    sessions: Sessions
    faults: Sequence[Fault]
    ended: Sequence[Ended]


@dataclass(frozen=True, slots=True)
class Ledger:
    """The books at the end. Everything in `wrong` must be 0; `notes` names what is not, as far as it has a name."""

    documents: int
    lost: int
    doubled: int
    unknown: int
    stuck: int
    misplaced: int
    wrong_pages: int
    uneven_attempts: int
    stale_writes: int
    early_recoveries: int
    complaints: int
    bad_ends: int
    put_off_starts: int
    hits: int
    pages_kept: int
    recoveries: Recoveries
    notes: tuple[str, ...]

    @property
    def wrong(self) -> Mapping[str, int]:
        """Everything that must be 0, by what it is called."""
        return {
            "lost": self.lost,
            "doubled": self.doubled,
            "documents nobody put in": self.unknown,
            "stuck": self.stuck,
            "out of place": self.misplaced,
            "pages wrong": self.wrong_pages,
            "attempts uneven": self.uneven_attempts,
            "stale writes accepted": self.stale_writes,
            "leases taken before their end": self.early_recoveries,
            "recoveries without a cause": len(self.recoveries.unexplained),
            "members that ended by themselves": self.bad_ends,
            "complaints in the log": self.complaints,
        }

    @property
    def balances(self) -> bool:
        """Whether nothing is wrong, however long it took."""
        return not any(self.wrong.values())

    @property
    def is_in_time(self) -> bool:
        """Whether recoveries kept their bounds, all but one in a hundred."""
        return all(times is None or times.is_in_time for times in (self.recoveries.child, self.recoveries.lease))


def close_books(connection: Connection, evidence: Evidence) -> Ledger:
    """Count everything once more; changes nothing. In a transaction, it must be one that may stand idle for long."""
    papers = evidence.papers
    found = list(connection.execute(_DOCUMENTS))
    known = {row.sha256 for row in found}
    fine = {row.sha256 for row in found if (row.status, row.reason) == ("succeeded", "ok")}
    witnessed = audit.examine(audit.entries(connection), evidence.sessions)
    attempts = connection.execute(_ATTEMPTS).one()
    interval_seconds = evidence.settings.sweep.interval_seconds
    recoveries = account_for(
        lost_attempts(connection), evidence.faults, witnessed.graces, interval_seconds=interval_seconds
    )
    out_of_place, complaints = _out_of_place(evidence, known), _complaints(evidence.log_path)
    bad_ends = [each for each in evidence.ended if not _found_no_database(each, evidence.faults)]
    ends = [f"{each.role} {each.pid} ended with exit code {each.exit_code}" for each in bad_ends]
    twice = sum(times - 1 for times in witnessed.accepted.values())
    return Ledger(
        documents=len(papers),
        lost=len(papers.keys() - fine),
        doubled=connection.execute(_DOUBLED).scalar_one() + twice,
        unknown=len(known - papers.keys()),
        stuck=connection.execute(_STUCK).scalar_one(),
        misplaced=len(out_of_place),
        wrong_pages=_wrong_pages(connection.execute(_PAGES), papers),
        uneven_attempts=connection.execute(_UNEVEN).scalar_one() + abs(witnessed.claims - attempts.rows),
        stale_writes=len(witnessed.stale),
        early_recoveries=len(witnessed.early),
        complaints=len(complaints),
        bad_ends=len(bad_ends),
        put_off_starts=len(evidence.ended) - len(bad_ends),
        hits=attempts.hits,
        pages_kept=attempts.reused,
        recoveries=recoveries,
        notes=(*out_of_place, *witnessed.stale, *witnessed.early, *recoveries.unexplained, *ends, *complaints),
    )


def _wrong_pages(rows: Any, papers: Mapping[str, Paper]) -> int:
    """Pages that are missing, of too much, or carry another page's marker."""
    expected = {
        (sha256, page): marker(paper.number, page)
        for sha256, paper in papers.items()
        for page in range(1, paper.pages + 1)
    }
    found = {(row.sha256, row.page_no): row.first_line.strip() for row in rows}
    wrong = [key for key, line in expected.items() if found.get(key) != line]
    return len(wrong) + len(found.keys() - expected.keys())


def _out_of_place(evidence: Evidence, documents: set[str]) -> list[str]:
    """A line for every file that is not once in processed/ and once in the store, or where none should be."""
    settings = evidence.settings
    empty = (settings.inbox_path, settings.failed_path, settings.store_path / "tmp", evidence.scratch_path)
    placed = [hashlib.sha256(path.read_bytes()).hexdigest() for path in _files(settings.processed_path)]
    stored = [path.name for path in _files(settings.store_path) if path.parent.name != "tmp"]
    lines = [f"left over: {path}" for folder in empty for path in _files(folder)]
    lines += [f"not in processed: {sha256}" for sha256 in sorted(evidence.papers.keys() - set(placed))]
    too_many = (Counter(placed) - Counter(evidence.papers.keys())).elements()
    lines += [f"twice or unknown in processed: {sha256}" for sha256 in too_many]
    lines += [f"not in the store: {sha256}" for sha256 in sorted(documents - set(stored))]
    lines += [f"in the store without a document: {sha256}" for sha256 in sorted(set(stored) - documents)]
    return lines


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir()) if folder.is_dir() else []


def _found_no_database(ended: Ended, faults: Sequence[Fault]) -> bool:
    """Whether it gave up because the database went away under its start: whoever supervises it starts it again."""
    return (
        ended.exit_code == DatabaseUnavailable.exit_code
        and ended.ended_at - ended.started_at < STARTING_SECONDS
        and any(
            fault.kind in DATABASE_FAULTS
            and fault.pid in (None, ended.pid)
            and ended.started_at <= fault.until
            and fault.at <= ended.ended_at
            for fault in faults
        )
    )


def _complaints(log_path: Path) -> list[str]:
    """The lines of the members' log that no fault excuses."""
    if not log_path.exists():
        return []
    lines = log_path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if COMPLAINTS.search(line)]

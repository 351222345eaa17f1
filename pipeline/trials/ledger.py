"""The ledger of a chaos run: what was put in against what came out, counted by the database and the folders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from pipeline.trials.paper import marker

_SUCCEEDED = text("SELECT sha256 FROM documents_v WHERE status = 'succeeded' AND reason = 'ok'")
_LIVE = text("SELECT count(*) FROM tasks WHERE finished_at IS NULL")
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
_UNEVEN = text(
    """
    SELECT count(*)
    FROM tasks
    WHERE attempt_no <> (SELECT count(*) FROM attempts WHERE attempts.task_id = tasks.task_id)
        OR EXISTS (SELECT FROM attempts WHERE attempts.task_id = tasks.task_id AND outcome IS NULL)
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
_HITS = text("SELECT count(*) FROM attempts WHERE outcome IN ('crashed', 'expired')")
_REUSED = text("SELECT COALESCE(sum(pages_reused), 0) FROM attempts")
_FALSE = text("SELECT count(*) FROM attempts WHERE late_finish_at IS NOT NULL")
_RECOVERY = text(
    """
    SELECT
        percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds_to_take_back) AS p50,
        percentile_cont(0.99) WITHIN GROUP (ORDER BY seconds_to_take_back) AS p99,
        max(seconds_to_take_back) AS longest
    FROM recoveries
    WHERE outcome = :outcome
    """
)


@dataclass(frozen=True, slots=True)
class Paper:
    """A document that went in: its number and how many pages it has."""

    number: int
    pages: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """The books at the end. All of lost, doubled, stuck, wrong_pages, uneven_attempts and misplaced must be 0."""

    documents: int
    lost: int
    doubled: int
    stuck: int
    wrong_pages: int
    uneven_attempts: int
    misplaced: int
    hits: int
    pages_kept: int
    false_recoveries: int
    child_recovery: tuple[float, float, float] | None
    worker_recovery: tuple[float, float, float] | None

    @property
    def balances(self) -> bool:
        """Whether nothing is lost, doubled, stuck, wrong or misplaced."""
        wrong = (self.lost, self.doubled, self.stuck, self.wrong_pages, self.uneven_attempts, self.misplaced)
        return not any(wrong)


def close_books(engine: Engine, papers: Mapping[str, Paper], *, inbox: Path, processed: Path) -> Ledger:
    """Count everything once more, from the database and the folders; `papers` is what went in, by sha256."""
    with engine.connect() as connection:
        succeeded = {row.sha256 for row in connection.execute(_SUCCEEDED)}
        return Ledger(
            documents=len(papers),
            lost=len(papers.keys() - succeeded),
            doubled=connection.execute(_DOUBLED).scalar_one(),
            stuck=connection.execute(_LIVE).scalar_one(),
            wrong_pages=_wrong_pages(connection.execute(_PAGES), papers),
            uneven_attempts=connection.execute(_UNEVEN).scalar_one(),
            misplaced=_misplaced(papers, inbox, processed),
            hits=connection.execute(_HITS).scalar_one(),
            pages_kept=connection.execute(_REUSED).scalar_one(),
            false_recoveries=connection.execute(_FALSE).scalar_one(),
            child_recovery=_times(connection.execute(_RECOVERY, {"outcome": "crashed"}).one()),
            worker_recovery=_times(connection.execute(_RECOVERY, {"outcome": "expired"}).one()),
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


def _misplaced(papers: Mapping[str, Paper], inbox: Path, processed: Path) -> int:
    """Files that are not in processed/ once each with their own bytes, and files that still stand in the inbox."""
    left = len([path for path in inbox.rglob("*") if path.is_file()])
    placed = [hashlib.sha256(path.read_bytes()).hexdigest() for path in processed.rglob("*") if path.is_file()]
    return left + len(papers.keys() - set(placed)) + len(placed) - len(set(placed))


def _times(row: Any) -> tuple[float, float, float] | None:
    return None if row.longest is None else (float(row.p50), float(row.p99), float(row.longest))

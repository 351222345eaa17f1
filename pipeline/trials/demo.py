"""The demo: sample documents go through the inbox, the worker that reads the 200-page contract is killed, another
finishes.

Everything is the real thing: an embedded PostgreSQL, one watcher and two workers as processes of their own, and a
SIGKILL.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, TextClause, text

from pipeline.app import open_app
from pipeline.database import resource
from pipeline.errors import DocleaseError
from pipeline.trials.home import Trial, trial

# Leases as short as they can be without being run over on a busy machine, so that the recovery fits in a minute.
CHANGES: Mapping[str, Any] = {
    "inbox": {"quiet_for_seconds": 0.5, "rescan_seconds": 1},
    "lease": {"base_seconds": 3, "per_page_seconds": 0.1, "min_seconds": 4, "step_pages": 10},
    "sweep": {"interval_seconds": 1},
    "queue": {"poll_seconds": 0.5},
}
CONTRACT = "contract-200-pages.pdf"
KILL_AFTER_PAGES = 40
LIMIT_SECONDS = 120
LOOK_SECONDS = 0.05

_CONTRACT = text(
    "SELECT pages_done, lease_holder FROM tasks JOIN documents USING (document_id)"
    " WHERE documents.name = :name AND tasks.status = 'processing'"
)
_PROGRESS = text(
    """
    SELECT
        count(*) AS documents,
        count(*) FILTER (WHERE finished_at IS NOT NULL) AS ended,
        COALESCE(sum(pages_done), 0) AS pages_done,
        COALESCE(sum(page_count), 0) AS pages
    FROM tasks
    """
)
_ARRIVALS = text("SELECT count(*), count(*) FILTER (WHERE placed_at IS NULL) FROM arrivals")
DOCUMENTS = text(
    """
    SELECT documents_v.document_id AS id, parent_document_id AS "in", documents_v.name, document_type AS type,
           status, documents_v.reason, pages_done || '/' || page_count AS pages, sources.source, attempts
    FROM documents_v
    LEFT JOIN LATERAL (
        SELECT string_agg(DISTINCT source, ', ') AS source
        FROM pages
        WHERE pages.task_id = documents_v.task_id
    ) AS sources ON true
    ORDER BY documents_v.document_id
    """
)
INVOICES = text(
    "SELECT name, invoice_number, issue_date, seller_name, currency, total_gross FROM invoices ORDER BY document_id"
)
FAILED_CHECKS = text(
    """
    SELECT documents.name, checks_v."check", checks_v.message
    FROM checks_v
    JOIN documents USING (document_id)
    WHERE NOT checks_v.passed AND starts_with(checks_v."check", 'xml_vs_print_')
    ORDER BY document_id, "check"
    """
)
DUPLICATES = text(
    """
    SELECT name, duplicate_of_name AS duplicate_of, invoice_number, seller_name, currency, total_gross, matched_by
    FROM business_duplicates
    ORDER BY document_id
    """
)
REVIEW = text(
    """
    SELECT name, doubts, field, value, why
    FROM (
        SELECT
            *,
            count(*) OVER (PARTITION BY document_id) AS doubts,
            row_number() OVER (PARTITION BY document_id ORDER BY item, value NULLS FIRST, confidence, field) AS place
        FROM review_queue
    ) AS queue
    WHERE place = 1
    ORDER BY total_gross DESC NULLS LAST, document_id
    """
)
LEFT_OUT = text(
    "SELECT name, parent_name, left_out FROM attachments_v WHERE left_out IS NOT NULL"
    " ORDER BY parent_document_id, number"
)
RECOVERIES = text("SELECT * FROM recoveries ORDER BY taken_back_at")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the demo is."""

    documents: int
    ended: int
    pages_done: int
    pages: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the demo ends with: the rows of its tables, and where the files went, by folder."""

    documents: Sequence[Mapping[str, Any]]
    left_out: Sequence[Mapping[str, Any]]
    invoices: Sequence[Mapping[str, Any]]
    failed_checks: Sequence[Mapping[str, Any]]
    duplicates: Sequence[Mapping[str, Any]]
    review: Sequence[Mapping[str, Any]]
    recoveries: Sequence[Mapping[str, Any]]
    places: Sequence[str]

    @property
    def is_as_promised(self) -> bool:
        """Whether the contract was lost in the middle and finished by another worker, at the next page."""
        return any(
            row["name"] == CONTRACT
            and row["resumed_outcome"] == "succeeded"
            and row["lost_worker"] != row["resumed_by_worker"]
            and row["resumed_at_page"] == row["lost_at_page"] + 1 > 1
            for row in self.recoveries
        )


@dataclass(frozen=True, slots=True)
class Demo:
    """One demo. `say` is told what happens, in lines; `show` how far it is, often."""

    say: Callable[[str], None]
    show: Callable[[Progress], None]

    def run(self, folder: Path) -> Outcome:
        """From an empty folder to the tables. Raises DocleaseError when it does not come to an end."""
        with trial(folder, CHANGES) as place, open_app(place.settings, name="demo") as app:
            self.say("PostgreSQL is up; starting a watcher and two workers")
            place.start("watcher", "watch")
            for _ in range(2):
                place.start("worker", "work", "-n", "1")
            copied = _drop_samples(place.settings.inbox_path)
            self.say(f"dropped {copied} files into inbox/")
            with app.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                self._kill_in_the_middle(place, connection)
                self._wait_until_placed(connection, copied)
                return _outcome(connection, place)

    def _kill_in_the_middle(self, place: Trial, connection: Connection) -> None:
        deadline = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < deadline:
            self._show(connection)
            row = connection.execute(_CONTRACT, {"name": CONTRACT}).one_or_none()
            if row is not None and row.pages_done >= KILL_AFTER_PAGES:
                pid = int(row.lease_holder.split("/")[-2])
                os.kill(pid, signal.SIGKILL)
                self.say(f"killed worker {pid} (SIGKILL) in the middle of {CONTRACT}, after page {row.pages_done}")
                return
            time.sleep(LOOK_SECONDS)
        raise DocleaseError(f"no worker took up {CONTRACT}; see {place.log_path}")

    def _wait_until_placed(self, connection: Connection, files: int) -> None:
        deadline = time.monotonic() + LIMIT_SECONDS
        told = False
        while time.monotonic() < deadline:
            progress = self._show(connection)
            if not told and connection.execute(RECOVERIES).first() is not None:
                self.say("it was missed: the contract was taken back, the other worker goes on")
                told = True
            arrived, unplaced = connection.execute(_ARRIVALS).one()
            if arrived >= files and progress.ended == progress.documents and not unplaced:
                return
            time.sleep(LOOK_SECONDS)
        raise DocleaseError("not everything came to its end; run `doclease demo --keep FOLDER` and look there")

    def _show(self, connection: Connection) -> Progress:
        progress = Progress(**connection.execute(_PROGRESS).one()._mapping)
        self.show(progress)
        return progress


def _drop_samples(inbox: Path) -> int:
    """Copy the sample documents into the inbox, each under a name that is ignored until it is whole."""
    samples = resource("sample_docs")
    names = sorted(json.loads((samples / "expected.json").read_text(encoding="utf-8"))["documents"])
    for name in names:
        partial = inbox / f"{name}.part"
        shutil.copyfile(samples / name, partial)
        partial.rename(inbox / name)
    return len(names)


def _outcome(connection: Connection, place: Trial) -> Outcome:
    def rows(query: TextClause) -> list[Mapping[str, Any]]:
        return [dict(row._mapping) for row in connection.execute(query)]

    home = place.settings.home
    placed = [place.settings.processed_path, place.settings.failed_path]
    files = sorted(path for folder in placed for path in folder.rglob("*") if path.is_file())
    return Outcome(
        documents=rows(DOCUMENTS),
        left_out=rows(LEFT_OUT),
        invoices=rows(INVOICES),
        failed_checks=rows(FAILED_CHECKS),
        duplicates=rows(DUPLICATES),
        review=rows(REVIEW),
        recoveries=rows(RECOVERIES),
        places=[str(path.relative_to(home)) for path in files],
    )

"""A short chaos with every kind of fault balances, and its ledger names each kind of damage that is planted in it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import Connection, text

from pipeline.app import App, open_app
from pipeline.cli.chaos import chaos
from pipeline.documents.archive import Archive
from pipeline.trials.chaos import Chaos, default_seconds
from pipeline.trials.faults import Fault
from pipeline.trials.feeding import Paper
from pipeline.trials.ledger import Ended, Evidence, Ledger, close_books

pytestmark = pytest.mark.slow
WORKER = "vm/4000000/aa"  # of no trial: above every process number


@dataclass(frozen=True, slots=True)
class Trial:
    """A finished trial, its database still up."""

    ledger: Ledger
    evidence: Evidence
    said: list[str]
    app: App

    def close(self, plant: Callable[[Connection], object] = lambda connection: None, **changed: object) -> Ledger:
        """The books with damage planted, which is taken back afterwards."""
        with self.app.engine.connect() as connection:
            # As a superuser may: neither triggers nor foreign keys are in the way, and nothing goes on record.
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            plant(connection)
            ledger = close_books(connection, replace(self.evidence, **changed))  # type: ignore[arg-type]
            connection.rollback()
        return ledger

    def sql(self, statement: str) -> Ledger:
        """The same with a statement."""
        return self.close(lambda connection: connection.execute(text(statement)))


@pytest.fixture(scope="module")
def trial() -> Iterator[Trial]:
    """One trial for all tests: it takes most of a minute."""
    said: list[str] = []
    with tempfile.TemporaryDirectory(prefix="doclease-tests-") as folder:
        Path(folder).chmod(0o755)
        ledger, evidence = Chaos(documents=40, seconds=18, seed=7, say=said.append).run(Path(folder) / "chaos")
        with open_app(evidence.settings, name="tests") as app:
            yield Trial(ledger, evidence, said, app)


def test_nothing_is_lost_doubled_stuck_or_stale_in_a_short_chaos(trial: Trial) -> None:
    assert trial.ledger.balances, (trial.ledger, trial.said)
    assert trial.ledger.documents >= 40
    assert trial.close() == trial.ledger  # closing the books changes nothing
    kinds = {fault.kind for fault in trial.evidence.faults}
    assert kinds >= {"kill", "stop long", "term", "restart", "cut", "lose"}


@pytest.mark.parametrize(
    ("statement", "entry"),
    [
        ("UPDATE tasks SET reason = 'ok_with_gaps' WHERE task_id = (SELECT min(task_id) FROM tasks)", "lost"),
        ("UPDATE arrivals SET duplicate = true", "doubled"),
        (
            (
                "INSERT INTO tasks (document_id, page_count, rank_ms, lease_seconds, deadline_seconds)"
                " SELECT document_id, page_count, rank_ms, lease_seconds, deadline_seconds FROM tasks LIMIT 1"
            ),
            "doubled",
        ),
        (
            (
                "INSERT INTO trial_audit (transaction, backend, relation, task_id, attempt_no, before, after)"
                " SELECT transaction, backend, relation, task_id, attempt_no, before, after"
                " FROM trial_audit WHERE relation = 'tasks' AND after ->> 'status' = 'succeeded' LIMIT 1"
            ),
            "doubled",
        ),
        ("UPDATE documents SET sha256 = repeat('0', 64) WHERE document_id = 1", "unknown"),
        ("UPDATE arrivals SET placed_at = NULL WHERE arrival_id = 1", "stuck"),
        (
            "UPDATE tasks SET status = 'enqueued', finished_at = NULL WHERE task_id = (SELECT min(task_id) FROM tasks)",
            "stuck",
        ),
        ("DELETE FROM pages WHERE page_no = 1 AND task_id = (SELECT min(task_id) FROM tasks)", "wrong_pages"),
        ("UPDATE pages SET text = 'document-999999 page-0001' WHERE page_no = 1", "wrong_pages"),
        (
            "UPDATE pages SET page_no = 1001 - page_no WHERE page_no IN (1, 1000) AND task_id = 1",
            "wrong_pages",
        ),
        ("UPDATE attempts SET outcome = NULL, ended_at = NULL, result = NULL", "uneven_attempts"),
        ("DELETE FROM attempts WHERE attempt_no = 1", "uneven_attempts"),
        ("UPDATE tasks SET failure_count = failure_count + 1", "uneven_attempts"),
        ("UPDATE tasks SET release_count = release_count + 1", "uneven_attempts"),
        ("UPDATE tasks SET crash_count = crash_count + 100", "uneven_attempts"),
        ("UPDATE tasks SET attempt_no = attempt_no + 1", "uneven_attempts"),
        (
            (
                "DELETE FROM trial_audit WHERE entry = (SELECT min(entry) FROM trial_audit"
                " WHERE relation = 'tasks' AND after ->> 'status' = 'processing' AND before ->> 'status' = 'enqueued')"
            ),
            "uneven_attempts",
        ),
    ],
)
def test_damage_in_the_database_shows_in_the_books(trial: Trial, statement: str, entry: str) -> None:
    ledger = trial.sql(statement)
    assert getattr(ledger, entry) > getattr(trial.ledger, entry)
    assert not ledger.balances


ENTRY = "UPDATE trial_audit SET {change} WHERE entry = (SELECT min(entry) FROM trial_audit WHERE {which})"
ACCEPTED = "relation = 'tasks' AND before ->> 'status' = 'processing' AND after ->> 'status' = 'succeeded'"
RENEWED = (
    "relation = 'tasks' AND before ->> 'status' = 'processing' AND after ->> 'status' = 'processing'"
    " AND before ->> 'progressed_at' <> after ->> 'progressed_at'"
)
ANOTHERS_LEASE = """before = before || jsonb_build_object('token', gen_random_uuid())"""
ANOTHERS_TASK = f"""before = before || jsonb_build_object('holder', '{WORKER}')"""


@pytest.mark.parametrize(
    ("change", "which"),
    [
        (ANOTHERS_LEASE, ACCEPTED),
        (ANOTHERS_LEASE, RENEWED),
        (ANOTHERS_TASK, ACCEPTED),
        ("backend = -1", ACCEPTED),
        ("attempt_no = attempt_no + 1", "relation = 'pages'"),
        ("transaction = '0'", "relation = 'pages'"),
        ("before = after, after = NULL", "relation = 'pages'"),
        (
            "before = before || jsonb_build_object('outcome', 'expired')",
            "relation = 'attempts' AND before IS NOT NULL AND before ->> 'digest' <> after ->> 'digest'",
        ),
        ("transaction = '0'", "relation = 'attempts' AND before IS NULL"),
        (
            f"after = after || jsonb_build_object('holder', '{WORKER}')",
            "relation = 'tasks' AND before ->> 'status' = 'enqueued'",
        ),
    ],
)
def test_a_write_on_record_without_the_right_to_it_is_a_stale_write(trial: Trial, change: str, which: str) -> None:
    ledger = trial.sql(ENTRY.format(change=change, which=which))
    assert ledger.stale_writes > 0
    assert not ledger.balances
    assert any("process" in note for note in ledger.notes)


def test_a_lease_that_was_taken_before_it_ran_out_shows_in_the_books(trial: Trial) -> None:
    change = "backend = -1, after = after || jsonb_build_object('status', 'enqueued')"
    ledger = trial.sql(ENTRY.format(change=change, which=ACCEPTED))
    assert ledger.early_recoveries == 1
    assert not ledger.balances


def test_a_recovery_that_nobody_gave_a_reason_for_shows_in_the_books(trial: Trial) -> None:
    ledger = trial.sql(
        f"UPDATE attempts SET outcome = 'expired', result = NULL, worker = '{WORKER}', started_at = now(),"
        " ended_at = now()"
        " WHERE attempt_no = 1 AND task_id = (SELECT min(task_id) FROM tasks)"
    )
    assert len(ledger.recoveries.unexplained) == 1
    assert "4000000" in ledger.recoveries.unexplained[0]
    assert not ledger.balances


def test_a_paper_that_never_arrived_shows_in_the_books(trial: Trial) -> None:
    ledger = trial.close(papers={**trial.evidence.papers, "0" * 64: Paper(9, 1)})
    assert (ledger.lost, ledger.wrong_pages, ledger.misplaced) == (1, 1, 1)


def test_a_member_that_ends_by_itself_shows_in_the_books_unless_it_found_no_database(trial: Trial) -> None:
    now = time.time()
    ended = Ended("worker", 4000000, 7, now - 2, now)
    assert trial.close(ended=[ended]).bad_ends == 1
    outage = Fault("restart", "database", None, now - 1, now)
    excused = trial.close(ended=[ended], faults=[*trial.evidence.faults, outage])
    assert (excused.bad_ends, excused.put_off_starts) == (0, 1)
    for other in (replace(ended, exit_code=1), replace(ended, started_at=now - 1000)):
        assert trial.close(ended=[other], faults=[outage]).bad_ends == 1


@pytest.mark.parametrize(
    "line", ["Traceback (most recent call last):", "psycopg.errors.CheckViolation: no", "a fault of doclease"]
)
def test_a_complaint_in_the_members_log_shows_in_the_books(trial: Trial, tmp_path: Path, line: str) -> None:
    log = tmp_path / "processes.log"
    log.write_text(f"watching\n{line}\n", encoding="utf-8")
    ledger = trial.close(log_path=log)
    assert ledger.complaints == 1
    assert line in ledger.notes


@contextmanager
def moved(path: Path, target: Path) -> Iterator[None]:
    """A file at another place for a while."""
    target.parent.mkdir(parents=True, exist_ok=True)
    path.rename(target)
    yield
    target.rename(path)


@contextmanager
def written(path: Path) -> Iterator[None]:
    """A file that should not be, for a while."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"left over")
    yield
    path.unlink()


def test_files_out_of_place_show_in_the_books(trial: Trial) -> None:
    settings = trial.evidence.settings
    placed = next(path for path in sorted(settings.processed_path.rglob("*.pdf")))
    with moved(placed, settings.inbox_path / "again.pdf"):
        assert trial.close().misplaced == 2  # one stands in the inbox, one is missing where it belongs
    with moved(placed, settings.inbox_path / ".doclease" / "token" / placed.name):
        assert trial.close().misplaced == 2
    with moved(placed, settings.failed_path / placed.name):
        assert trial.close().misplaced == 2
    for path in (
        settings.processed_path / "unknown.pdf",
        settings.store_path / "tmp" / "copy",
        settings.store_path / "00" / "00" / "0000",
        trial.evidence.scratch_path / "doclease-child-1-x" / "page",
    ):
        with written(path):
            assert trial.close().misplaced == 1, path
    stored = Archive(settings.store_path).path_of(sorted(trial.evidence.papers)[0])
    with moved(stored, settings.home / "elsewhere"):
        assert trial.close().misplaced == 1
    assert trial.close().balances


def test_the_command_knows_its_faults_and_how_long_it_takes() -> None:
    result = CliRunner().invoke(chaos, ["--faults", "kill,flood"])
    assert result.exit_code == 2
    assert "'flood'" in result.output
    assert default_seconds(10) == 30
    assert default_seconds(5000) == 300

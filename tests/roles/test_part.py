"""Each role can do its part to the end, and who asks for more is told so in a line."""

from __future__ import annotations

import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from pipeline.metrics.gauges import Gauges
from pipeline.queue.model import Usage
from pipeline.queue.settle import Counts, Fault, Limits, decide
from pipeline.queue.store import Queue
from tests.cases import files
from tests.cli.conftest import rows_of
from tests.installations import run, typed, value
from tests.queue import rows
from tests.roles.conftest import Desk, LogIn
from tests.tasks import add_task
from tests.worker.shop import ROOT, until


@pytest.mark.slow
def test_each_role_does_its_part_to_the_end(desk: Desk, owner: Engine) -> None:
    home = desk.home
    (home / "inbox" / "memo.txt").write_text("Memo 2026-0042 about the roof.", encoding="utf-8")
    (home / "locked.pdf").write_bytes(files.locked("sesame"))
    with zipfile.ZipFile(home / "two.zip", "w") as archive:
        archive.writestr("inside.txt", "Words inside.")
    desk.become("ingest")
    typed(home, "ingest", str(home / "two.zip"), str(home / "locked.pdf"), exit_codes=(3,))
    typed(home, "watch", "--once")
    typed(home, "documents", "unlock", str(_document(owner, "locked.pdf")), answer="sesame\n")
    desk.become("work")
    typed(home, "work", "--drain")
    typed(home, "sweep", "--once")
    desk.become("ingest")
    typed(home, "watch", "--once")
    assert (home / "processed" / "memo.txt").exists()
    with owner.connect() as connection:
        ends = connection.execute(text("SELECT name, status, reason FROM documents_v")).all()
    names = ("two.zip", "locked.pdf", "memo.txt", "inside.txt")
    assert {tuple(end) for end in ends} == {(name, "succeeded", "ok") for name in names}
    desk.become("read")
    _read_all(home, _document(owner, "memo.txt"))
    desk.become("work", "read")
    typed(home, "db", "check")


def _document(owner: Engine, name: str) -> int:
    return int(value(owner, "SELECT document_id FROM documents WHERE name = :name", name=name))


def _read_all(home: Path, document: int) -> None:
    task = rows_of(typed(home, "tasks", "list", "--limit", "1", "--format", "json"))[0]["task_id"]
    for command in (
        "status", "leases", "search roof", "search 0042", "export invoices", "export pages", "export attempts",
        f"tasks show {task}", f"tasks explain {task}", "documents list", f"documents show {document}",
        f"documents text {document}", f"documents file {document}", "documents verify",
    ):  # fmt: skip
        typed(home, *command.split())
    typed(home, "sql", "SELECT * FROM invoices, contracts, failures, recoveries, throughput, queue_status")


def test_an_operator_steps_in_as_ingest(desk: Desk, owner: Engine) -> None:
    desk.become("ingest")
    path = desk.home / "memo.txt"
    path.write_text("A memo.", encoding="utf-8")
    typed(desk.home, "ingest", str(path))
    task = value(owner, "SELECT task_id FROM tasks")
    typed(desk.home, "tasks", "cancel", str(task))
    typed(desk.home, "tasks", "retry", "--reason", "cancelled")
    assert rows.status(owner, task) == "enqueued"
    queue = Queue(owner, limits=Limits(), aging_ms=1)
    queue.claim("worker/1/x")
    typed(desk.home, "tasks", "cancel", str(task))
    assert value(owner, "SELECT cancel_requested FROM tasks")
    rows.complete(queue, queue.held("worker/1/x")[0])
    typed(desk.home, "documents", "reprocess", str(_document(owner, "memo.txt")))
    assert value(owner, "SELECT count(*) FROM tasks WHERE status = 'enqueued'") == 1


@pytest.mark.slow
def test_a_login_of_ingest_and_work_runs_everything(desk: Desk, owner: Engine) -> None:
    desk.become("ingest", "work")
    (desk.home / "inbox" / "memo.txt").write_text("A memo.", encoding="utf-8")
    command = [sys.executable, "-m", "pipeline", "-C", str(desk.home), "run", "-n", "1"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            until((desk.home / "processed" / "memo.txt").exists, "the end of the memo")
            process.send_signal(signal.SIGTERM)
            told = process.communicate(timeout=60)[1]
        finally:
            process.kill()
    assert process.returncode == 130
    assert "permission denied" not in told


def test_a_worker_makes_every_move_of_a_task(owner: Engine, logged_in: LogIn) -> None:
    queue = Queue(logged_in("work"), limits=Limits(), aging_ms=1)
    for _ in range(4):
        add_task(owner, Queue(owner, limits=Limits(), aging_ms=1))
    released, failed, lost, finished = queue.claim("worker/1/x", batch=4)
    for claim, fault in ((released, Fault.RELEASE), (failed, Fault.TRANSIENT)):
        queue.fail(claim, decide(fault, Counts(), queue.limits, jitter=1), reason="io_error", usage=Usage())
    rows.checkpoint(queue, finished)
    rows.complete(queue, finished)
    rows.change(owner, "UPDATE tasks SET lease_expires_at = now() - interval '1 s' WHERE status = 'processing'")
    rows.change(owner, "UPDATE tasks SET not_before = now() WHERE status = 'delayed'")
    rows.change(owner, "UPDATE sweeper_state SET last_ok_at = now()")
    assert [taken.task_id for taken in queue.sweep(worker="w", interval_seconds=5).taken] == [lost.task_id]
    queue.late_finish(lost)
    assert queue.promote() == 1
    queue.calibrate()
    assert rows.outcomes(owner, lost.task_id) == ["expired"]
    assert value(owner, "SELECT count(late_finish_at) FROM attempts") == 1


@pytest.mark.parametrize("kind", ["ingest", "work", "read"])
def test_every_metric_is_shown_by_every_process(owner: Engine, logged_in: LogIn, kind: str) -> None:
    run(owner, "INSERT INTO inbox_scans VALUES ('inbox', now(), 0)")
    seen = [each.metric for each in Gauges(logged_in(kind)).read()]
    assert seen == [each.metric for each in Gauges(owner).read()]
    assert len(seen) > 10


@pytest.mark.parametrize(
    ("kind", "commands"),
    [
        ("read", ("ingest memo.txt", "watch --once", "work --once", "sweep --once", "tasks retry 1", "db upgrade")),
        ("ingest", ("work --once", "sweep --once", "search roof", "documents text 1", "export pages")),
        (
            "work",
            ("ingest memo.txt", "watch --once", "status", "export invoices", "db roles --apply"),
        ),
    ],
)
def test_a_person_whose_role_is_too_small_is_told_so_in_a_line(
    desk: Desk, caplog: pytest.LogCaptureFixture, kind: str, commands: tuple[str, ...]
) -> None:
    desk.become(kind)
    (desk.home / "memo.txt").write_text("A memo.", encoding="utf-8")
    (desk.home / "inbox" / "memo.txt").write_text("Another memo.", encoding="utf-8")
    for command in commands:
        words = [str(desk.home / word) if word == "memo.txt" else word for word in command.split()]
        told = typed(desk.home, *words, exit_codes=(8,)).stderr
        assert told.startswith("error: the database refuses: permission denied"), told
        assert "docs/operating.md" in told
    assert caplog.text == "", "not of each file as well"

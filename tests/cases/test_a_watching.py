"""Faults that watchers of other products had: blind on some mounts, dead after one bad file, or taking things twice."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, Engine
from sqlalchemy.exc import OperationalError

from pipeline import database
from pipeline.config import DatabaseSettings
from pipeline.intake.arrivals import Arrived
from pipeline.intake.recipe import Intake, Source
from pipeline.queue.settle import Limits
from pipeline.queue.store import Queue
from pipeline.registering import State
from pipeline.reports import monitor
from tests.conftest import AGING_MS, Clock
from tests.mounting import mounted
from tests.queue.losing_proxy import losing_proxy
from tests.taking import build_intake, count, rows, succeed_all
from tests.victims import dies
from tests.watching import build_watcher, drop, files, until, watching
from tests.worker.shop import Shop, pages

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")


class OddIntake(Intake):
    """Does what it is told for files of certain names."""

    odd: Callable[[str], None]

    def take(self, source: Source, **named: Any) -> Arrived:
        """Whatever is told first."""
        self.odd(source.name)
        return super().take(source, **named)


def _odd_intake(engine: Engine, home: Path, odd: Callable[[str], None]) -> Intake:
    intake = build_intake(engine, home / "store", kind=OddIntake)
    assert isinstance(intake, OddIntake)
    intake.odd = odd
    return intake


def _names_of(engine: Engine) -> list[str]:
    return sorted(rows(engine, "SELECT name FROM documents"))


@ROOT_ONLY
@pytest.mark.parametrize("kind", ["tmpfs", "bind"])
def test_a6_a7_a_mount_in_the_inbox_that_comes_and_goes_while_it_is_watched_is_never_blind(
    engine: Engine, queue: Queue, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    how: list[str | Path] = ["-t", "tmpfs", "none"] if kind == "tmpfs" else ["--bind", tmp_path / "elsewhere"]
    with watching(build_watcher(engine, tmp_path)):
        for name in ("first", "second"):
            with mounted(tmp_path / "inbox/remote", *how) as remote:
                (remote / f"{name}.txt").write_text(name)
                drop(tmp_path, f"local {name}.txt", name.encode() + b" here")
                until(lambda: f"{name}.txt" in _names_of(engine))  # noqa: B023 - called at once
                succeed_all(queue)
                until(lambda: files(remote) == {})
        until(lambda: rows(engine, "SELECT count(*) FROM arrivals WHERE placed_at IS NULL") == [0])
    assert _names_of(engine) == ["first.txt", "local first.txt", "local second.txt", "second.txt"]
    assert files(tmp_path / "processed")["remote/second.txt"] == b"second"


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(errno.EACCES, "not allowed"),
        OSError(errno.EIO, "bad sector"),
        MemoryError("no more"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no text"),
        RecursionError("too deep"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a8_a12_whatever_one_urgent_file_raises_the_batch_behind_it_is_taken(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def odd(name: str) -> None:
        if name == "bad.txt":
            raise error

    for number in range(20):
        drop(tmp_path, f"{number}.txt", b"words %d" % number)
    drop(tmp_path, "urgent/bad.txt", b"bad")
    with watching(build_watcher(engine, tmp_path, intake=_odd_intake(engine, tmp_path, odd))):
        until(lambda: count(engine, "documents") == 20)
        drop(tmp_path, "later.txt", b"later words")
        until(lambda: count(engine, "documents") == 21)
    assert b"bad" in files(tmp_path / "inbox").values()
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert 1 <= len(told) <= 2  # by its path when it was taken, by its token when that was tried again


def test_a8_a_file_whose_bytes_cannot_be_read_stops_nothing(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = build_watcher(engine, tmp_path, follow_symlinks=True, empty_grace_seconds=0)
    (tmp_path / "inbox/a.txt").symlink_to("/proc/self/mem")  # a regular file whose first byte is an input/output error
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        (tmp_path / "inbox/a.txt").read_bytes()
    drop(tmp_path, "z.txt", b"words")
    watcher.run_once()
    watcher.run_once()
    assert _names_of(engine) == ["z.txt"]
    assert caplog.text.count(os.strerror(errno.EIO)) == 1


def test_a8_a_watcher_that_hangs_shows_by_the_age_of_its_last_scan_and_one_that_works_does_not(
    engine: Engine, clock: Clock, tmp_path: Path
) -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    def odd(name: str) -> None:
        if name == "slow.txt":
            hangs.set()
            goes_on.wait()

    stale = monitor.parse_condition("scan_age>240")
    with watching(build_watcher(engine, tmp_path, intake=_odd_intake(engine, tmp_path, odd))):
        try:
            until(lambda: count(engine, "inbox_scans") == 1)
            clock.advance(minutes=5)
            until(lambda: not stale.holds(monitor.snapshot(engine)))
            drop(tmp_path, "slow.txt", b"words")
            assert hangs.wait(60)
            clock.advance(minutes=5)
            assert stale.holds(monitor.snapshot(engine))
        finally:
            goes_on.set()
        until(lambda: not stale.holds(monitor.snapshot(engine)))
    clock.advance(minutes=5)
    assert stale.holds(monitor.snapshot(engine))  # nobody watches any more


def test_a12_a_document_that_hangs_at_the_head_of_the_line_holds_up_nobody(
    open_for_business: Callable[..., Shop],
) -> None:
    shop = open_for_business(worker={"page_seconds": 1}, queue={"max_crashes": 2, "max_failures": 2})
    bad = shop.take(pages(1, p1="sleep 3600"), priority=10)
    good = [shop.take(pages(1)) for _ in range(20)]
    shop.work()
    assert {shop.task(task_id).status for task_id in good} == {"succeeded"}
    assert {reason for _, reason in shop.outcomes(bad)} <= {"timeout", "stalled"}
    assert shop.task(bad).finished_at is not None


def test_a16_a_delivery_that_is_repeated_because_its_answer_was_lost_is_one_document(
    engine: Engine, database_url: URL, tmp_path: Path
) -> None:
    path = drop(tmp_path, "a.txt", b"words")
    token = uuid.uuid4()
    with tempfile.TemporaryDirectory() as folder, losing_proxy(database_url, Path(folder)) as (url, proxy):
        unlucky = database.open_engine(url, DatabaseSettings(), name="a client that is cut off")
        intake = build_intake(unlucky, tmp_path / "store")
        proxy.lose_the_next_commit()
        with pytest.raises(OperationalError):
            intake.take(Source.at(path), token=token)
        repeated = intake.take(Source.at(path), token=token)
        unlucky.dispose()
    again = build_intake(engine, tmp_path / "store").take(Source.at(path), token=uuid.uuid4())
    assert repeated.state is State.ENQUEUED
    assert (again.document_id, again.task_id, again.state) == (
        repeated.document_id,
        repeated.task_id,
        State.DUPLICATE,
    )
    assert [count(engine, table) for table in ("documents", "tasks", "arrivals")] == [1, 1, 2]


def _mail(number: int) -> bytes:
    message = EmailMessage()
    message["Message-ID"] = f"<{number}@example.org>"
    message["From"], message["Subject"] = "supplier@example.org", f"Invoice {number}"
    message.set_content(f"Invoice {number} is attached.")
    message.add_attachment(f"Invoice {number}: 100 chairs".encode(), "text", "plain", filename="invoice.txt")
    return message.as_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["private_folder:PrivateFolder.seize", "recipe:Intake.record", "recipe:Intake.holds"])
def test_a17_overlapping_runs_over_one_folder_take_each_mail_once_also_when_one_is_killed(
    engine: Engine, database_url: URL, tmp_path: Path, step: str, when: str
) -> None:
    queue = Queue(engine, limits=Limits(), aging_ms=AGING_MS)
    mails = {f"mail/{number:02}.eml": _mail(number) for number in range(12)}
    for name, content in mails.items():
        drop(tmp_path, name, content)
    assert dies(database_url, tmp_path, f"pipeline.intake.{step}", when)
    assert {*files(tmp_path / "inbox").values()} == {*mails.values()}
    with watching(build_watcher(engine, tmp_path)), watching(build_watcher(engine, tmp_path)):
        until(lambda: count(engine, "arrivals") == 12)
        succeed_all(queue)
        until(lambda: files(tmp_path / "inbox") == {})
    assert [count(engine, table) for table in ("documents", "arrivals", "tasks")] == [12, 12, 12]
    assert rows(engine, "SELECT count(*) FROM arrivals WHERE duplicate") == [0]
    assert files(tmp_path / "processed") == mails


@ROOT_ONLY
def test_b12_intake_pauses_before_the_disk_of_the_store_is_full_and_loses_nothing_when_it_is(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    contents = {f"{number}.txt": b"word %d " % number * 100_000 for number in range(4)}
    with mounted(tmp_path / "store", "-t", "tmpfs", "-o", "size=8m", "none") as store:
        (store / "ballast").write_bytes(bytes(7_000_000))
        with watching(build_watcher(engine, tmp_path, min_free_megabytes=2)):
            for name, content in contents.items():
                drop(tmp_path, name, content)
            until(lambda: bool(rows(engine, "SELECT note FROM inbox_scans WHERE note LIKE 'paused: the disk of the%'")))
            assert files(tmp_path / "inbox") == contents  # not even renamed
            assert (count(engine, "documents"), set(files(store))) == (0, {"ballast"})
            assert not monitor.parse_condition("scan_age>30").holds(monitor.snapshot(engine))
            (store / "ballast").unlink()
            until(lambda: count(engine, "documents") == 4)
            until(lambda: rows(engine, "SELECT note FROM inbox_scans") == [None])
        stored = {path: content for path, content in files(store).items() if not path.startswith("tmp/")}
        assert sorted(stored.values()) == sorted(contents.values())
        assert not any(path.startswith("tmp/") for path in files(store))
    assert caplog.text.count("intake pauses") == caplog.text.count("intake goes on") == 1


@ROOT_ONLY
def test_b12_a_disk_that_runs_full_in_the_middle_of_files_leaves_no_half_one(
    engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    contents = {f"{number}.txt": b"word %d " % number * 100_000 for number in range(8)}
    for name, content in contents.items():
        drop(tmp_path, name, content)
    with mounted(tmp_path / "store", "-t", "tmpfs", "-o", "size=2500k", "none") as store:
        with watching(build_watcher(engine, tmp_path)):  # nothing is left alone: the disk itself refuses
            until(lambda: bool(rows(engine, "SELECT note FROM inbox_scans WHERE note LIKE 'paused: the disk of the%'")))
            taken = count(engine, "documents")
            assert 0 < taken < 8
            assert sorted(files(tmp_path / "inbox").values()) == sorted(contents.values())
            whole = [content for path, content in files(store).items() if not path.startswith("tmp/")]
            assert len(whole) == taken
            assert set(whole) < set(contents.values())
            subprocess.run(["mount", "-o", "remount,size=100m", store], check=True)
            until(lambda: count(engine, "documents") == 8)
            succeed_all(queue)
            until(lambda: files(tmp_path / "processed") == contents)
        assert not any(path.startswith("tmp/") for path in files(store))

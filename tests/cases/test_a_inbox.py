"""Faults that inboxes of other products had: files lost, taken half, taken twice, overwritten, or in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from pipeline.queue.store import Queue
from tests.documents.samples import pdf
from tests.taking import count, rows, succeed_all
from tests.watching import QUIET_SECONDS, build_watcher, drop, files, until, watching

WHOLE = pdf.build(["first page", "second page", "third page"])
AS_ANOTHER = """
import logging, os, sys
from pathlib import Path
from pipeline import database
from pipeline.config import DatabaseSettings
from tests.watching import build_watcher
logging.basicConfig(level=logging.WARNING, format="%(message)s")
engine = database.open_engine(database.parse_url(sys.argv[1]), DatabaseSettings(), name="another user")
watcher = build_watcher(engine, Path(sys.argv[2]))
engine.connect().close()
if os.geteuid() == 0:
    # Not before: the interpreter itself may be where only root can read it.
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for _ in range(3):
    watcher.run_once()
"""


def _names_of(engine: Engine) -> list[str]:
    return sorted(rows(engine, "SELECT name FROM documents"))


def _raw_names(folder: Path) -> list[bytes]:
    return sorted(os.fsencode(path.name) for path in folder.iterdir())


def test_a1_a_slow_writer_gives_one_whole_document_and_no_failure(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    watcher = build_watcher(engine, tmp_path)
    third = len(WHOLE) // 3
    with (tmp_path / "inbox/scan.pdf").open("wb", buffering=0) as scanner:
        for part in (WHOLE[:third], WHOLE[third : 2 * third], WHOLE[2 * third :]):
            assert count(engine, "arrivals") == 0
            scanner.write(part)
            enough = time.monotonic() + 3 * QUIET_SECONDS
            while time.monotonic() < enough:
                watcher.look()
    watcher.run_once()
    assert rows(engine, "SELECT byte_count, page_count FROM documents") == [(len(WHOLE), 3)]
    assert rows(engine, "SELECT status FROM tasks") == ["enqueued"]
    succeed_all(queue)
    watcher.run_once()
    assert files(tmp_path / "processed") == {"scan.pdf": WHOLE}


def test_a2_a_placeholder_of_0_bytes_waits_until_it_is_filled(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "inbox/scan.pdf"
    watcher = build_watcher(engine, tmp_path)
    path.touch()
    inode = path.stat().st_ino
    watcher.run_once()
    watcher.run_once()
    assert rows(engine, "SELECT waiting_files FROM inbox_scans") == [1]
    assert count(engine, "documents") == 0
    path.write_bytes(WHOLE)
    assert path.stat().st_ino == inode
    watcher.run_once()
    assert rows(engine, "SELECT name, status FROM tasks JOIN documents USING (document_id)") == [
        ("scan.pdf", "enqueued")
    ]


def test_a2_a_file_that_stays_empty_fails_by_that_name_after_its_grace(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox/scan.pdf").touch()
    build_watcher(engine, tmp_path, empty_grace_seconds=0).run_once()
    assert set(files(tmp_path / "failed")) == {"empty_file/scan.pdf", "empty_file/scan.pdf.error.txt"}


def test_a3_a6_a_burst_is_taken_in_whole_without_a_single_event(engine: Engine, tmp_path: Path) -> None:
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    for number in range(30):
        drop(tmp_path, f"{number:02}.txt", b"words %d" % number)
    watcher.run_once()
    assert _names_of(engine) == [f"{number:02}.txt" for number in range(30)]


def test_a4_touching_a_file_under_way_makes_no_second_document(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    drop(tmp_path, "a.pdf", WHOLE)
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    [held] = [path for path in (tmp_path / "inbox/.doclease").rglob("*") if path.is_file()]
    os.utime(held)
    held.chmod(0o600)
    drop(tmp_path, "a.pdf", WHOLE)  # somebody puts the same file there once more
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    assert (count(engine, "documents"), count(engine, "tasks"), count(engine, "attempts")) == (1, 1, 1)
    assert files(tmp_path / "processed") == {"a.pdf": WHOLE, "duplicates/a.pdf": WHOLE}


def test_a4_a_true_change_while_the_task_runs_is_a_new_version(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    drop(tmp_path, "a.txt", b"first version")
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    [first] = queue.claim("worker")
    drop(tmp_path, "a.txt", b"second version")
    watcher.run_once()
    [second] = queue.claim("worker")
    assert first.document_id != second.document_id


def test_a5_a_tree_of_folders_moved_in_is_taken_in_whole(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    expected = {f"batch/{number % 3}/deep/{number}.txt": b"words %d" % number for number in range(50)}
    for name, content in expected.items():
        (tmp_path / "outside" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "outside" / name).write_bytes(content)
    watcher = build_watcher(engine, tmp_path)
    with watching(watcher):
        (tmp_path / "outside/batch").rename(tmp_path / "inbox/batch")
        until(lambda: count(engine, "tasks") == 50)
    succeed_all(queue)
    watcher.run_once()
    assert files(tmp_path / "processed") == expected


def test_a5_a_tree_moved_out_between_scans_is_no_error(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(10):
        drop(tmp_path, f"batch/{number}.txt", b"words %d" % number)
    watcher = build_watcher(engine, tmp_path)
    watcher.look()
    (tmp_path / "inbox/batch").rename(tmp_path / "away")
    watcher.run_once()
    assert count(engine, "documents") == 0
    assert [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


@pytest.fixture
def open_home() -> Iterator[Path]:
    """A folder that another user may work in."""
    with tempfile.TemporaryDirectory(prefix="doclease-tests-") as folder:
        home = Path(folder)
        for path in (home, home / "inbox"):
            path.mkdir(exist_ok=True)
            path.chmod(0o777)
        yield home


def _watch_as_another(database_url: URL, home: Path) -> str:
    """Three runs of a watcher without root's rights; returns what it logged."""
    url = database_url.render_as_string(hide_password=False)
    command = [sys.executable, "-B", "-c", AS_ANOTHER, url, str(home)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_a8_a_file_that_cannot_be_read_is_told_once_and_stops_nothing(
    engine: Engine, database_url: URL, open_home: Path
) -> None:
    drop(open_home, "a.txt", b"not for others").chmod(0)
    drop(open_home, "z.txt", b"for all").chmod(0o644)
    (open_home / "inbox/closed").mkdir(mode=0o700)
    drop(open_home, "closed/b.txt", b"nor this")
    (open_home / "inbox/closed").chmod(0 if os.geteuid() else 0o700)
    told = _watch_as_another(database_url, open_home)
    (open_home / "inbox/closed").chmod(0o700)
    assert _names_of(engine) == ["z.txt"]
    assert told.count("a.txt") == told.count("closed") == 1
    assert (open_home / "inbox/a.txt").exists()


def test_a9_a_file_that_cannot_be_moved_is_read_once_and_left(
    engine: Engine, database_url: URL, open_home: Path
) -> None:
    drop(open_home, "shelf/a.txt", b"words").chmod(0o644)
    (open_home / "inbox/shelf").chmod(0o555)
    try:
        told = _watch_as_another(database_url, open_home)
        again = _watch_as_another(database_url, open_home)
    finally:
        (open_home / "inbox/shelf").chmod(0o755)
    assert told.count("cannot be moved") == 1
    assert again.count("cannot be moved") == 0
    assert (count(engine, "documents"), count(engine, "arrivals")) == (1, 1)
    assert files(open_home / "inbox") == {"shelf/a.txt": b"words"}


def test_a9_a_new_version_of_a_file_that_cannot_be_moved_is_read_again(
    engine: Engine, database_url: URL, open_home: Path
) -> None:
    path = drop(open_home, "shelf/a.txt", b"words")
    for content in (b"words", b"other words"):
        (open_home / "inbox/shelf").chmod(0o755)
        path.write_bytes(content)
        path.chmod(0o644)
        (open_home / "inbox/shelf").chmod(0o555)
        _watch_as_another(database_url, open_home)
    (open_home / "inbox/shelf").chmod(0o755)
    assert (count(engine, "documents"), count(engine, "arrivals")) == (2, 2)


def test_a9_a_file_of_somebody_else_has_its_place_in_the_end_although_nobody_can_tell_who_writes_to_it(
    engine: Engine, queue: Queue, database_url: URL, open_home: Path
) -> None:
    drop(open_home, "a.txt", b"words").chmod(0o644)
    _watch_as_another(database_url, open_home)
    succeed_all(queue)
    _watch_as_another(database_url, open_home)
    assert files(open_home / "processed") == {"a.txt": b"words"}
    assert files(open_home / "inbox") == {}


def test_a10_what_arrived_while_nobody_watched_is_taken_in(engine: Engine, tmp_path: Path) -> None:
    for number in range(5):
        drop(tmp_path, f"{number}.txt", b"words %d" % number)
    with watching(build_watcher(engine, tmp_path)):
        until(lambda: count(engine, "tasks") == 5)


def test_a11_litter_is_left_alone_and_an_unknown_kind_fails_with_its_bytes_unchanged(
    engine: Engine, tmp_path: Path
) -> None:
    litter = dict.fromkeys((".DS_Store", "Thumbs.db", "~$doc.docx", "x.part"), b"litter")
    program = b"MZ\x90\x00\x03\x00\x00\x00\x04" + bytes(range(256))
    for name, content in {**litter, "setup.exe": program}.items():
        drop(tmp_path, name, content)
    build_watcher(engine, tmp_path).run_once()
    assert files(tmp_path / "inbox") == litter
    failed = files(tmp_path / "failed/unsupported")
    assert failed.pop("setup.exe") == program
    assert list(failed) == ["setup.exe.error.txt"]


def test_a13_a_folder_with_the_name_of_a_file_is_a_folder(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "inbox/new.pdf").mkdir(parents=True)
    drop(tmp_path, "other.pdf/a.pdf", WHOLE)
    build_watcher(engine, tmp_path).run_once()
    assert _names_of(engine) == ["a.pdf"]
    assert (tmp_path / "inbox/new.pdf").is_dir()


def test_a14_duplicates_are_processed_once_and_have_a_place_of_their_own(
    engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    names = ["a/one.pdf", "a/two.pdf", "b/three.pdf"]
    with watching(build_watcher(engine, tmp_path)), watching(build_watcher(engine, tmp_path)):
        for name in names:
            drop(tmp_path, name, WHOLE)
        until(lambda: count(engine, "arrivals") == 3)
    succeed_all(queue)
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    drop(tmp_path, "c/four.pdf", WHOLE)  # after a restart, and after the first one is done
    watcher.run_once()
    assert (count(engine, "documents"), count(engine, "tasks"), count(engine, "attempts")) == (1, 1, 1)
    placed = files(tmp_path / "processed")
    assert sorted(name.removeprefix("duplicates/") for name in placed) == [*names, "c/four.pdf"]
    assert sum(name.startswith("duplicates/") for name in placed) == 3
    assert set(placed.values()) == {WHOLE}
    assert files(tmp_path / "inbox") == {}


def test_a15_files_of_the_same_name_never_overwrite_each_other(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    longest = "x" * 251 + ".txt"
    contents = {"a/invoice.txt": b"of a", "b/invoice.txt": b"of b", "A/invoice.txt": b"of A", longest: b"long"}
    watcher = build_watcher(engine, tmp_path)
    for name, content in contents.items():
        drop(tmp_path, name, content)
    watcher.run_once()
    drop(tmp_path, "a/invoice.txt", b"of a, later")
    drop(tmp_path, longest, b"long, later")
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    assert files(tmp_path / "processed") == {
        **contents,
        "a/invoice~2.txt": b"of a, later",
        "x" * 249 + "~2.txt": b"long, later",
    }


def test_c2_odd_names_go_through_byte_by_byte(engine: Engine, queue: Queue, tmp_path: Path) -> None:
    names = [b"M\xe4rz.txt", b"two\nlines.txt", b"-rf.txt", b"dot.", b" space ", "\u202etxt.\U0001f4c4".encode()]
    for number, name in enumerate(names):
        drop(tmp_path, b"odd\xff/" + name, b"words %d" % number)
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    assert _raw_names(tmp_path / "processed" / os.fsdecode(b"odd\xff")) == sorted(names)


def test_c2_odd_names_fail_with_notes_that_can_be_read(engine: Engine, tmp_path: Path) -> None:
    broken = b"%PDF-1.4\nbroken\n%%EOF\n"
    names = [b"M\xe4rz.pdf", "\u00e4".encode() * 125 + b".pdf"]
    for name in names:
        drop(tmp_path, name, broken + name)
    build_watcher(engine, tmp_path).run_once()
    [folder] = (tmp_path / "failed").iterdir()
    found = _raw_names(folder)
    assert set(names) < set(found)
    notes = [name for name in found if name.endswith(b".error.txt")]
    assert len(notes) == 2
    assert max(len(name) for name in found) <= 255
    assert all("Document:" in (folder / os.fsdecode(name)).read_text("utf-8") for name in notes)
    shutil.rmtree(folder)

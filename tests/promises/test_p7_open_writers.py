"""P7: a file that somebody goes on writing to loses nothing, and what was written is a version of its own.

The writers are processes of their own that hold the file open across its take, its document's end and its placing. The
last place is on the same file system or on another one, where giving up the old name would lose what comes later.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine

from pipeline.queue.store import Queue
from tests.mounting import mounted
from tests.taking import count, rows, succeed_all
from tests.watching import build_watcher, drop, files, until, watching

APPENDER = """
import sys
with open(sys.argv[1], "ab", buffering=0) as file:
    print("open", flush=True)
    for line in sys.stdin:
        file.write(line.encode())
        print("written", flush=True)
"""
MAPPER = """
import mmap, sys
with open(sys.argv[1], "r+b") as file:
    mapped = mmap.mmap(file.fileno(), 0)
    mapped[0:1] = mapped[0:1]
print("open", flush=True)
for line in sys.stdin:
    mapped[:len(line) - 1] = line[:-1].encode()
    print("written", flush=True)
"""
RESTLESS = """
import random, sys, time
with open(sys.argv[1], "ab", buffering=0) as file:
    for number in range(60):
        file.write(b"line %d\\n" % number)
        time.sleep(random.choice((0, 0, 0.05, 0.3)))
"""
QUICK_SECONDS = 0.05  # the watchers wait ten times that for a file that is open
EVERYTHING = b"".join(b"line %d\n" % number for number in range(60))
pytestmark = pytest.mark.slow
Write = Callable[[str], None]


@pytest.fixture(params=["the same file system", "another file system"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A folder whose processed/ is on the same file system as its inbox, or on another one."""
    if request.param == "the same file system":
        yield tmp_path
        return
    with mounted(tmp_path / "processed", "-t", "tmpfs", "none"):
        yield tmp_path


@contextmanager
def _writer(program: str, path: Path) -> Iterator[Write]:
    """A process that holds the file open while the context is, and writes what it is told."""
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        pipe, answers = process.stdin, process.stdout

        def write(words: str) -> None:
            pipe.write(words + "\n")
            assert answers.readline() == "written\n"

        assert answers.readline() == "open\n"
        yield write
        pipe.close()
    assert process.returncode == 0


def _versions(engine: Engine) -> list[int]:
    return rows(engine, "SELECT byte_count FROM documents ORDER BY document_id")


def test_a_writer_that_holds_the_file_across_everything_loses_nothing(engine: Engine, queue: Queue, home: Path) -> None:
    path = drop(home, "a.txt", b"one\n")
    watcher = build_watcher(engine, home, quiet_for_seconds=QUICK_SECONDS)
    with _writer(APPENDER, path) as write:
        watcher.run_once()  # it stood still for long, so it is taken although it is open
        assert _versions(engine) == [4]
        succeed_all(queue)
        watcher.run_once()  # and it is not moved for good, because it is open
        assert list(files(home / "inbox").values()) == [b"one\n"]
        assert files(home / "processed") == {}
        write("two")
        watcher.run_once()
        watcher.run_once()
        assert _versions(engine) == [4, 8]
        succeed_all(queue)
        watcher.run_once()
        assert files(home / "processed") == {}
        write("three")
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    assert _versions(engine) == [4, 8, 14]
    assert files(home / "processed") == {"a.txt": b"one\ntwo\nthree\n"}
    assert files(home / "inbox") == {}
    assert rows(engine, "SELECT count(*) FROM arrivals WHERE placed_at IS NULL") == [0]


def test_a_restart_while_the_writer_goes_on_changes_nothing(engine: Engine, queue: Queue, home: Path) -> None:
    path = drop(home, "a.txt", b"one\n")
    with _writer(APPENDER, path) as write:
        build_watcher(engine, home, quiet_for_seconds=QUICK_SECONDS).run_once()
        succeed_all(queue)
        build_watcher(engine, home, quiet_for_seconds=QUICK_SECONDS).run_once()
        write("two")
    build_watcher(engine, home, quiet_for_seconds=QUICK_SECONDS).run_once()
    succeed_all(queue)
    build_watcher(engine, home, quiet_for_seconds=QUICK_SECONDS).run_once()
    assert _versions(engine) == [4, 8]
    assert files(home / "processed") == {"a.txt": b"one\ntwo\n"}


def test_what_is_written_through_a_mapping_is_noticed_although_its_time_may_not_change(
    engine: Engine, queue: Queue, home: Path
) -> None:
    path = drop(home, "a.txt", b"first")
    watcher = build_watcher(engine, home, quiet_for_seconds=QUICK_SECONDS)
    with _writer(MAPPER, path) as write:
        watcher.run_once()
        succeed_all(queue)
        watcher.run_once()
        write("other")
        [held] = [each for each in (home / "inbox/.doclease").rglob("*") if each.is_file()]
        status = held.stat()
    taken = rows(engine, "SELECT mtime_ns FROM arrivals")
    os.utime(held, ns=(status.st_atime_ns, taken[0]))  # as it is where the page was dirty before the take
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    assert rows(engine, "SELECT sha256 FROM documents ORDER BY document_id") == [
        hashlib.sha256(content).hexdigest() for content in (b"first", b"other")
    ]
    assert files(home / "processed") == {"a.txt": b"other"}


def test_whatever_the_pauses_of_a_writer_its_last_version_is_read_and_placed(
    engine: Engine, queue: Queue, home: Path
) -> None:
    path = drop(home, "a.txt", b"")
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            succeed_all(queue)
            time.sleep(0.01)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        # Quick to take, so that versions are taken and placed between the lines.
        with watching(build_watcher(engine, home, quiet_for_seconds=0.02)):
            assert subprocess.run([sys.executable, "-c", RESTLESS, str(path)], check=False).returncode == 0
            until(lambda: EVERYTHING in files(home / "processed").values())
            until(lambda: files(home / "inbox") == {})
    finally:
        stop.set()
        worker.join()
    assert hashlib.sha256(EVERYTHING).hexdigest() in rows(engine, "SELECT sha256 FROM documents")
    assert list(files(home / "processed").values()) == [EVERYTHING]
    assert count(engine, "documents") >= 1

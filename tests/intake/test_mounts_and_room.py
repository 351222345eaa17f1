"""Mounts in the inbox, each with its own way of telling, and a store whose disk runs full."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
from sqlalchemy import Engine

from pipeline.documents import mounts
from pipeline.intake.outages import Room
from pipeline.queue.store import Queue
from tests.mounting import mounted
from tests.taking import count, rows, succeed_all
from tests.watching import build_watcher, drop, files

MEGABYTE = 1_000_000
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")


@ROOT_ONLY
def test_a_bind_mount_in_the_inbox_has_a_private_folder_of_its_own(
    engine: Engine, queue: Queue, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere/deep").mkdir(parents=True)
    (tmp_path / "elsewhere/deep/a.txt").write_bytes(b"words")
    with mounted(tmp_path / "inbox/bound", "--bind", tmp_path / "elsewhere") as bound:
        assert bound.stat().st_dev == (tmp_path / "inbox").stat().st_dev
        watcher = build_watcher(engine, tmp_path)
        watcher.run_once()
        assert list(files(bound / ".doclease").values()) == [b"words"]
        succeed_all(queue)
        watcher.run_once()
        assert files(bound) == {}
        assert files(tmp_path / "processed") == {"bound/deep/a.txt": b"words"}


@ROOT_ONLY
def test_the_log_says_which_mount_is_scanned_only(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with mounted(tmp_path / "inbox/remote", "-t", "tmpfs", "none") as remote:
        assert mounts.mount_of(remote, mounts.read()) == mounts.Mount(os.fsencode(remote), "tmpfs")
        drop(tmp_path, "a.txt", b"words")
        (remote / "b.txt").write_bytes(b"other words")
        with caplog.at_level(logging.INFO):
            build_watcher(engine, tmp_path).run_once()
    assert count(engine, "documents") == 2


def test_there_is_room_while_the_disk_has_more_than_is_to_be_left(tmp_path: Path) -> None:
    found = os.statvfs(tmp_path)
    free_megabytes = found.f_bavail * found.f_frsize / MEGABYTE
    store = tmp_path / "not/made/yet"
    assert Room(store, min_free_megabytes=0).shortage(10**18) is None
    assert Room(store, min_free_megabytes=free_megabytes / 2).shortage(0) is None
    assert Room(store, min_free_megabytes=free_megabytes / 2).shortage(int(free_megabytes * MEGABYTE)) is not None
    told = Room(store, min_free_megabytes=free_megabytes * 2).shortage(0)
    assert told is not None
    for words in (str(store), "MB free", "inbox.min_free_megabytes", "free some space"):
        assert words in told


def test_what_ended_gets_its_place_also_while_intake_pauses(
    engine: Engine, queue: Queue, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    drop(tmp_path, "a.txt", b"words")
    build_watcher(engine, tmp_path).run_once()
    succeed_all(queue)
    drop(tmp_path, "b.txt", b"other words")
    paused = build_watcher(engine, tmp_path, min_free_megabytes=10**9)
    paused.run_once()
    paused.run_once()
    assert files(tmp_path / "processed") == {"a.txt": b"words"}
    assert files(tmp_path / "inbox") == {"b.txt": b"other words"}
    assert count(engine, "documents") == 1
    [note] = rows(engine, "SELECT note FROM inbox_scans")
    assert note.startswith("paused: the disk of the store")
    assert caplog.text.count("intake pauses") == 1
    build_watcher(engine, tmp_path).run_once()
    assert count(engine, "documents") == 2
    assert rows(engine, "SELECT note FROM inbox_scans") == [None]


def test_a_held_file_waits_for_room_as_well(engine: Engine, tmp_path: Path) -> None:
    held = tmp_path / "inbox/.doclease/12345678-1234-4234-8234-123456789abc/a.txt"
    held.parent.mkdir(parents=True)
    held.write_bytes(b"claimed by a watcher that died")
    build_watcher(engine, tmp_path, min_free_megabytes=10**9).run_once()
    assert held.exists()
    assert count(engine, "documents") == 0
    build_watcher(engine, tmp_path).run_once()
    assert count(engine, "documents") == 1

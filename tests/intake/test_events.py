"""Events make a scan come sooner; each mount is listened to or not by what it is."""

from __future__ import annotations

import logging
import os
import subprocess
import threading
from pathlib import Path

import pytest
from sqlalchemy import Engine

from pipeline.documents import mounts
from pipeline.documents.mounts import Mount, parse
from pipeline.intake.events import InboxEvents, plan
from tests.mounting import mounted
from tests.taking import count, rows
from tests.watching import build_watcher, drop, until, watching

HOUR = 3600.0
LONG_SECONDS = 60.0


def test_a_file_is_taken_long_before_the_next_scan_is_due(engine: Engine, tmp_path: Path) -> None:
    with watching(build_watcher(engine, tmp_path, rescan_seconds=HOUR)):
        until(lambda: count(engine, "inbox_scans") == 1)
        drop(tmp_path, b"first/M\xe4rz.txt", b"a name that is no text")
        until(lambda: count(engine, "tasks") == 1)
        drop(tmp_path, "second/a.txt", b"words")
        until(lambda: count(engine, "tasks") == 2)
    assert rows(engine, "SELECT count(*) FROM arrivals WHERE duplicate") == [0]


def _mounts(*lines: str) -> list[Mount]:
    return parse("\n".join(f"none {line} rw 0 0" for line in lines).encode())


def test_each_mount_is_listened_to_by_its_own_file_system(tmp_path: Path) -> None:
    here = tmp_path / "inbox"
    local = plan(here, _mounts("/ ext4", f"{here}/nas cifs", f"{here}/fast tmpfs"))
    assert local.heard == (here,)
    assert local.silent == ((here / "nas", "cifs"),)
    remote = plan(here, _mounts("/ ext4", f"{here} nfs4", f"{here}/fast tmpfs", f"{here}/deep/other fuse.sshfs"))
    assert remote.heard == (here / "fast",)
    assert remote.silent == ((here, "nfs4"), (here / "deep/other", "fuse.sshfs"))


def test_where_nothing_is_known_of_mounts_everything_is_listened_to(tmp_path: Path) -> None:
    assert plan(tmp_path, []).heard == (tmp_path,)


def test_start_up_says_what_is_scanned_only_and_how_often(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = _mounts("/ ext4", f"{tmp_path}/nas cifs")
    with caplog.at_level(logging.INFO):
        with InboxEvents(tmp_path, rescan_seconds=7, read_mounts=lambda: found) as events:
            events.listen_where_it_helps()
        assert [record.getMessage() for record in caplog.records] == [
            f"{tmp_path}/nas is on cifs, which may tell of no changes: it is scanned every 7 s instead"
        ]


def _settled(events: InboxEvents) -> None:
    """Wait until listening has begun and said so, and until nothing more is told."""
    assert events.wait(threading.Event(), LONG_SECONDS)
    while events.wait(threading.Event(), 2):
        continue


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_an_inbox_that_tells_nothing_is_heard_where_a_mount_in_it_does(tmp_path: Path) -> None:
    with mounted(tmp_path / "local", "-t", "tmpfs", "none") as local:
        found = _mounts("/ ext4", f"{tmp_path} nfs4", f"{local} tmpfs")
        with InboxEvents(tmp_path, rescan_seconds=HOUR, read_mounts=lambda: found) as events:
            _settled(events)
            (tmp_path / "a.txt").write_bytes(b"words")
            assert not events.wait(threading.Event(), 1)
            (local / "a.txt").write_bytes(b"words")
            assert events.wait(threading.Event(), LONG_SECONDS)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_a_mount_that_comes_later_is_heard_after_the_next_scan(tmp_path: Path) -> None:
    with InboxEvents(tmp_path, rescan_seconds=HOUR) as events:
        _settled(events)
        with mounted(tmp_path / "later", "-t", "tmpfs", "none") as later:
            _settled_after(events)
            (later / "a.txt").write_bytes(b"words")
            assert events.wait(threading.Event(), LONG_SECONDS)


def _settled_after(events: InboxEvents) -> None:
    events.listen_where_it_helps()
    _settled(events)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_bind_mounts_are_known_although_their_device_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    with mounted(tmp_path / "inbox/bound here", "--bind", tmp_path / "elsewhere") as bound:
        assert bound.stat().st_dev == tmp_path.stat().st_dev
        assert list(mounts.mounts_below(tmp_path / "inbox", mounts.read())) == [b"bound here"]
    subprocess.run(["rmdir", tmp_path / "inbox/bound here"], check=True)

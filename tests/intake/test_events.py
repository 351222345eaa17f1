"""Events make a scan come sooner; what kind of file system delivers none is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from pipeline.intake.events import file_system_of
from tests.taking import count, rows
from tests.watching import build_watcher, drop, until, watching

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/scans /srv/scans nfs4 rw 0 0
none /srv/scans/fast tmpfs rw 0 0
//nas/in /srv/with\\040space cifs rw 0 0
broken
"""


def test_a_file_is_taken_long_before_the_next_scan_is_due(engine: Engine, tmp_path: Path) -> None:
    with watching(build_watcher(engine, tmp_path, rescan_seconds=3600)):
        until(lambda: count(engine, "inbox_scans") == 1)
        drop(tmp_path, b"first/M\xe4rz.txt", b"a name that is no text")
        until(lambda: count(engine, "tasks") == 1)
        drop(tmp_path, "second/a.txt", b"words")
        until(lambda: count(engine, "tasks") == 2)
    assert rows(engine, "SELECT count(*) FROM arrivals WHERE duplicate") == [0]


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home", "ext4"),
        ("/srv/scans", "nfs4"),
        ("/srv/scans/in/deep", "nfs4"),
        ("/srv/scans/fast/in", "tmpfs"),
        ("/srv/scansion", "ext4"),
        ("/srv/with space/in", "cifs"),
    ],
)
def test_a_folder_is_on_the_file_system_mounted_nearest_above_it(folder: str, kind: str) -> None:
    assert file_system_of(Path(folder), MOUNTS) == kind


def test_where_nothing_is_known_nothing_is_said() -> None:
    assert file_system_of(Path("/home"), "") == ""

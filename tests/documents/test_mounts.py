"""Which file system a folder is on, and which begin below it, by the system's list."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.documents import mounts
from pipeline.documents.mounts import mount_of, mounts_below, parse

MOUNTS = parse(
    b"""\
/dev/sda1 / ext4 rw 0 0
server:/scans /srv/scans nfs4 rw 0 0
none /srv/scans/fast tmpfs rw 0 0
//nas/in /srv/with\\040space cifs rw 0 0
//nas/m /srv/M\xe4rz cifs rw 0 0
none /srv/over ext4 rw 0 0
sshfs /srv/over fuse.sshfs rw 0 0
broken
"""
)


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home", "ext4"),
        ("/srv/scans", "nfs4"),
        ("/srv/scans/in/deep", "nfs4"),
        ("/srv/scans/fast/in", "tmpfs"),
        ("/srv/scansion", "ext4"),
        ("/srv/with space/in", "cifs"),
        ("/srv/M\udce4rz/in", "cifs"),
        ("/srv/over/in", "fuse.sshfs"),
    ],
)
def test_a_folder_is_on_the_file_system_mounted_nearest_above_it(folder: str, kind: str) -> None:
    mount = mount_of(Path(folder), MOUNTS)
    assert mount is not None
    assert mount.kind == kind
    assert mount.is_remote == (kind not in ("ext4", "tmpfs"))


def test_where_nothing_is_known_nothing_is_said() -> None:
    assert mount_of(Path("/home"), []) is None
    assert mounts_below(Path("/home"), []) == {}


def test_the_mounts_below_a_folder_go_by_their_path_in_it() -> None:
    assert set(mounts_below(Path("/srv"), MOUNTS)) == {b"scans", b"scans/fast", b"with space", b"M\xe4rz", b"over"}
    assert set(mounts_below(Path("/srv/scans"), MOUNTS)) == {b"fast"}


def test_this_machine_says_what_is_mounted_where_it_can() -> None:
    found = mounts.read()
    assert not found or mount_of(Path("/"), found) is not None

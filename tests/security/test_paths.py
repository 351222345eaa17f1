"""Names and kinds of files from outside lead nowhere: nothing is written outside, nothing special is opened."""

from __future__ import annotations

import io
import json
import os
import socket
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tests.cli.test_work import run
from tests.fuzz import hostile

PRIVATE = b"private words"
OUTSIDE_NAMES = ("up.txt", "absolute.txt", "dos.txt", "b")


def _zip(names: Mapping[str, int]) -> bytes:
    """An archive of these names, each of a kind of its own."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, kind in names.items():
            entry = zipfile.ZipInfo("a")
            entry.filename = entry.orig_filename = name  # as it is, which the class would not let pass
            entry.create_system, entry.external_attr = 3, (kind | 0o644) << 16
            archive.writestr(entry, b"Words of a document that stands in an archive.\n")
    return file.getvalue()


def _tar() -> bytes:
    """An archive of a kind that is not unpacked, with a link of either sort to a file outside."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("../up.txt", tarfile.REGTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, hostile.PRIVATE_FILE
            archive.addfile(entry)
    return file.getvalue()


def _tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.slow
def test_nothing_in_an_archive_is_written_outside_the_store(home: Path, engine: Engine) -> None:
    kinds = {"link": stat.S_IFLNK, "device": stat.S_IFCHR, "pipe": stat.S_IFIFO, "whole.txt": stat.S_IFREG}
    (home / "in").mkdir()
    (home / "in" / "names.zip").write_bytes(_zip(dict.fromkeys(hostile.BAD_NAMES, stat.S_IFREG)))
    (home / "in" / "kinds.zip").write_bytes(_zip(kinds))
    (home / "in" / "a.tar").write_bytes(_tar())
    before = _tree(home)
    taken = json.loads(run(home, "ingest", "-r", str(home / "in"), "--format", "json").stdout)
    assert {Path(row["file"]).name: row["reason"] for row in taken}["a.tar"] == "unsupported"
    assert run(home, "work", "--drain").returncode == 0
    new = {path for path in _tree(home) - before if not path.startswith("data")}
    assert new == set()
    assert not any(Path(path).name in OUTSIDE_NAMES for path in _tree(home.parent))
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT name, left_out FROM attachments")).all()
    assert len(rows) == len(hostile.BAD_NAMES) + len(kinds)
    assert all("/" not in row.name and "\x00" not in row.name and "\x1b" not in row.name for row in rows)
    assert {row.name: row.left_out for row in rows}["whole.txt"] is None
    assert all({row.name: row.left_out for row in rows}[name] for name in ("link", "device", "pipe"))


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def _device(path: Path) -> None:
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # reading it never ends


def _link(path: Path) -> None:
    (path.parent.parent / "private").write_bytes(PRIVATE)
    path.symlink_to(path.parent.parent / "private")


SPECIAL: Mapping[str, Callable[[Path], None]] = {
    "a named pipe": _fifo,
    "a socket": _socket,
    "a device": _device,
    "a symbolic link": _link,
}


@pytest.fixture
def inbox(home: Path) -> Path:
    """An inbox that judges at once."""
    with (home / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("inbox: {quiet_for_seconds: 0}\n")
    (home / "inbox").mkdir()
    return home / "inbox"


@pytest.mark.slow
def test_what_is_no_file_is_never_read_blocks_nobody_and_is_told(
    home: Path, inbox: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inbox)  # the name of a socket may not be long
    kinds = [kind for kind in SPECIAL if kind != "a device" or os.geteuid() == 0]  # only root makes device files
    for kind in kinds:
        SPECIAL[kind](inbox / kind if kind != "a socket" else Path(kind))
    (inbox / "whole.txt").write_bytes(b"Words of a document.")
    assert run(home, "watch", "--once").returncode == 0
    told = run(home, "ingest", "--format", "json", *(str(inbox / kind) for kind in kinds))
    assert told.returncode == 6
    errors = {Path(row["file"]).name: row["error"] for row in json.loads(told.stdout)}
    assert {kind: error.rpartition("/")[2] for kind, error in errors.items()} == {
        kind: f"{kind} is {kind}; only regular files are taken in" for kind in kinds
    }
    assert all(os.path.lexists(inbox / kind) for kind in kinds)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT name FROM documents")).scalars().all() == ["whole.txt"]


@pytest.mark.slow
def test_a_folder_that_is_a_link_is_not_entered_and_a_hard_link_takes_nothing_away(
    home: Path, inbox: Path, engine: Engine
) -> None:
    elsewhere = home / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "private.txt").write_bytes(PRIVATE)
    (elsewhere / "shared.txt").write_bytes(b"Words that have two names.")
    (inbox / "folder").symlink_to(elsewhere)
    (inbox / "shared.txt").hardlink_to(elsewhere / "shared.txt")
    assert run(home, "watch", "--once").returncode == 0
    assert (elsewhere / "private.txt").read_bytes() == PRIVATE
    assert (elsewhere / "shared.txt").read_bytes() == b"Words that have two names."
    with engine.connect() as connection:
        assert connection.execute(text("SELECT name FROM documents")).scalars().all() == ["shared.txt"]

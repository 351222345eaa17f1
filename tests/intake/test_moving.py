"""A move gives a file a name that nobody has, also where a file system has no hard links."""

from __future__ import annotations

import concurrent.futures
import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.intake import moving
from pipeline.intake.moving import move
from pipeline.intake.placing import numbered

MARK = "the mark of this move\n"


@pytest.fixture(params=["links", "no links", "another file system"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the folders `from` and `to`, on each kind of file system."""
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    if request.param == "no links":
        monkeypatch.setattr(os, "link", _as_without_links)
    if request.param != "another file system":
        yield tmp_path
        return
    mount: list[str | Path] = ["mount", "-t", "tmpfs", "none", tmp_path / "to"]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", tmp_path / "to"], check=True)


def _as_without_links(source: Path, target: Path, *, follow_symlinks: bool) -> None:
    """What link(2) does on FAT: a name that is taken is noticed before the lack of links is."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "File exists")
    raise PermissionError(errno.EPERM, "Operation not permitted")


def _file(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_moved_file_has_its_new_name_only(home: Path) -> None:
    source = _file(home / "from", "a", b"words")
    os.utime(source, ns=(1, 10**18))
    assert move(source, home / "to/b", mark=MARK)
    assert not source.exists()
    assert (home / "to/b").read_bytes() == b"words"
    assert (home / "to/b").stat().st_mtime_ns == 10**18
    assert [path.name for path in (home / "to").iterdir()] == ["b"]


def test_a_name_that_is_taken_is_left_to_whom_it_is(home: Path) -> None:
    source = _file(home / "from", "a", b"mine")
    for name, content in (("file", b"theirs"), ("empty", b""), ("same size", b"else")):
        _file(home / "to", name, content)
        assert not move(source, home / "to" / name, mark=MARK)
        assert (home / "to" / name).read_bytes() == content
    (home / "to/link").symlink_to(source)
    assert not move(source, home / "to/link", mark=MARK)
    assert (home / "to/link").is_symlink()
    assert source.read_bytes() == b"mine"


def test_a_folder_is_never_replaced(home: Path) -> None:
    source = _file(home / "from", "a", b"mine")
    (home / "to/folder").mkdir()
    assert not move(source, home / "to/folder", mark=MARK)
    assert source.read_bytes() == b"mine"


def test_a_source_that_is_gone_leaves_nothing_behind(home: Path) -> None:
    with pytest.raises(FileNotFoundError):
        move(home / "from/none", home / "to/b", mark=MARK)
    assert [path.name for path in (home / "to").iterdir() if path.stat().st_size == 0] == []


def test_a_placeholder_of_ones_own_is_used_and_one_of_another_is_not(home: Path) -> None:
    source = _file(home / "from", "a", b"mine")
    _file(home / "to", "theirs", b"the mark of another  \n")
    assert not move(source, home / "to/theirs", mark=MARK)
    _file(home / "to", "ours", MARK.encode())
    assert move(source, home / "to/ours", mark=MARK)
    assert (home / "to/ours").read_bytes() == b"mine"


def test_of_many_that_want_a_name_one_gets_it(home: Path) -> None:
    sources = [_file(home / "from", str(number), b"of %d" % number) for number in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda source: move(source, home / "to/name", mark=f"mark of {source.name}"), sources))
    assert won.count(True) == 1
    winner = sources[won.index(True)]
    assert (home / "to/name").read_bytes() == b"of " + winner.name.encode()
    assert sorted((home / "from").iterdir()) == sorted(set(sources) - {winner})


def test_a_source_that_is_written_to_while_it_is_copied_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _file(tmp_path, "a", b"words")

    def copy_and_write(file: object, written: object) -> None:
        written.write(b"words")  # type: ignore[attr-defined]
        source.write_bytes(b"other words")

    monkeypatch.setattr(shutil, "copyfileobj", copy_and_write)
    with pytest.raises(OSError, match="differs"):
        moving._carry_over(source, tmp_path / "b", MARK)
    assert source.read_bytes() == b"other words"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


@pytest.mark.parametrize(
    ("name", "number", "expected"),
    [
        (b"a.pdf", 1, b"a.pdf"),
        (b"a.pdf", 2, b"a~2.pdf"),
        (b"a.tar.gz", 3, b"a.tar~3.gz"),
        (b"README", 2, b"README~2"),
        (b".hidden", 2, b".hidden~2"),
        (b"a." + b"e" * 30, 2, b"a." + b"e" * 30 + b"~2"),
        (b"x" * 251 + b".pdf", 12, b"x" * 248 + b"~12.pdf"),
        ("ä".encode() * 125 + b"x.pdf", 2, "ä".encode() * 124 + b"~2.pdf"),
    ],
)
def test_numbered_names_keep_their_ending_and_whole_characters(name: bytes, number: int, expected: bytes) -> None:
    assert numbered(name, number) == expected
    assert len(expected) <= 255

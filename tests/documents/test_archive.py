"""The store: what bears a final name is whole and durable, whoever dies and however many write at once."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.documents.archive import Archive, Stored
from pipeline.errors import StoreUnavailable, UsageProblem

KEEP = """
import sys
from pathlib import Path
from pipeline.documents.archive import Archive
print(Archive(Path(sys.argv[1])).keep(sys.stdin.buffer).sha256)
"""
FULL = """
import resource, signal, sys
from pathlib import Path
from pipeline.documents import archive
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
archive.Archive(Path(sys.argv[1])).keep(sys.stdin.buffer)
"""
CONTENT = bytes(range(256)) * 12_000  # several chunks and a bit


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


@contextmanager
def _keeping(root: Path, program: str = KEEP) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def _until(condition: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "it never came true"
        time.sleep(0.01)


def test_what_is_kept_is_found_under_the_hash_of_its_bytes(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "store")
    stored = archive.keep(io.BytesIO(CONTENT))
    assert stored == Stored(_sha256(CONTENT), len(CONTENT))
    path = archive.path_of(stored.sha256)
    assert path == tmp_path / "store" / stored.sha256[:2] / stored.sha256
    assert path.read_bytes() == CONTENT
    assert _files(tmp_path) == [path]


def test_a_document_is_found_where_earlier_versions_kept_it_and_is_not_kept_twice(tmp_path: Path) -> None:
    archive, sha256 = Archive(tmp_path), _sha256(CONTENT)
    early = tmp_path / sha256[:2] / sha256[2:4] / sha256
    early.parent.mkdir(parents=True)
    early.write_bytes(CONTENT)
    assert archive.path_of(sha256) == early
    assert archive.verify(sha256)
    archive.keep(io.BytesIO(CONTENT))
    assert _files(tmp_path) == [early]


def test_names_of_many_documents_are_brought_to_disk_folder_by_folder_and_each_folder_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, old = Archive(tmp_path), _sha256(b"old")
    early = tmp_path / old[:2] / old[2:4] / old
    early.parent.mkdir(parents=True)
    early.write_bytes(b"old")
    kept = [archive.put(io.BytesIO(content)) for content in (b"old", *(b"%d" % number for number in range(300)))]
    synced: list[Path] = []
    monkeypatch.setattr("pipeline.documents.archive.sync_folder", synced.append)
    archive.sync(kept)
    assert sorted(synced) == sorted({tmp_path, early.parent, *(tmp_path / each.sha256[:2] for each in kept)})
    assert synced[-1] == tmp_path


def test_an_empty_document_can_be_kept(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    assert archive.keep(io.BytesIO()) == Stored(_sha256(b""), 0)
    assert archive.verify(_sha256(b""))


def test_the_same_bytes_again_leave_the_first_copy_alone(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    first = archive.keep(io.BytesIO(CONTENT))
    before = archive.path_of(first.sha256).stat()
    assert archive.keep(io.BytesIO(CONTENT)) == first
    after = archive.path_of(first.sha256).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert len(_files(tmp_path)) == 1


def test_a_copy_that_somebody_cut_short_is_made_whole_again(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    sha256 = archive.keep(io.BytesIO(CONTENT)).sha256
    os.truncate(archive.path_of(sha256), 100)
    assert not archive.verify(sha256)
    archive.keep(io.BytesIO(CONTENT))
    assert archive.verify(sha256)


def test_verifying_notices_a_changed_byte_and_a_missing_file(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    sha256 = archive.keep(io.BytesIO(CONTENT)).sha256
    assert archive.verify(sha256)
    archive.path_of(sha256).write_bytes(b"x" + CONTENT[1:])
    assert not archive.verify(sha256)
    assert not archive.verify(_sha256(b"never kept"))


def test_neither_others_nor_a_narrow_umask_change_who_may_read(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        archive = Archive(tmp_path / "store")
        path = archive.path_of(archive.keep(io.BytesIO(CONTENT)).sha256)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    folders = [path.parent, tmp_path / "store", tmp_path / "store" / "tmp"]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o750}


@pytest.mark.parametrize("sha256", ["", "..", "../" * 21 + "x", "A" * 64, "a" * 63, "a" * 64 + "\n"])
def test_what_is_no_hash_names_no_file(sha256: str, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem):
        Archive(tmp_path).path_of(sha256)


def test_a_source_that_breaks_off_leaves_nothing_and_raises_as_it_is(tmp_path: Path) -> None:
    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 0:
                raise OSError(5, "Input/output error")
            return super().read(size)

    with pytest.raises(OSError, match="Input/output error"):
        Archive(tmp_path).keep(Breaking(CONTENT))
    assert _files(tmp_path) == []


def test_a_store_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the folder should be")
    with pytest.raises(StoreUnavailable, match=r"cannot use .*store"):
        Archive(tmp_path / "store").keep(io.BytesIO(CONTENT))


def test_a_full_disk_is_named_with_what_to_do_and_nothing_stays(tmp_path: Path) -> None:
    mount = "mount -t tmpfs -o size=1m tmpfs"
    own_mounts = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*own_mounts, f"{mount} {tmp_path}"], check=False, capture_output=True).returncode:
        pytest.skip("this system lets no test mount a small disk of its own")
    script = f'{mount} "$1"; "$2" -c "$3" "$1"; find "$1" -type f'
    arguments = ["sh", str(tmp_path), sys.executable, KEEP]
    done = subprocess.run([*own_mounts, script, *arguments], input=CONTENT, capture_output=True, check=True)
    assert b"is full: free some space there" in done.stderr
    assert done.stdout == b""


def test_a_write_that_stops_half_way_leaves_nothing(tmp_path: Path) -> None:
    with _keeping(tmp_path, FULL) as process:
        _, errors = process.communicate(CONTENT, timeout=60)
    assert process.returncode != 0
    assert b"StoreUnavailable" in errors
    assert _files(tmp_path) == []


def test_only_copies_that_nobody_writes_any_more_are_swept(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    sha256 = archive.keep(io.BytesIO(CONTENT)).sha256
    old, new = tmp_path / "tmp" / "old", tmp_path / "tmp" / "new"
    old.write_bytes(b"left behind")
    os.utime(old, (time.time() - 7200,) * 2)
    new.write_bytes(b"in the making")
    assert archive.sweep_temporaries(3600) == 1
    assert _files(tmp_path) == sorted([new, archive.path_of(sha256)])


def test_sweeping_a_store_that_is_not_there_yet_is_fine(tmp_path: Path) -> None:
    assert Archive(tmp_path / "store").sweep_temporaries(0) == 0


@pytest.mark.slow
def test_a_killed_process_leaves_a_temporary_file_and_no_document(tmp_path: Path) -> None:
    with _keeping(tmp_path) as process:
        assert process.stdin
        process.stdin.write(CONTENT)
        process.stdin.flush()
        _until(lambda: any(path.stat().st_size for path in _files(tmp_path)))
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    assert [path.parent.name for path in _files(tmp_path)] == ["tmp"]
    assert Archive(tmp_path).sweep_temporaries(-1) == 1
    assert Archive(tmp_path).keep(io.BytesIO(CONTENT)).sha256 == _sha256(CONTENT)


@pytest.mark.slow
def test_processes_that_keep_the_same_bytes_at_once_all_succeed(tmp_path: Path) -> None:
    with _keeping(tmp_path) as one, _keeping(tmp_path) as two, _keeping(tmp_path) as three:
        keepers = (one, two, three)
        for process in keepers:
            assert process.stdin
            process.stdin.write(CONTENT)
            process.stdin.flush()
        _until(lambda: len(_files(tmp_path / "tmp")) == len(keepers))
        for process in keepers:  # all have their copies open; now all may finish
            assert process.stdin
            process.stdin.close()
        answers = {process.stdout.read().decode().strip() for process in keepers if process.stdout}
    assert answers == {_sha256(CONTENT)}
    assert [path.name for path in _files(tmp_path)] == [_sha256(CONTENT)]
    assert Archive(tmp_path).verify(_sha256(CONTENT))


def test_keeping_the_bytes_again_mends_a_copy_that_was_damaged_without_changing_its_size(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    stored = archive.keep(io.BytesIO(CONTENT))
    archive.path_of(stored.sha256).write_bytes(bytes(len(CONTENT)))
    assert not archive.verify(stored.sha256)
    archive.keep(io.BytesIO(CONTENT))
    assert archive.verify(stored.sha256)

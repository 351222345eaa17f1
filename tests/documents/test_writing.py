"""Whether somebody has a file open for writing is known without getting in his way."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.documents.mounts import Mount
from pipeline.documents.writing import is_open_for_writing

HOLD = "import sys; file = open(sys.argv[1], sys.argv[2]); print('open', flush=True); sys.stdin.read()"
REPEATEDLY = """
import sys
for number in range(2000):
    with open(sys.argv[1], "ab") as file:
        file.write(b"x")
"""


def _asked(path: Path) -> bool | None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return is_open_for_writing(descriptor, path)
    finally:
        os.close(descriptor)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file on a file system that tells."""
    file = tmp_path / "a.txt"
    file.write_bytes(b"words")
    if _asked(file) is None:
        pytest.skip("this file system does not tell")
    return file


@pytest.mark.parametrize(("mode", "expected"), [("ab", True), ("r+b", True), ("rb", False)])
def test_a_writer_in_another_process_is_seen_until_it_closes(path: Path, mode: str, expected: bool) -> None:
    command = [sys.executable, "-c", HOLD, str(path), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdout.readline()
        assert _asked(path) is expected
        holder.stdin.close()
        holder.wait()
    assert _asked(path) is False


def test_a_file_that_is_mapped_for_writing_is_open_although_its_descriptor_is_closed(path: Path) -> None:
    with path.open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    assert _asked(path) is True
    mapped.close()
    assert _asked(path) is False


def test_asking_all_the_time_neither_stops_a_writer_nor_ends_the_asker(path: Path) -> None:
    answers = set()
    with subprocess.Popen([sys.executable, "-c", REPEATEDLY, path]) as writer:
        while writer.poll() is None:
            answers.add(_asked(path))
    assert writer.returncode == 0
    assert path.stat().st_size == 5 + 2000
    assert None not in answers


def test_a_refusal_says_nothing_where_others_may_write(path: Path) -> None:
    with path.open("ab"), path.open("rb") as file:
        remote = [Mount(b"/", "nfs4")]
        assert is_open_for_writing(file.fileno(), path, read_mounts=lambda: remote) is None
        assert is_open_for_writing(file.fileno(), path, read_mounts=list) is None

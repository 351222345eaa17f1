"""What a parser leaves in its scratch folder is bounded while it lives and gone afterwards, whatever it is."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.config import WorkerSettings
from pipeline.errors import DocumentError
from pipeline.reasons import Reason
from pipeline.worker.inspector import Inspector
from pipeline.worker.process import ChildProcess
from pipeline.worker.provision import Provision
from pipeline.worker.scratch import make_scratch, overfull, remove_scratch
from tests.security import hoarder_child

MOST_FILE_BYTES = 5_000_000


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which scratch folders are made; parsers of root have to reach it too."""
    folder = Path(tempfile.mkdtemp(prefix="doclease-test-"))
    folder.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def inspector(temporary: Path) -> Iterator[Inspector]:
    """A real child in the real sandbox that does what hoarder documents say."""
    child = ChildProcess(WorkerSettings(), hoarder_child.MODULE, max_file_bytes=MOST_FILE_BYTES)
    with Inspector(WorkerSettings(), child, Provision) as inspector:
        yield inspector
    left = list(temporary.iterdir())
    subprocess.run(["rm", "-rf", temporary], check=True)
    assert left == []


def _inspect(inspector: Inspector, tmp_path: Path, deed: str) -> int:
    path = tmp_path / "document"
    path.write_bytes(hoarder_child.HEAD + deed.encode())
    return inspector.inspect(path, "document").page_count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "told"), [("many", "more than 1,000 files"), ("much", "more than 10,000,000 bytes"), ("nest", "files")]
)
def test_a_parser_that_fills_its_scratch_folder_is_ended_and_leaves_nothing(
    inspector: Inspector, tmp_path: Path, deed: str, told: str
) -> None:
    with pytest.raises(DocumentError) as refusal:
        _inspect(inspector, tmp_path, deed)
    assert refusal.value.reason is Reason.BOMB
    assert told in str(refusal.value)
    assert _inspect(inspector, tmp_path, "nothing") == 1


@pytest.fixture
def pit() -> Iterator[Path]:
    """A folder for nests that Python's own functions cannot remove: it is gone afterwards, also when a test fails."""
    folder = Path(tempfile.mkdtemp(prefix="doclease-test-"))
    yield folder
    subprocess.run(["rm", "-rf", folder], check=True)


def _nest(folder: Path, depth: int) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("a", dir_fd=here)
        inner = os.open("a", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_a_nest_deeper_than_paths_and_recursion_go_is_removed(pit: Path) -> None:
    scratch = pit / "scratch"
    scratch.mkdir()
    _nest(scratch, hoarder_child.DEPTH)
    remove_scratch(scratch)
    assert not scratch.exists()


def test_a_nest_that_a_killed_worker_left_stops_no_other_worker(pit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(pit))
    orphan = pit / "doclease-child-4194304999-x"  # more than a process id can be
    orphan.mkdir()
    _nest(orphan, hoarder_child.DEPTH)
    scratch = make_scratch()
    assert [path.name for path in pit.iterdir()] == [scratch.name]


def test_links_are_removed_and_never_followed(tmp_path: Path) -> None:
    scratch, others = tmp_path / "scratch", tmp_path / "others"
    for folder in (scratch, others):
        folder.mkdir()
    (others / "kept").write_bytes(b"kept")
    (scratch / "inner").mkdir()
    (scratch / "link").symlink_to(others)
    (scratch / "inner" / "link").symlink_to(others / "kept")
    os.mkfifo(scratch / "inner" / "pipe")
    others.chmod(0o500)
    remove_scratch(scratch)
    assert not scratch.exists()
    assert (others / "kept").read_bytes() == b"kept"
    assert others.stat().st_mode & 0o777 == 0o500
    others.chmod(0o700)


def test_a_folder_that_was_closed_is_opened_and_removed(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    (scratch / "closed" / "inner").mkdir(parents=True)
    (scratch / "closed" / "inner" / "file").touch()
    (scratch / "closed").chmod(0o300)
    remove_scratch(scratch)
    assert not scratch.exists()


def test_what_a_parser_usually_has_there_is_no_hoard(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "attachment-1").write_bytes(bytes(100_000))
    assert overfull(tmp_path, 200_000) == ""
    assert overfull(tmp_path, 50_000) == "more than 50,000 bytes"
    assert overfull(tmp_path / "gone", 1) == ""

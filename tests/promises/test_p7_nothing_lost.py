"""P7: a dropped file stands in the inbox, in its private folder or in its last place, whenever its watcher is killed.

A watcher is killed with SIGKILL right before and right after every step. Another one then goes on: there must be one
document, one task, one place, and the same bytes everywhere.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import URL, Engine

from pipeline.documents.archive import Archive
from pipeline.queue.store import Queue
from tests.documents.samples import pdf
from tests.taking import fail_all, rows, succeed_all
from tests.victims import dies
from tests.watching import build_watcher, drop, files

CONTENT = pdf.build(["one", "two"])
NAME = "invoices/März.pdf"
TAKING = [
    "pipeline.intake.private_folder:PrivateFolder.prepare",
    "pipeline.intake.private_folder:PrivateFolder.seize",
    "pipeline.documents.archive:Archive.keep",
    "pipeline.intake.recipe:Intake.store",
    "pipeline.intake.recipe:Intake.triage",
    "pipeline.registering:Registry.document",
    "pipeline.queue.store:Queue.enqueue",
    "pipeline.intake.arrivals:Arrivals.add",
    "pipeline.intake.recipe:Intake.record",
    "pipeline.intake.recipe:Intake.holds",
]
PLACING = [
    "pipeline.intake.stillness:Stillness.is_released",
    "pipeline.intake.placing:Placing.choose",
    "pipeline.intake.arrivals:Arrivals.choose_place",
    "pipeline.intake.placing:move",
    "pipeline.intake.moving:let_go",
    "pipeline.intake.placing:Placing.bring",
    "pipeline.intake.placing:Placing.remove_old_notes",
    "pipeline.intake.arrivals:Arrivals.placed",
    "pipeline.intake.private_folder:PrivateFolder.clean",
]
RENEWING = [
    "pipeline.intake.private_folder:PrivateFolder.renew",
    "pipeline.intake.private_folder:PrivateFolder.seize",
    "pipeline.intake.arrivals:Arrivals.placed",
    "pipeline.intake.private_folder:PrivateFolder.clean",
]
Killed = Callable[[str], None]
pytestmark = pytest.mark.slow


@pytest.fixture(params=["before", "after"])
def killed(request: pytest.FixtureRequest, database_url: URL, tmp_path: Path) -> Killed:
    """Kill a watcher right before or after a step."""

    def kill(step: str) -> None:
        assert dies(database_url, tmp_path, step, request.param), f"the watcher never came to {step}"

    return kill


def _bytes_somewhere(home: Path) -> list[bytes]:
    """The file, wherever it stands in the inbox's file system."""
    folders = (home / "inbox", home / "processed", home / "failed")
    return [content for folder in folders for name, content in files(folder).items() if name.endswith(".pdf")]


def _is_finished(engine: Engine, home: Path, contents: dict[str, bytes]) -> None:
    """One document and task for each content, everything in its place, nothing left anywhere else."""
    assert files(home / "inbox") == {}
    assert list((home / "inbox/.doclease").iterdir()) == []
    assert files(home / "processed") == contents
    hashes = {hashlib.sha256(content).hexdigest() for content in contents.values()}
    assert set(rows(engine, "SELECT sha256 FROM documents")) == hashes
    assert len(rows(engine, "SELECT task_id FROM tasks")) == len(hashes)
    assert rows(engine, "SELECT DISTINCT status FROM tasks") == ["succeeded"]
    assert rows(engine, "SELECT count(*) FROM arrivals WHERE placed_at IS NULL") == [0]
    assert all(Archive(home / "store").verify(sha256) for sha256 in hashes)


@pytest.mark.parametrize("step", TAKING)
def test_a_watcher_killed_while_it_takes_a_file_in_loses_and_doubles_nothing(
    engine: Engine, queue: Queue, tmp_path: Path, killed: Killed, step: str
) -> None:
    drop(tmp_path, NAME, CONTENT)
    killed(step)
    assert _bytes_somewhere(tmp_path) == [CONTENT]
    watcher = build_watcher(engine, tmp_path)
    watcher.run_once()
    succeed_all(queue)
    watcher.run_once()
    _is_finished(engine, tmp_path, {NAME: CONTENT})
    assert rows(engine, "SELECT count(*) FROM arrivals") == [1]


@pytest.mark.parametrize("step", PLACING)
def test_a_watcher_killed_while_it_places_a_file_leaves_it_in_one_place(
    engine: Engine, queue: Queue, tmp_path: Path, killed: Killed, step: str
) -> None:
    drop(tmp_path, NAME, CONTENT)
    build_watcher(engine, tmp_path).run_once()
    succeed_all(queue)
    killed(step)
    assert set(_bytes_somewhere(tmp_path)) == {CONTENT}
    build_watcher(engine, tmp_path).run_once()
    _is_finished(engine, tmp_path, {NAME: CONTENT})


@pytest.mark.parametrize(
    "step", ["pipeline.intake.placing:Placing.leave_note", "pipeline.intake.arrivals:Arrivals.placed"]
)
def test_a_watcher_killed_beside_a_failed_file_leaves_file_and_note(
    engine: Engine, queue: Queue, tmp_path: Path, killed: Killed, step: str
) -> None:
    drop(tmp_path, NAME, CONTENT)
    build_watcher(engine, tmp_path).run_once()
    fail_all(queue)
    killed(step)
    build_watcher(engine, tmp_path).run_once()
    failed = files(tmp_path / "failed")
    assert set(failed) == {f"corrupt/{NAME}", f"corrupt/{NAME}.error.txt"}
    assert failed[f"corrupt/{NAME}"] == CONTENT
    assert files(tmp_path / "inbox") == {}


@pytest.mark.parametrize("step", RENEWING)
def test_a_watcher_killed_over_a_file_that_grew_keeps_both_versions(
    engine: Engine, queue: Queue, tmp_path: Path, killed: Killed, step: str
) -> None:
    path = drop(tmp_path, "a.txt", b"first half")
    with path.open("ab") as writer:
        build_watcher(engine, tmp_path).run_once()
        writer.write(b", second half")
    succeed_all(queue)
    killed(step)
    for _ in range(2):
        build_watcher(engine, tmp_path).run_once()
        succeed_all(queue)
    build_watcher(engine, tmp_path).run_once()
    assert files(tmp_path / "processed") == {"a.txt": b"first half, second half"}
    assert rows(engine, "SELECT byte_count FROM documents ORDER BY document_id") == [10, 23]
    assert rows(engine, "SELECT count(*) FROM arrivals WHERE placed_at IS NULL") == [0]
    assert files(tmp_path / "inbox") == {}


def test_no_bytes_leave_the_inbox_before_their_rows_are_committed(
    engine: Engine, database_url: URL, tmp_path: Path
) -> None:
    drop(tmp_path, NAME, CONTENT)
    assert dies(database_url, tmp_path, "pipeline.intake.arrivals:Arrivals.add", "after")
    assert rows(engine, "SELECT count(*) FROM documents") == [0]
    assert list(files(tmp_path / "inbox").values()) == [CONTENT]


@pytest.fixture
def other_file_system(tmp_path: Path) -> Iterator[None]:
    """The processed folder on a file system that the inbox is not on."""
    folder = tmp_path / "processed"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
@pytest.mark.parametrize(
    "step", ["pipeline.intake.moving:_copy", "pipeline.intake.moving:let_go", "pipeline.intake.placing:move"]
)
@pytest.mark.usefixtures("other_file_system")
def test_a_watcher_killed_on_the_way_to_another_file_system_leaves_one_whole_file(
    engine: Engine, queue: Queue, tmp_path: Path, killed: Killed, step: str
) -> None:
    drop(tmp_path, NAME, CONTENT)
    build_watcher(engine, tmp_path).run_once()
    succeed_all(queue)
    killed(step)
    build_watcher(engine, tmp_path).run_once()
    _is_finished(engine, tmp_path, {NAME: CONTENT})

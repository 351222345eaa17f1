"""Who may read and write what doclease makes, whatever the umask of whoever started it."""

from __future__ import annotations

import os
import stat
import subprocess
import uuid
from pathlib import Path

import pytest
from sqlalchemy import Engine

from pipeline.intake.arrivals import Unplaced
from pipeline.intake.placing import Placing, note_of
from pipeline.passwords import remember
from pipeline.worker.scratch import make_scratch, remove_scratch
from tests.cases import files
from tests.cli.test_work import ROOT, command


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def _run(home: Path, umask: int, *arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command(home, *arguments), cwd=ROOT, env=environment, capture_output=True, text=True, umask=umask, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o077], ids=oct)
def test_the_store_and_what_is_under_way_are_closed_to_others(home: Path, engine: Engine, umask: int) -> None:
    with (home / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("inbox: {quiet_for_seconds: 0}\n")
    (home / "inbox").mkdir()
    (home / "inbox" / "a.pdf").write_bytes(files.whole())
    _run(home, umask, "watch", "--once")
    store = home / "data" / "store"
    assert {_mode(path) for path in [store, *store.rglob("*")] if path.is_dir()} == {0o750}
    assert {_mode(path) for path in store.rglob("*") if path.is_file()} == {0o640}
    assert _mode(home / "inbox" / ".doclease") == 0o700
    assert _mode(home / "data") & 0o022 == 0
    assert engine.url.database


@pytest.mark.parametrize("umask", [0o000, 0o077], ids=oct)
def test_secrets_and_scratch_folders_are_their_owners_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        remember(tmp_path / "passwords", "a password")
        scratch = make_scratch()
    finally:
        os.umask(before)
    assert _mode(tmp_path / "passwords") == 0o600
    assert _mode(scratch) == 0o700
    remove_scratch(scratch)


def test_a_file_of_passwords_that_others_could_read_is_closed_when_one_is_added(tmp_path: Path) -> None:
    path = tmp_path / "passwords"
    path.write_text("one\n", encoding="utf-8")
    path.chmod(0o666)
    remember(path, "another")
    assert _mode(path) == 0o600


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe"])
def test_a_note_is_not_written_through_a_link_or_into_a_pipe(tmp_path: Path, kind: str) -> None:
    place, target = tmp_path / "a.pdf", tmp_path / "target"
    if kind == "pipe":
        os.mkfifo(note_of(place))
    else:
        note_of(place).symlink_to(target)
    if kind == "link":
        target.write_bytes(b"")
    Placing(tmp_path, tmp_path, None).leave_note(place, b"a.pdf", Unplaced(uuid.uuid4(), task_id=1, ended="failed"))  # type: ignore[arg-type]
    assert not target.exists() or target.read_bytes() == b""

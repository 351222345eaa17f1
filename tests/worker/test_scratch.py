"""A killed worker leaves no folders behind for ever."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pipeline.worker.scratch import make_scratch

MAKE = "from pipeline.worker.scratch import make_scratch; print(make_scratch())"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_the_folder_of_a_parent_that_is_gone_is_removed_and_that_of_a_living_one_stays() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    made = subprocess.run([sys.executable, "-c", MAKE], env=environment, capture_output=True, text=True, check=True)
    orphan = Path(made.stdout.strip())
    assert orphan.is_dir()
    first = make_scratch()
    second = make_scratch()
    assert not orphan.exists()
    assert first.is_dir()
    assert second.is_dir()
    assert first != second


def test_a_folder_with_another_name_is_never_touched(tmp_path: Path) -> None:
    others = [tmp_path / "doclease-child-x-1", tmp_path / "doclease-demo-1", tmp_path / "child-999999-1"]
    for path in others:
        path.mkdir()
    make_scratch()
    assert all(path.is_dir() for path in others)

"""The queue keeps its promises on other major versions of PostgreSQL, on each that is on this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import database
from tests import postgres

ROOT = Path(__file__).parent.parent
TESTS = ["tests/queue", "tests/test_database.py", "tests/promises"]


@pytest.mark.other_major
@pytest.mark.slow
@pytest.mark.parametrize("major", range(*database.SUPPORTED))
def test_the_queue_keeps_its_promises_on_another_major_version(major: int) -> None:
    bin_dir = postgres.other_majors().get(major)
    if bin_dir is None:
        pytest.skip(f"no PostgreSQL {major} here: install it, or name its bin folder in {postgres.NAMED}")
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-k", "not p10", *TESTS, f"--postgres={bin_dir}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

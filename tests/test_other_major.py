"""The queue keeps its promises on another major version of PostgreSQL, where one is on this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import postgres

ROOT = Path(__file__).parent.parent


@pytest.mark.other_major
@pytest.mark.slow
def test_the_queue_keeps_its_promises_on_another_major_version() -> None:
    bin_dir = postgres.other_major()
    if bin_dir is None:
        pytest.skip("no other major version of PostgreSQL under /usr/lib/postgresql")
    command = [sys.executable, "-m", "pytest", "-q", "tests/queue", "tests/test_database.py", f"--postgres={bin_dir}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

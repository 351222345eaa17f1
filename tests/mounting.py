"""File systems of a test's own. Only root may mount; elsewhere the test is skipped."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(point: Path, *arguments: str | Path) -> Iterator[Path]:
    """Mount something at a folder while the context is open."""
    point.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = ["mount", *arguments, point]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", point], check=True)

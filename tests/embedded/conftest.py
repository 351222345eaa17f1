"""Data folders with a server, started from a copy of one cluster."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.embedded.server import EmbeddedServer
from tests.embedded.commands import AS_NOBODY, environment_of_nobody


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A folder that other users may pass through, which pytest's own tmp_path is not."""
    folder = Path(tempfile.mkdtemp(prefix="doclease test "))
    folder.chmod(0o755)
    yield folder
    for keeper in folder.rglob("postgres.keeper"):
        EmbeddedServer(keeper.parent).stop()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def pristine() -> Iterator[Path]:
    """A cluster at rest, to copy: four times as fast as a new one."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedServer(Path(folder))
        server.acquire()
        server.stop()
        yield server.cluster_dir


@pytest.fixture(scope="module")
def shared(pristine: Path) -> Iterator[EmbeddedServer]:
    """A server that no test changes."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        subprocess.run(["cp", "-a", pristine, folder], check=True)
        server = EmbeddedServer(Path(folder))
        server.acquire()
        yield server
        server.stop()


@pytest.fixture
def server(data_dir: Path, pristine: Path) -> EmbeddedServer:
    subprocess.run(["cp", "-a", pristine, data_dir], check=True)
    found = EmbeddedServer(data_dir)
    found.acquire()
    return found


@pytest.fixture
def python_for_all() -> str:
    """An interpreter that the user `nobody` can run, of the version whose packages are installed here."""
    check = "import sys, psycopg; assert sys.version_info[:2] == tuple(map(int, sys.argv[1].split('.')))"
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            command = [candidate, "-c", check, f"{sys.version_info[0]}.{sys.version_info[1]}"]
            subprocess.run(command, check=True, env=environment_of_nobody(), stderr=subprocess.DEVNULL, **AS_NOBODY)
        except (OSError, subprocess.CalledProcessError):
            continue
        return candidate
    pytest.skip("no interpreter that the user nobody can run")

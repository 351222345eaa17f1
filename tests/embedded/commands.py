"""Commands of their own process that use an embedded server, and what the tests ask about it."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from pipeline.embedded.keeper import Postmaster, postmaster_of
from pipeline.embedded.server import EmbeddedServer

ROOT = Path(__file__).resolve().parents[2]
NOBODY = pwd.getpwnam("nobody")

# A command of its own process: takes its share, says the URL, works until its standard input ends.
COMMAND = """
import sys
from pathlib import Path
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import DatabaseUnavailable
server = EmbeddedServer(Path(sys.argv[1]))
try:
    server.acquire()
except DatabaseUnavailable as error:
    sys.exit(f"unavailable: {error}")
print(server.libpq_url, flush=True)
sys.stdin.read()
server.release()
"""


class Command:
    """A process that uses the server, as `doclease work` does."""

    def __init__(self, data_dir: Path, *prefix: str, python: str = sys.executable, **options: Any) -> None:
        self.process = subprocess.Popen(
            [*prefix, python, "-c", COMMAND, data_dir],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        self._url = ""

    @property
    def url(self) -> str:
        assert self.process.stdout
        assert self.process.stderr
        self._url = self._url or self.process.stdout.readline().strip()
        assert self._url, self.process.stderr.read()
        return self._url

    def query(self, sql: str) -> Any:
        return query(self.url, sql)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def finish(self) -> tuple[int, str]:
        _, errors = self.process.communicate()
        return self.process.returncode, errors


def query(url: str, sql: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None


def eventually(holds: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def running(server: EmbeddedServer) -> Postmaster:
    found = postmaster_of(server.cluster_dir)
    assert found
    return found


def keeper_pid(data_dir: Path) -> int:
    return int((data_dir / "postgres.keeper").read_text())


def let_keeper_look(data_dir: Path, times: int = 13) -> None:
    """Wait until the keeper looked that often whether it may stop the server; ten looks are enough to decide."""
    status = Path(f"/proc/{keeper_pid(data_dir)}/status")

    def looks() -> int:
        return int(status.read_text().partition("\nvoluntary_ctxt_switches:")[2].split()[0])

    before = looks()
    eventually(lambda: looks() >= before + times)


def is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def owner_of(path: Path) -> dict[str, Any]:
    found = path.stat()
    return {"user": found.st_uid, "group": found.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}


AS_NOBODY: dict[str, Any] = {"user": NOBODY.pw_uid, "group": NOBODY.pw_gid, "extra_groups": []}


def environment_of_nobody() -> dict[str, str]:
    packages = Path(psycopg.__file__).parents[1]
    return {"PATH": os.defpath, "PYTHONPATH": f"{ROOT}:{packages}", "PYTHONDONTWRITEBYTECODE": "1"}

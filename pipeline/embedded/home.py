"""Where the embedded PostgreSQL lives: its cluster, made whole or not at all, its locks and its socket's folder.

Of the whole data folder only the cluster is given to the account that runs the server. Where that account cannot get
into the data folder, the cluster stands in /var/lib/doclease/clusters and a link in the data folder says so.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import socket
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pipeline.embedded.account import (
    SHARED_HOME,
    Account,
    account_for,
    is_named,
    name_of,
    public_folder,
    reachable_binaries,
    version_of,
)
from pipeline.errors import DatabaseUnavailable

ROLE = DATABASE = "doclease"
PORT = 5432

_SOCKET_NAME = f".s.PGSQL.{PORT}"
_SOCKET_PATH_BYTES = 107  # sun_path of Linux, without its closing NUL
_PLAIN_PATH = re.compile(r"[\w./+=@:~ -]*[\w./+=@:~-]")  # needs no quoting in postgresql.conf, postmaster.opts or a URL
_FRESH_CLUSTER_BYTES = 100_000_000  # 47 MB measured, most of it the first WAL segment and two template databases
_SETTINGS = {
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "max_connections": "100",
    "fsync": "on",
    "full_page_writes": "on",
    "client_connection_check_interval": "10s",  # ends the long query of a client that was killed
}


@dataclass(frozen=True, slots=True)
class Home:
    """A cluster that is there, the account it belongs to and the binaries that fit it and that the account can run."""

    account: Account
    bin_dir: Path
    cluster_dir: Path

    def socket_dir(self) -> Path:
        """A private folder for the server's socket, made if missing. Raises DatabaseUnavailable.

        The cluster itself where its path is short and plain: every command finds it there, whatever its TMPDIR and
        whatever /tmp it sees. A path too long for a socket gets a short folder elsewhere.
        """
        if _can_hold_socket(self.cluster_dir):
            return self.cluster_dir
        name = f"doclease-{self.account.uid}-{_digest(self.cluster_dir)}"
        folder = next(base / name for base in _runtime_folders() if _is_short(base / name))
        return _private_folder(folder, self.account)


def open_owned(path: Path, flags: int = os.O_RDWR) -> int:
    """Open a file of the data folder, made if missing and then given to the folder's owner. Never follows a link."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    owner = path.parent.stat()
    if os.geteuid() == 0 and os.fstat(descriptor).st_uid != owner.st_uid:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    return descriptor


def try_lock(descriptor: int, operation: int) -> bool:
    """Take the flock now or not at all."""
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def settle(data_dir: Path, shipped_bin_dir: Path) -> Home:
    """The home of the data folder's cluster, made if there is none yet. The caller holds the keeper's lock.

    Raises DatabaseUnavailable that says what is in the way.
    """
    account = account_for(data_dir)
    bin_dir = reachable_binaries(shipped_bin_dir, account)
    _drop_leftovers(data_dir)
    link = data_dir / "postgres"
    if link.is_symlink() and not link.exists():
        raise DatabaseUnavailable(f"{link} points to {link.resolve()}, which is not there. Mount it or bring it back.")
    if not link.exists():
        _create_cluster(Home(account, bin_dir, _place_for_cluster(data_dir, account)), link)
    home = Home(account, bin_dir, link.resolve())
    _check_version(home)
    return home


def _place_for_cluster(data_dir: Path, account: Account) -> Path:
    """A new, empty, private folder of the account, in the data folder unless the account cannot get there."""
    reached = account.run("/bin/sh", "-c", 'cd -- "$1"', "sh", data_dir).returncode == 0
    parent, prefix = data_dir, "postgres.new-"
    if not reached:
        parent, prefix = SHARED_HOME / "clusters", f"{_digest(data_dir)}-"
        public_folder(parent)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    if os.geteuid() == 0:
        os.chown(folder, account.uid, account.gid)
    return folder


def _create_cluster(home: Home, link: Path) -> None:
    """Build a whole cluster with role and database, then give it its name: nobody ever sees a half-made one."""
    try:
        _check_space_and_name(home)
        _initialise(home)
    except BaseException:
        shutil.rmtree(home.cluster_dir, ignore_errors=True)
        raise
    if home.cluster_dir.parent == link.parent:
        home.cluster_dir.rename(link)
    else:
        link.symlink_to(home.cluster_dir)
    _sync_folder(link.parent)


def _check_space_and_name(home: Home) -> None:
    if not is_named(home.account.uid):
        raise DatabaseUnavailable(
            f"User {home.account.uid} has no name on this machine, and PostgreSQL's initdb insists on one. "
            "Run as a user that /etc/passwd knows, or set database.url to a server of your own."
        )
    free = shutil.disk_usage(home.cluster_dir).free
    if free < _FRESH_CLUSTER_BYTES:
        raise DatabaseUnavailable(
            f"{home.cluster_dir.parent} has {free // 1_000_000} MB left, and a new database needs "
            f"{_FRESH_CLUSTER_BYTES // 1_000_000} MB. Free some space or choose another data folder."
        )


def _initialise(home: Home) -> None:
    bin_dir, cluster = home.bin_dir, home.cluster_dir
    locale = ("--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C")
    access = (f"--username={ROLE}", "--auth=trust", "--no-instructions")  # trust: the socket's folder is private
    settings = [argument for name, value in _SETTINGS.items() for argument in ("-c", f"{name}={value}")]
    _must(home.account.run(bin_dir / "initdb", "-D", cluster, *locale, *access, *settings), "initdb")
    single = (bin_dir / "postgres", "--single", "-D", cluster, "-c", "exit_on_error=on", "template1")
    _must(home.account.run(*single, text=f"CREATE DATABASE {DATABASE};\n"), "CREATE DATABASE")


def _must(done: subprocess.CompletedProcess[str], step: str) -> None:
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        raise DatabaseUnavailable(
            f"A new database could not be made, {step} failed:\n{said}\nRemove the cause and run the command again."
        )


def _drop_leftovers(data_dir: Path) -> None:
    for folder in data_dir.glob("postgres.new-*"):  # of a keeper that was killed while it built a cluster
        shutil.rmtree(folder, ignore_errors=True)


def _check_version(home: Home) -> None:
    mine = version_of(home.bin_dir, home.account).partition(".")[0]
    try:
        theirs = (home.cluster_dir / "PG_VERSION").read_text().strip()
    except OSError as error:
        raise DatabaseUnavailable(
            f"{home.cluster_dir} is there but is no PostgreSQL cluster ({error.strerror}: PG_VERSION). "
            "Move it away to begin with an empty database, or restore it from a backup."
        ) from error
    if theirs != mine:
        raise DatabaseUnavailable(
            f"The database in {home.cluster_dir} was written by PostgreSQL {theirs}, and this doclease brings "
            f"PostgreSQL {mine}. Dump it with the doclease that wrote it (pg_dump) and load the dump into a new "
            "data folder, or install that doclease again."
        )


def _runtime_folders() -> list[Path]:
    """Where short-lived private folders may go, best first. The last is short enough for every name."""
    if os.geteuid() == 0:
        wanted = ["/run"]
    else:
        wanted = [os.environ.get("XDG_RUNTIME_DIR") or "/nonexistent", tempfile.gettempdir()]
    return [*(Path(each) for each in wanted if os.access(each, os.W_OK | os.X_OK)), Path("/tmp")]  # noqa: S108


def _private_folder(folder: Path, account: Account) -> Path:
    try:
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(folder, account.uid, account.gid, follow_symlinks=False)
    except FileExistsError:
        pass
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or found.st_mode & 0o077:
        raise DatabaseUnavailable(
            f"{folder} should be a private folder of {name_of(account.uid)}, and is not: it belongs to "
            f"{name_of(found.st_uid)} with mode {stat.filemode(found.st_mode)}. Remove it if you know who made it."
        )
    return folder


def _can_hold_socket(folder: Path) -> bool:
    """Whether a socket there is private, short enough, needs no quoting, and the file system can have one at all."""
    if not (_is_short(folder) and _PLAIN_PATH.fullmatch(str(folder))):
        return False
    trial = folder / ".s.trial"
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(os.fsencode(trial))
        trial.unlink()
    except OSError:
        return False
    return True


def _is_short(folder: Path) -> bool:
    return len(os.fsencode(folder / _SOCKET_NAME)) <= _SOCKET_PATH_BYTES


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

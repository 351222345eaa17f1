"""Real PostgreSQL servers for the tests: the embedded one, or one of another major version found on this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, create_engine, text

from pipeline import database

DEBIAN = Path("/usr/lib/postgresql")
NAMED = "DOCLEASE_POSTGRES_BINS"  # more bin folders, separated like those of PATH


@contextmanager
def embedded(folder: Path) -> Iterator[URL]:
    """The server that doclease itself starts."""
    from pipeline.embedded.server import EmbeddedServer

    server = EmbeddedServer(folder)
    try:
        yield database.parse_url(server.acquire())
    finally:
        server.stop()


@contextmanager
def installed(bin_dir: Path, folder: Path) -> Iterator[URL]:
    """A server from the binaries of `bin_dir`, e.g. /usr/lib/postgresql/15/bin."""
    user = unprivileged_user() if os.geteuid() == 0 else None
    cluster, socket_dir = folder / "cluster", folder / "s"
    for path in (cluster, socket_dir):
        path.mkdir(parents=True)
        if user:
            shutil.chown(path, user)
    _run([bin_dir / "initdb", "-D", cluster, "-U", "doclease", "-A", "trust", "-E", "UTF8"], user)
    options = f"-h '' -k '{socket_dir}'"
    control: list[str | Path] = [bin_dir / "pg_ctl", "-D", cluster, "-w", "-l", cluster / "log"]
    _run([*control, "-o", options, "start"], user)
    try:
        yield URL.create("postgresql+psycopg", "doclease", database="postgres", query={"host": str(socket_dir)})
    finally:
        _run([*control, "-m", "immediate", "stop"], user)


def other_majors() -> dict[int, Path]:
    """The binaries of other supported major versions on this machine, by version: Debian's, and those named to us."""
    named = [Path(each) for each in os.environ.get(NAMED, "").split(os.pathsep) if each]
    found = {}
    for folder in [*DEBIAN.glob("*/bin"), *named]:
        if (folder / "initdb").exists():
            told = subprocess.run([folder / "initdb", "--version"], capture_output=True, text=True, check=True).stdout
            found[int(told.split()[-1].split(".")[0])] = folder
    lowest, highest = database.SUPPORTED
    return {major: found[major] for major in sorted(found) if lowest <= major < highest}


def other_major() -> Path | None:
    """The newest of them."""
    return next(reversed(other_majors().values()), None)


def create_database(server: URL, name: str) -> URL:
    """A fresh database on the server."""
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    engine.dispose()
    return server.set(database=name)


def _run(command: list[str | Path], user: str | None) -> None:
    subprocess.run(command, check=True, cwd="/", user=user, stdout=subprocess.DEVNULL)


def unprivileged_user() -> str:
    """Who runs a server that root starts: PostgreSQL refuses to run as root."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise RuntimeError("PostgreSQL does not run as root and there is no other user")

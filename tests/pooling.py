"""A real pgbouncer in transaction mode before a test server, set up as docs/operating.md says."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, create_engine, text

from pipeline.config import DatabaseSettings
from tests.queue import rows

PORT = "6432"
MISSING = "no pgbouncer on this machine: apt-get install pgbouncer"
CONFIGURATION = """
[databases]
* = host={socket_dir} port={port}
[pgbouncer]
pool_mode = transaction
unix_socket_dir = {folder}
listen_port = {own_port}
auth_type = trust
auth_file = {folder}/users.txt
default_pool_size = {connections}
max_client_conn = 200
server_idle_timeout = 5
logfile = {folder}/pgbouncer.log
"""
# The limits of sessions are set on the role, as for any installation behind a pooler. The clock of the tests is a row
# instead of a session setting: behind a pooler no session is the client's own.
PREPARED = """
ALTER ROLE {role} IN DATABASE {database} SET statement_timeout = '30s';
ALTER ROLE {role} IN DATABASE {database} SET idle_in_transaction_session_timeout = '5s';
ALTER ROLE {role} IN DATABASE {database} SET timezone = 'UTC';
CREATE TABLE tests_clock (ahead interval NOT NULL);
INSERT INTO tests_clock VALUES ('0');
CREATE OR REPLACE FUNCTION clock_offset() RETURNS interval
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT ahead FROM tests_clock $$;
"""


def binary() -> Path | None:
    """The program, None where it is not installed."""
    found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    return Path(found) if found else None


def is_pooled(url: URL) -> bool:
    """Whether an address is that of a pooler of these tests."""
    return url.query.get("port") == PORT


def settings_for(url: URL) -> DatabaseSettings:
    """How the database at an address is to be spoken to."""
    return DatabaseSettings(pooler="transaction" if is_pooled(url) else "none")


def prepare(url: URL) -> None:
    """Set a database up for clients behind a pooler; `url` leads to it directly."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in PREPARED.format(role=url.username, database=url.database).split(";\n"):
            if statement.strip():
                connection.execute(text(statement))
    engine.dispose()


def _accepts(path: Path) -> bool:
    """Whether somebody listens at a socket: its file is there a moment before."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


@contextmanager
def pooled(server: URL, folder: Path, *, connections: int = 20) -> Iterator[URL]:
    """A pgbouncer before `server` (a URL with a socket folder), with so many connections; the URL through it."""
    program = binary()
    assert program is not None, MISSING
    socket_dir = Path(str(server.query["host"]))
    owner = socket_dir.stat()  # only the server's own user may enter the folder of its socket
    folder.mkdir(parents=True)
    values = {"socket_dir": socket_dir, "port": server.query.get("port", "5432"), "own_port": PORT}
    configuration = CONFIGURATION.format(folder=folder, connections=connections, **values)
    (folder / "pgbouncer.ini").write_text(configuration, encoding="utf-8")
    (folder / "users.txt").write_text(f'"{server.username}" ""\n', encoding="utf-8")
    if os.geteuid() == 0:
        os.chown(folder, owner.st_uid, owner.st_gid)
    identity: dict[str, Any] = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []}
    process = subprocess.Popen(
        [program, "-q", folder / "pgbouncer.ini"],
        cwd="/",
        stderr=subprocess.DEVNULL,
        **(identity if os.geteuid() == 0 else {}),
    )
    try:
        rows.until(lambda: _accepts(folder / f".s.PGSQL.{PORT}"))
        yield server.set(query={"host": str(folder), "port": PORT})
    finally:
        process.terminate()
        process.wait()

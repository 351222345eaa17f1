"""Bring a backup back, into a database that has nothing yet: the files first, then the rows that name them.

All of the database comes in one transaction, so an interrupted restore is repeated as it was begun. Leases that ran
when the backup was taken are over; the first sweep gives them one more, and then takes their tasks back.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from pipeline import database, place
from pipeline.app import App
from pipeline.backup import manifest, programs
from pipeline.backup.manifest import Entry, Label
from pipeline.backup.programs import Program
from pipeline.backup.taking import Lost
from pipeline.documents.archive import Archive
from pipeline.errors import ConfigurationError, SchemaOutdated, UsageProblem

# Made before, or of the place and not of the installation.
_NOT_OURS = (" SCHEMA - ", " COMMENT - SCHEMA ", " ACL ", " DEFAULT ACL ")


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back, and the files that did not."""

    label: Label
    revision: str
    lost: Sequence[Lost]


def restore(app: App, folder: Path) -> Restored:
    """Restore the backup in `folder`, bring its schema up to date, and hash every file that the backup lists.

    Raises UsageProblem for a folder that is no backup or a database that has an installation already, SchemaOutdated,
    ConfigurationError, ProgramFailed, StoreUnavailable.
    """
    label = manifest.read_label(folder)
    _require_room(app, label)
    program = programs.fitting("pg_restore", at_least=label.dumped_with)
    if label.has_store:
        for entry in manifest.read_entries(folder):
            _bring_back(entry, Archive(folder / manifest.STORE), app.archive)
    _load(app, folder, program)
    revision = database.upgrade(app.engine)
    return Restored(label, revision, [found for entry in manifest.read_entries(folder) if (found := _lost(entry, app))])


def _require_room(app: App, label: Label) -> None:
    newest = database.newest_revision()
    if label.revision > newest:
        raise SchemaOutdated(
            f"the backup's schema is {label.revision}, newer than doclease's {newest}. Upgrade doclease."
        )
    if label.schema != app.settings.database.schema:
        raise ConfigurationError(
            f"the backup is of schema {label.schema}, database.schema is {app.settings.database.schema}:"
            f" set it to {label.schema}"
        )
    if database.current_revision(app.engine) is not None:
        raise UsageProblem(
            "the database has an installation already, and nothing is overwritten. Restore into a new folder"
            " (doclease init --no-database DIR), or name an empty database in database_url"
        )


def _bring_back(entry: Entry, kept: Archive, archive: Archive) -> None:
    """Copy one file, unless it is there. What the backup does not have as it came is told at the end, as missing."""
    if not archive.path_of(entry.sha256).exists() and kept.verify(entry.sha256):
        with kept.path_of(entry.sha256).open("rb") as file:
            archive.keep(file)


def _load(app: App, folder: Path, program: Program) -> None:
    with app.engine.begin() as connection:
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        place.prepare(connection, app.settings.database.schema)
        server_major = int(connection.execute(text("SHOW server_version_num")).scalar_one()) // 10_000
    dump = folder / manifest.DUMP
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="doclease-restore-") as contents:
        contents.write(_contents(program, dump))
        contents.flush()
        wanted = ["--no-owner", "--no-privileges", f"--use-list={contents.name}"]
        programs.load(program, wanted, dump, app.url, server_major=server_major)


def _contents(program: Program, dump: Path) -> str:
    """What to restore of the dump: all, but the schema itself, which is there."""
    done = subprocess.run([program.path, "--list", dump], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise programs.ProgramFailed((done.stderr.splitlines() or ["pg_restore cannot read the dump"])[0])
    return "".join(line for line in done.stdout.splitlines(True) if not any(kind in line for kind in _NOT_OURS))


def _lost(entry: Entry, app: App) -> Lost | None:
    state = manifest.state_of(entry, app.archive, by_hash=True)
    return None if state == "ok" else Lost(entry.document_id, entry.sha256, state)

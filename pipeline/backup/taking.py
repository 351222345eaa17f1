"""Take a backup while everything runs: the database as of one moment, then the files that it speaks of.

The order is what makes it whole. Files are in the store before rows name them and are never changed, so the store as it
is after the dump has all that the dump names. The list of files comes from the same snapshot as the dump.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Connection, text

from pipeline import database
from pipeline.app import App
from pipeline.backup import manifest, programs
from pipeline.backup.manifest import Entry, Label
from pipeline.documents.archive import Archive
from pipeline.errors import UsageProblem
from pipeline.reports.originals import WAS_KEPT

# The snapshot must outlive the dump, however long that takes.
_NO_LIMITS = ("statement_timeout", "idle_in_transaction_session_timeout")
_ENTRIES = text(f"""
    SELECT document_id, sha256, byte_count
    FROM documents
    WHERE {WAS_KEPT}
    ORDER BY document_id
""")  # noqa: S608 - put together from constants


@dataclass(frozen=True, slots=True)
class Lost:
    """A file that the database speaks of and the store does not have as it came."""

    document_id: int
    sha256: str
    state: str


@dataclass(frozen=True, slots=True)
class Taken:
    """What a backup came to."""

    label: Label
    lost: Sequence[Lost]


def take(app: App, folder: Path, *, store: str | None = None) -> Taken:
    """Back up into `folder`, which must be new or empty; `store` is copy, link or None.

    Files are hashed while they are copied or before they are linked, and only looked for otherwise. Raises
    UsageProblem, ConfigurationError without a pg_dump that fits, ProgramFailed, StoreUnavailable.
    """
    database.require_schema(app.engine)
    _claim(folder)
    label = _dump(app, folder, has_store=store is not None)
    lost = [found for entry in manifest.read_entries(folder) if (found := _file(app.archive, entry, folder, store))]
    manifest.write_label(folder, label)
    return Taken(label, lost)


def _claim(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)
        is_free = not any(folder.iterdir())
    except OSError as error:
        raise UsageProblem(f"{folder} cannot hold a backup: {error.strerror}") from error
    if not is_free:
        raise UsageProblem(f"{folder} is not empty; nothing is overwritten: name a new folder for each backup")
    for name in (manifest.DUMP, manifest.FILES):  # the dump has the text of documents
        (folder / name).touch(mode=0o640)


def _dump(app: App, folder: Path, *, has_store: bool) -> Label:
    """Dump and list, both from one snapshot."""
    with app.engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        for limit in _NO_LIMITS:
            connection.execute(text(f"SET LOCAL {limit} = 0"))
        version, number, snapshot = connection.execute(
            text(
                "SELECT current_setting('server_version'), current_setting('server_version_num'), pg_export_snapshot()"
            )
        ).one()
        program = programs.fitting("pg_dump", at_least=int(number) // 10_000)
        schema = app.settings.database.schema
        wanted = ["--format=custom", f"--schema={schema}", f"--snapshot={snapshot}", f"--file={folder / manifest.DUMP}"]
        process = programs.run(program, wanted, app.url)
        try:
            with (folder / manifest.FILES).open("w", encoding="utf-8", newline="") as file:
                documents, byte_count = manifest.write_entries(file, _entries(connection))
        finally:
            programs.finish(process)
        connection.rollback()
    taken_at = datetime.now(UTC).isoformat(timespec="seconds")
    return Label(
        taken_at=taken_at,
        revision=database.newest_revision(),
        schema=schema,
        server_version=version,
        dumped_with=program.major,
        documents=documents,
        byte_count=byte_count,
        has_store=has_store,
    )


def _entries(connection: Connection) -> Iterator[Entry]:
    rows = connection.execution_options(yield_per=1_000).execute(_ENTRIES)
    return (Entry(row.document_id, row.sha256, row.byte_count) for row in rows)


def _file(archive: Archive, entry: Entry, folder: Path, store: str | None) -> Lost | None:
    """Bring one file over as asked; what is wrong with it, if anything."""
    state = manifest.state_of(entry, archive, by_hash=store == "link")
    if state == "ok" and store is not None:
        target = Archive(folder / manifest.STORE)
        if store == "copy" or not _linked(archive.path_of(entry.sha256), target.path_of(entry.sha256)):
            state = _copied(archive, target, entry)
    return None if state == "ok" else Lost(entry.document_id, entry.sha256, state)


def _linked(source: Path, target: Path) -> bool:
    """Whether another name could be made: not on another file system, and not everywhere."""
    target.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    with suppress(OSError):
        os.link(source, target, follow_symlinks=False)
        return True
    return False


def _copied(archive: Archive, target: Archive, entry: Entry) -> str:
    with archive.path_of(entry.sha256).open("rb") as file:
        stored = target.keep(file)
    if stored.sha256 == entry.sha256:
        return "ok"
    target.path_of(stored.sha256).unlink()  # it is kept nowhere under a name that is not its own
    return "damaged"

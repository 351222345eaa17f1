"""The list of a backup's files, and its label: written last, so that a folder without one is known to be no backup."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from pipeline.documents.archive import Archive, sync_folder
from pipeline.errors import UsageProblem

DUMP, FILES, LABEL, STORE = "doclease.dump", "manifest.csv", "backup.json", "store"
_COLUMNS = ("document_id", "sha256", "byte_count")


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of the database, and what its file must be."""

    document_id: int
    sha256: str
    byte_count: int


@dataclass(frozen=True, slots=True)
class Label:
    """What a backup is of. `dumped_with` is the major version of pg_dump; only that or a later pg_restore reads it."""

    taken_at: str
    revision: str
    schema: str
    server_version: str
    dumped_with: int
    documents: int
    byte_count: int
    has_store: bool


def write_entries(file: TextIO, entries: Iterable[Entry]) -> tuple[int, int]:
    """Write the list; returns how many, and their bytes."""
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    documents = byte_count = 0
    for entry in entries:
        writer.writerow((entry.document_id, entry.sha256, entry.byte_count))
        documents, byte_count = documents + 1, byte_count + entry.byte_count
    return documents, byte_count


def read_entries(backup: Path) -> Iterator[Entry]:
    """The list, one at a time: it may be long."""
    with (backup / FILES).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield Entry(int(row["document_id"]), row["sha256"], int(row["byte_count"]))


def write_label(backup: Path, label: Label) -> None:
    """Say that the backup is complete, after all of it is on disk."""
    for name in (DUMP, FILES):
        _sync(backup / name)
    temporary = backup / f"{LABEL}.part"
    temporary.write_text(json.dumps(asdict(label), indent=2) + "\n", encoding="utf-8")
    _sync(temporary)
    temporary.rename(backup / LABEL)
    sync_folder(backup)


def read_label(backup: Path) -> Label:
    """What the folder is a backup of. Raises UsageProblem when it is none, or not complete."""
    try:
        return Label(**json.loads((backup / LABEL).read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise UsageProblem(f"{backup} has no {LABEL}: it is no backup, or one that was interrupted") from None
    except (OSError, ValueError, TypeError) as error:
        raise UsageProblem(f"{backup / LABEL} cannot be read: {error}") from error


def state_of(entry: Entry, archive: Archive, *, by_hash: bool) -> str:
    """ok, missing or damaged; without hashing, damaged is what has another size. Raises StoreUnavailable."""
    path = archive.path_of(entry.sha256)
    if not path.exists():
        return "missing"
    same = archive.verify(entry.sha256) if by_hash else path.stat().st_size == entry.byte_count
    return "ok" if same else "damaged"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

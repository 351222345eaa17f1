"""The originals in the store: one brought out unchanged, and all of them checked against their hashes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Engine, text

from pipeline.documents.archive import Archive
from pipeline.errors import NothingMatched, StoreUnavailable, UsageProblem

CHUNK_BYTES = 1 << 20
BATCH = 1_000

_SHA256 = text("SELECT sha256, name FROM documents WHERE document_id = :document_id")
_AFTER = text("""
    SELECT document_id, name, sha256
    FROM documents
    WHERE document_id > :after
        AND (CAST(:wanted AS bigint[]) IS NULL OR document_id = ANY(CAST(:wanted AS bigint[])))
    ORDER BY document_id
    LIMIT :batch
""")


@dataclass(frozen=True, slots=True)
class Verified:
    """A document and what its bytes in the store are: ok, damaged or missing."""

    document_id: int
    name: str
    state: str


def bring_out(engine: Engine, archive: Archive, document_id: int, target: BinaryIO) -> str:
    """Write a document's bytes to `target`, checked before the first one; returns its name.

    Raises NothingMatched, StoreUnavailable for bytes that are gone or damaged.
    """
    with engine.connect() as connection:
        row = connection.execute(_SHA256, {"document_id": document_id}).one_or_none()
    if row is None:
        raise NothingMatched(f"there is no document {document_id}; `doclease documents list` shows those there are")
    if not archive.verify(row.sha256):
        raise StoreUnavailable(
            f"the bytes of document {document_id} are not in the store, or damaged; restore them from a backup"
        )
    with archive.path_of(row.sha256).open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            target.write(chunk)
    return str(row.name)


def new_file(path: Path) -> BinaryIO:
    """A file that was not there before. Raises UsageProblem when it was."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o640)
    except FileExistsError:
        raise UsageProblem(f"{path} exists; nothing is overwritten") from None
    return os.fdopen(descriptor, "wb")


def verify(engine: Engine, archive: Archive, document_ids: Sequence[int] = ()) -> Iterator[Verified]:
    """Every document, or those named, with the state of its bytes. Reads each file once."""
    after = 0
    while True:
        values = {"after": after, "wanted": list(document_ids) or None, "batch": BATCH}
        with engine.connect() as connection:
            rows = connection.execute(_AFTER, values).all()
        if not rows:
            return
        for row in rows:
            yield Verified(row.document_id, row.name, _state(archive, row.sha256))
        after = rows[-1].document_id


def _state(archive: Archive, sha256: str) -> str:
    if archive.verify(sha256):
        return "ok"
    return "damaged" if archive.path_of(sha256).exists() else "missing"

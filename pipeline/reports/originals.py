"""The originals in the store: one brought out unchanged, and all of them checked against their hashes."""

from __future__ import annotations

import os
import time
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
# What is too large at the door has its name and hash on record, and its bytes were never taken.
WAS_KEPT = """
    EXISTS (
        SELECT
        FROM tasks
        WHERE tasks.document_id = documents.document_id
            AND (tasks.reason IS DISTINCT FROM 'too_large' OR tasks.attempt_no > 0)
    )
"""
_AFTER = text(f"""
    SELECT document_id, name, sha256, {WAS_KEPT} AS was_kept
    FROM documents
    WHERE document_id > :after
        AND (CAST(:wanted AS bigint[]) IS NULL OR document_id = ANY(CAST(:wanted AS bigint[])))
    ORDER BY document_id
    LIMIT :batch
""")  # noqa: S608 - put together from constants
_STRANGERS = text("""
    SELECT given.sha256
    FROM unnest(CAST(:found AS text[])) AS given (sha256)
    WHERE NOT EXISTS (SELECT FROM documents WHERE documents.sha256 = given.sha256)
""")


@dataclass(frozen=True, slots=True)
class Verified:
    """A document and what its bytes in the store are: ok, damaged, missing, or not kept since they were too large.

    Or a file of the store that is no document's, with its path for a name: a stranger, or an abandoned copy.
    """

    document_id: int | None
    name: str
    state: str

    @property
    def is_lost(self) -> bool:
        """Whether a document's bytes are not there any more."""
        return self.state in ("damaged", "missing")


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
            yield Verified(row.document_id, row.name, _state(archive, row.sha256, was_kept=row.was_kept))
        after = rows[-1].document_id


def strays(engine: Engine, store: Path, *, older_than_seconds: float) -> Iterator[Verified]:
    """Files of the store that are no document's; younger ones may be on their way to become one. Harmless."""
    latest = time.time() - older_than_seconds
    for place, _, names in os.walk(store):
        folder = Path(place)
        yield from _strays_in(engine, folder, [name for name in names if _is_old(folder / name, latest)])


def _strays_in(engine: Engine, folder: Path, names: Sequence[str]) -> Iterator[Verified]:
    if folder.name == "tmp":
        yield from (Verified(None, str(folder / name), "abandoned") for name in names)
    elif names:
        with engine.connect() as connection:
            unknown = connection.execute(_STRANGERS, {"found": list(names)}).scalars().all()
        yield from (Verified(None, str(folder / name), "stranger") for name in unknown)


def _is_old(path: Path, latest: float) -> bool:
    try:
        return path.stat(follow_symlinks=False).st_mtime < latest
    except FileNotFoundError:  # it was just given its name, or swept
        return False


def _state(archive: Archive, sha256: str, *, was_kept: bool) -> str:
    if archive.verify(sha256):
        return "ok"
    if archive.path_of(sha256).exists():
        return "damaged"
    return "missing" if was_kept else "not kept"

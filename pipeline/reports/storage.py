"""Whether the store takes bytes, still has those it was given, and is the one that the database speaks of."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from itertools import accumulate, takewhile
from pathlib import Path

from sqlalchemy import Engine, text

from pipeline.documents.archive import Archive
from pipeline.errors import StoreUnavailable
from pipeline.reports.checks import Check, State, judged
from pipeline.reports.originals import WAS_KEPT

SAMPLE = 20
SAMPLE_BYTES = 200_000_000
FIRST_NEEDED = 5

_NEWEST = text(f"""
    SELECT document_id, sha256, byte_count
    FROM documents
    WHERE {WAS_KEPT}
    ORDER BY document_id DESC
    LIMIT :sample
""")  # noqa: S608 - put together from constants
_NEEDED = text("""
    SELECT documents.sha256
    FROM (SELECT document_id FROM tasks WHERE status = 'enqueued' ORDER BY rank_ms, task_id LIMIT :sample) AS ready
    JOIN documents ON documents.document_id = ready.document_id
""")


def writable(store: Path) -> Check:
    """Write a few bytes, bring them to disk, remove them again. Makes no store that is not there yet."""
    if not store.exists():
        return _not_there_yet(store)
    folder = store / "tmp" if (store / "tmp").is_dir() else store
    probe = folder / f"probe-{os.getpid()}-{secrets.token_hex(8)}"
    try:
        _try(probe)
    except OSError as error:
        found = f"{folder}: {error.strerror}"
        return Check("store takes files", found, State.BROKEN, "nothing is taken in: check its mount, owner and mode")
    return Check("store takes files", "written, synced, removed", State.FINE)


def sampled(engine: Engine, archive: Archive) -> Check:
    """Hash the newest files of the database again, 20 at most and about 200 MB. Holds no connection meanwhile."""
    with engine.connect() as connection:
        rows = connection.execute(_NEWEST, {"sample": SAMPLE}).all()
    sizes = takewhile(lambda total: total < SAMPLE_BYTES, accumulate(row.byte_count for row in rows))
    newest = rows[: len(list(sizes)) + 1]  # one of any size is read
    missing = [row.document_id for row in newest if not archive.path_of(row.sha256).exists()]
    if newest and len(missing) == len(newest):
        return Check(
            "store has its files",
            f"none of the newest {len(newest)}",
            State.BROKEN,
            "not the store of this database, or not mounted: check data_dir, then doclease documents verify",
        )
    damaged = [row.document_id for row in newest if row.document_id not in missing and not archive.verify(row.sha256)]
    return judged(
        "store has its files",
        _told(missing, damaged) or f"the newest {len(newest)} are as they came",
        not (missing or damaged),
        "doclease documents verify finds all of them; restore the files from a backup of the store",
    )


def require_shared(engine: Engine, archive: Archive) -> None:
    """Raise StoreUnavailable when the store has none of the files that a worker would ask for next.

    A worker with another store, or an empty one, would fail every document it claims, one attempt after the other.
    """
    with engine.connect() as connection:
        needed = [row.sha256 for row in connection.execute(_NEEDED, {"sample": FIRST_NEEDED})]
    if needed and not any(archive.path_of(sha256).exists() for sha256 in needed):
        raise StoreUnavailable(
            "the store has none of the files that wait: every worker needs the store of the database's other workers."
            " Check data_dir and its mount; `doclease documents verify` lists what is missing."
        )


def _not_there_yet(store: Path) -> Check:
    above = next(folder for folder in store.parents if folder.exists())
    return judged(
        "store takes files",
        "it is made with the first document"
        if (can := os.access(above, os.W_OK | os.X_OK))
        else f"no right to {above}",
        can,
        "nothing is taken in: check the owner and mode of that folder",
    )


def _try(probe: Path) -> None:
    descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, b"doclease doctor\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
        probe.unlink()


def _told(missing: Sequence[int], damaged: Sequence[int]) -> str:
    parts = [
        f"{state}: document {', '.join(map(str, ids))}"
        for state, ids in (("missing", missing), ("damaged", damaged))
        if ids
    ]
    return "; ".join(parts)

"""The store: every document once, under the SHA-256 of its bytes, written once and never changed.

    <store>/ab/abcd…      a document; whatever bears such a name is complete, and its bytes are on disk
    <store>/ab/cd/abcd…   the same, as earlier versions kept it
    <store>/tmp/          copies in the making; what a dead process left here is swept

A copy gets its name by a rename after its bytes are on disk, so that whoever dies, and whenever, leaves a temporary
file at most. Processes need not agree on anything: the same bytes rename onto the same name. Names are brought to disk
a folder at a time, so that many documents share what that costs.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pipeline.errors import StoreUnavailable, UsageProblem

_CHUNK_BYTES = 1 << 18
_FILE_MODE = 0o640
_FOLDER_MODE = 0o750
_ABOVE_MODE = 0o755  # at most: whoever may write there could put another store in the place of this one
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Stored:
    """A document in the store: the name it goes by, and its size."""

    sha256: str
    byte_count: int


class Archive:
    """A content-addressed store in the folder `root`, which is made when something is first kept."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._temporaries = root / "tmp"

    def keep(self, source: BinaryIO) -> Stored:
        """Copy from where `source` stands to its end; durable when this returns. The same bytes again cost no space.

        Raises StoreUnavailable when the store cannot take it. An OSError of the source itself is passed on as it is.
        """
        stored = self.put(source)
        self.sync([stored])
        return stored

    def put(self, source: BinaryIO) -> Stored:
        """Copy as `keep` does, but for the name: it is durable only after `sync`. Threads may put at once."""
        temporary = self._temporaries / f"{os.getpid()}-{secrets.token_hex(16)}"
        descriptor = self._create(temporary)
        try:
            with os.fdopen(descriptor, "wb", buffering=0) as copy:
                stored = self._copy(source, copy)
            self._publish(temporary, stored)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        return stored

    def sync(self, kept: Iterable[Stored], *, run: Callable[..., Iterable[None]] = map) -> None:
        """Bring the names of what was put to disk, each folder once. `run` may be the map of a pool.

        Also names that were there: whoever gave them may not have come as far, and may never.
        """
        folders = {self.path_of(each.sha256).parent for each in kept}
        above = {folder.parent for folder in folders} - folders - {self._root}
        with self._faults_named(self._root):
            for level in (folders, above, {self._root} if folders else set()):
                list(run(sync_folder, level))

    def path_of(self, sha256: str) -> Path:
        """Where a document with that hash is, or would be. Raises UsageProblem for what is no hash."""
        if not _SHA256.fullmatch(sha256):
            raise UsageProblem(f"{sha256[:80]!r} is not a SHA-256; give 64 hexadecimal digits in lower case")
        folder = self._root / sha256[:2]
        path, early = folder / sha256, folder / sha256[2:4] / sha256
        return path if path.exists() or not early.exists() else early

    def verify(self, sha256: str) -> bool:
        """Whether the store holds those bytes undamaged, by hashing them again. Raises StoreUnavailable."""
        path = self.path_of(sha256)
        with self._faults_named(path):
            try:
                with path.open("rb") as file:
                    return hashlib.file_digest(file, "sha256").hexdigest() == sha256
            except FileNotFoundError:
                return False

    def sweep_temporaries(self, older_than_seconds: float) -> int:
        """Remove copies that nobody has written to for that long; how many. Safe to run anywhere, any time.

        A copy that is slower than that fails and is tried again, so leave an hour.
        """
        latest = time.time() - older_than_seconds
        swept = 0
        with self._faults_named(self._temporaries):
            for path in self._temporaries.iterdir() if self._temporaries.is_dir() else ():
                try:
                    if path.stat(follow_symlinks=False).st_mtime < latest:
                        path.unlink()
                        swept += 1
                except FileNotFoundError:  # its owner was just done, or another sweep came first
                    continue
        return swept

    def _copy(self, source: BinaryIO, copy: BinaryIO) -> Stored:
        digest = hashlib.sha256()
        byte_count = 0
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
            byte_count += len(chunk)
            with self._faults_named(self._temporaries):
                _write_all(copy, chunk)
        with self._faults_named(self._temporaries):
            os.fchmod(copy.fileno(), _FILE_MODE)  # whatever the umask
            os.fsync(copy.fileno())
        return Stored(digest.hexdigest(), byte_count)

    def _create(self, temporary: Path) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with self._faults_named(self._temporaries):
            try:
                return os.open(temporary, flags, _FILE_MODE)
            except FileNotFoundError:
                _make_folder(self._root)
                _make_folder(self._temporaries)
                return os.open(temporary, flags, _FILE_MODE)

    def _publish(self, temporary: Path, stored: Stored) -> None:
        """Give the copy its name.

        A copy of other bytes that bears it was damaged by somebody else; the fresh one takes its place.
        """
        path = self.path_of(stored.sha256)
        with self._faults_named(path):
            if _has_size(path, stored.byte_count) and self.verify(stored.sha256):
                temporary.unlink()
                return
            try:
                temporary.rename(path)
            except FileNotFoundError:
                _make_folder(path.parent)
                temporary.rename(path)

    @contextmanager
    def _faults_named(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in _FULL:
                message = f"the disk of the store {self._root} is full: free some space there; work goes on by itself"
            else:
                message = f"the store cannot use {path}: {error.strerror}; check that it is mounted and writable"
            raise StoreUnavailable(message) from error


def _make_folder(folder: Path) -> None:
    for above in reversed(folder.parents):
        if not above.is_dir():
            above.mkdir(_ABOVE_MODE, exist_ok=True)
    try:
        folder.mkdir(_FOLDER_MODE)
    except FileExistsError:
        return
    folder.chmod(_FOLDER_MODE)  # whatever the umask
    sync_folder(folder.parent)


def _write_all(copy: BinaryIO, chunk: bytes) -> None:
    """Write the chunk however often the system takes only a part of it, as it does just before the disk is full."""
    rest = memoryview(chunk)
    while rest:
        rest = rest[copy.write(rest) :]


def _has_size(path: Path, byte_count: int) -> bool:
    try:
        return path.stat(follow_symlinks=False).st_size == byte_count
    except FileNotFoundError:
        return False


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

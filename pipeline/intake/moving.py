"""Moving a file to a name that nobody has. Nothing is overwritten, and a move that a crash cut short can be repeated.

Within a file system the file gets its new name as a hard link before the old one goes; where there are no hard links, a
placeholder that bears the mover's mark holds the name for the rename. To another file system the bytes are copied,
brought to disk and compared before the old name goes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import stat
from pathlib import Path

from pipeline.documents.archive import sync_folder
from pipeline.documents.opening import opened

_NO_LINKS = (errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)


def move(source: Path, target: Path, *, mark: str) -> bool:
    """Move a file; False, with nothing done, when something else has the name.

    `mark` is the mover's own, the same each time the move is repeated. Raises FileNotFoundError when the source is
    gone, any other OSError when the move could not be made; then the source is where it was.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        if not is_already(source, target):
            return _holds(target, mark) and _rename(source, target, mark)
        _remove_copies(target.parent, mark)
    except OSError as error:
        if error.errno == errno.EXDEV:
            return _carry_over(source, target, mark)
        if error.errno in _NO_LINKS:
            return _reserve(target, mark) and _rename(source, target, mark)
        raise
    sync_folder(target.parent)
    let_go(source)
    return True


def is_already(source: Path, target: Path) -> bool:
    """Whether the target is the source under its new name, or its finished copy on another file system."""
    before, after = source.lstat(), target.lstat()
    if before.st_dev == after.st_dev:
        return before.st_ino == after.st_ino
    return stat.S_ISREG(after.st_mode) and before.st_size == after.st_size and _sha256(source) == _sha256(target)


def let_go(source: Path) -> None:
    """Give up the old name; no fault if it is gone."""
    source.unlink(missing_ok=True)


def _reserve(target: Path, mark: str) -> bool:
    """Hold a name by a file that says whose it is; False when somebody has it."""
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return _holds(target, mark)
    with os.fdopen(descriptor, "wb") as file:
        file.write(mark.encode())
    return True


def _holds(target: Path, mark: str) -> bool:
    """Whether a name is held by the mover's own placeholder, left by a move that was cut short."""
    status = target.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size != len(mark.encode()):
        return False
    with opened(target) as (file, _):
        return file.read() == mark.encode()


def _rename(source: Path, target: Path, mark: str) -> bool:
    """Replace the mover's own placeholder by the file."""
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        return _carry_over(source, target, mark)
    sync_folder(target.parent)
    return True


def _carry_over(source: Path, target: Path, mark: str) -> bool:
    """Copy to the target's file system under a passing name, compare, then move within it."""
    _remove_copies(target.parent, mark)
    copy = target.parent / f".{_passing_name(mark)}.{secrets.token_hex(4)}.part"
    try:
        _copy(source, copy)
        if not move(copy, target, mark=mark):
            return False
    finally:
        copy.unlink(missing_ok=True)
    let_go(source)
    return True


def _remove_copies(folder: Path, mark: str) -> None:
    """Remove copies that a move left when it was cut short."""
    for copy in folder.glob(f".{_passing_name(mark)}.*.part"):
        copy.unlink(missing_ok=True)


def _passing_name(mark: str) -> str:
    return hashlib.sha256(mark.encode()).hexdigest()[:16]


def _copy(source: Path, copy: Path) -> None:
    with opened(source) as (file, _), copy.open("xb") as written:
        shutil.copyfileobj(file, written)
        written.flush()
        os.fsync(written.fileno())
    shutil.copystat(source, copy, follow_symlinks=False)
    if _sha256(source) != _sha256(copy):
        raise OSError(errno.EIO, "the copy differs from the file; it may still be written to", str(source))


def _sha256(path: Path) -> bytes:
    with opened(path) as (file, _):
        return hashlib.file_digest(file, "sha256").digest()

"""Only regular files are opened: no link is followed, no pipe waited for, no device touched."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from pipeline.documents.text import display_name
from pipeline.errors import DocumentError
from pipeline.reasons import Reason

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@contextmanager
def opened(path: Path, *, follow: bool = False) -> Iterator[tuple[BufferedReader, os.stat_result]]:
    """A regular file open for reading, and its status. Raises DocumentError for any other kind, OSError.

    Opening some devices does something, so the kind is looked at first, and again at what was opened. `follow` allows
    a symbolic link to a regular file.
    """
    _require_regular(path, path.stat(follow_symlinks=follow))
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _not_regular(path, stat.S_IFLNK) from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _require_regular(path, status)
        yield file, status


def _require_regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise _not_regular(path, stat.S_IFMT(status.st_mode))


def _not_regular(path: Path, kind: int) -> DocumentError:
    name = display_name(os.fsencode(path))
    return DocumentError(
        Reason.UNSUPPORTED, f"{name} is {_KINDS.get(kind, 'no file')}; only regular files are taken in"
    )

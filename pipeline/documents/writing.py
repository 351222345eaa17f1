"""Whether somebody has a file open for writing, asked of the system by a lease for reading that is given back at once.

The system grants one only while nobody may write to the file. It answers for this machine, on file systems that are its
own, to the file's owner and to root with CAP_LEASE; everywhere else nobody knows.
"""

from __future__ import annotations

import errno
import fcntl
import signal
from collections.abc import Callable
from pathlib import Path

from pipeline.documents import mounts
from pipeline.documents.mounts import Mount


def is_open_for_writing(
    descriptor: int, path: Path, *, read_mounts: Callable[[], list[Mount]] = mounts.read
) -> bool | None:
    """Whether the file is open for writing, or mapped so; None where that cannot be told. Never waits.

    `descriptor` has it open for reading only, under the name `path`. Whoever opens it for writing just now waits for
    microseconds. `read_mounts` says what is mounted.
    """
    try:
        # Whoever opens the file meanwhile makes the system send a signal, which by default would end this process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except (AttributeError, OSError) as error:
        refused = isinstance(error, OSError) and error.errno == errno.EAGAIN
        return True if refused and _is_local(path, read_mounts()) else None
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def _is_local(path: Path, found: list[Mount]) -> bool:
    """Whether a refusal means a writer; file systems of other machines refuse for reasons of their own."""
    mount = mounts.mount_of(path.parent, found)
    return mount is not None and not mount.is_remote

"""The file systems below a folder, by the system's own list: where each begins, and whether changes on it are told.

A bind mount has the device of where it comes from, so only this list shows it; a file cannot be renamed across one.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

# File systems on which what another machine does is not told here: no events, and no word of who has a file open.
_REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "virtiofs", "vboxsf", "ceph", "gluster", "afs", "lustre", "prl_fs")
_ESCAPED = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """Where a file system begins, as an absolute path without links, and its kind."""

    point: bytes
    kind: str

    @property
    def is_remote(self) -> bool:
        """Whether others may change it without this system being told."""
        return self.kind.startswith(_REMOTE)


def parse(text: bytes) -> list[Mount]:
    """What a text as /proc/self/mounts has it says, in its order."""
    lines = (line.split(b" ") for line in text.splitlines())
    return [Mount(_unescaped(each[1]), each[2].decode("ascii", "replace")) for each in lines if len(each) > 2]


def read() -> list[Mount]:
    """The mounts there are now; none where the system has no such list."""
    try:
        return parse(Path("/proc/self/mounts").read_bytes())
    except OSError:
        return []


def mount_of(folder: Path, mounts: list[Mount]) -> Mount | None:
    """The mount that a folder is on: the nearest above it, the last one where several begin there."""
    path = _real(folder)
    above = [mount for mount in mounts if _is_inside(path, mount.point)]
    return max(reversed(above), key=lambda mount: len(mount.point), default=None)


def mounts_below(folder: Path, mounts: list[Mount]) -> dict[bytes, Mount]:
    """The mounts that begin below a folder, by their path in it."""
    path = _real(folder)
    prefix = path.rstrip(b"/") + b"/"
    return {mount.point[len(prefix) :]: mount for mount in mounts if mount.point.startswith(prefix)}


def _real(folder: Path) -> bytes:
    return os.fsencode(os.path.realpath(folder))


def _is_inside(path: bytes, point: bytes) -> bool:
    return path == point or path.startswith(point.rstrip(b"/") + b"/")


def _unescaped(point: bytes) -> bytes:
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), point)

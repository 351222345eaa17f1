"""Scratch folders of parser children: one each, named after the parent, so that what a kill -9 left is removed.

What is in one was made by a process that is not trusted: it is bounded while the child lives, and removed whatever it
is.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

MOST_ENTRIES = 1_000  # a child has one file there at a time, and a few of its libraries
_PREFIX = "doclease-child-"
_BLOCK_BYTES = 512  # the unit of st_blocks


def make_scratch() -> Path:
    """A private folder for one child; first removes those whose parents are gone."""
    _remove_orphans(Path(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def overfull(folder: Path, most_bytes: int) -> str:
    """Why a scratch folder holds more than any document needs, empty if it does not. Costs by MOST_ENTRIES at most."""
    found, held, folders = 0, 0, [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    found += 1
                    if found > MOST_ENTRIES:
                        return f"more than {MOST_ENTRIES:,} files"
                    held += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
        except (FileNotFoundError, PermissionError):  # it works on them at this moment, or closed one to us
            continue
        except OSError as error:
            return f"folders that cannot be listed ({error.strerror})"
    return f"more than {most_bytes:,} bytes" if held > most_bytes else ""


def remove_scratch(folder: Path) -> None:
    """Remove a scratch folder with all that is in it, however deep it is nested. Never raises."""
    with suppress(OSError):
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            while sum(_removed(name, top, top) for name in os.listdir(top)):  # noqa: PTH208 - by descriptor
                pass
        finally:
            os.close(top)
        folder.rmdir()


def _removed(name: str, folder: int, top: int) -> bool:
    """Remove an entry. What is in a folder is lifted to the top first, so that nothing goes down with the nesting."""
    try:
        try:
            os.unlink(name, dir_fd=folder)
        except IsADirectoryError:
            _lift(name, folder, top)
            if folder == top:
                os.rmdir(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _lift(name: str, folder: int, top: int) -> None:
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        with suppress(OSError):
            os.chmod(f"/proc/self/fd/{handle}", 0o700)  # noqa: PTH101 - there is no path to it
        if folder != top:
            os.rename(name, secrets.token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
            return
        inside = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
        try:
            for each in os.listdir(inside):  # noqa: PTH208 - by descriptor
                _removed(each, inside, top)
        finally:
            os.close(inside)
    finally:
        os.close(handle)


def _remove_orphans(folder: Path) -> None:
    for path in folder.glob(f"{_PREFIX}*-*"):
        parent = path.name.removeprefix(_PREFIX).partition("-")[0]
        if parent.isdigit() and _is_ours(path) and not Path("/proc", parent).exists():
            remove_scratch(path)


def _is_ours(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.geteuid()
    except OSError:
        return False  # somebody else removed it just now

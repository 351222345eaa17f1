"""Files that a watcher took hold of: <inbox>/.doclease/<token>/<path in the inbox>, by a rename that only one can win.

The folder is the memory of what is under way: whoever finds a token in it goes on from there. A file stays until its
document has ended and it has its last place.
"""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.documents.inbox import Found

FOLDER = ".doclease"
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Held:
    """A token in a private folder. `file` is None when there is none: not yet, or not any more.

    `path` is the file's path in the inbox.
    """

    token: uuid.UUID
    folder: Path
    file: Path | None
    path: bytes


class PrivateFolder:
    """The private folder at the top of a file system, shared by all watchers of the inbox."""

    def __init__(self, top: Path) -> None:
        self._folder = top / FOLDER

    def claim(self, inbox: Path, found: Found) -> Held:
        """Take hold of a file. Raises FileNotFoundError when it is gone, OSError when it cannot be moved."""
        token = uuid.uuid4()
        source = inbox / os.fsdecode(found.path)
        for _ in range(_TRIES):
            self.prepare(token, found.path)
            try:
                self.seize(source, token, found.path)
            except FileNotFoundError:
                # Another watcher may have cleaned away the folder, which was empty until now.
                if os.path.lexists(source):
                    continue
                self.clean(token)
                raise
            except OSError:
                self.clean(token)
                raise
            return self._held(token)
        raise OSError(f"{source} could not be moved into {self._folder}")

    def prepare(self, token: uuid.UUID, path: bytes) -> None:
        """Make the folders that a file is going to be in. Refuses a private folder that is not one's own."""
        self._folder.mkdir(mode=0o700, parents=False, exist_ok=True)
        if not stat.S_ISDIR(self._folder.lstat().st_mode):
            raise PermissionError(f"{self._folder} is no folder; remove it")
        self._place(token, path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    def seize(self, source: Path, token: uuid.UUID, path: bytes) -> None:
        """The rename that makes the file ours."""
        source.rename(self._place(token, path))

    def tokens(self) -> list[uuid.UUID]:
        """Every token there is, in the order they sort."""
        try:
            with os.scandir(self._folder) as entries:
                names = sorted(entry.name for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [token for name in names if (token := _token(name)) is not None]

    def held(self, token: uuid.UUID) -> Held:
        """What a token's folder holds."""
        return self._held(token)

    def renew(self, held: Held) -> Held:
        """Put a file under a token of its own: it has become another one since it was taken. Raises OSError."""
        token = uuid.uuid4()
        assert held.file is not None
        self.prepare(token, held.path)
        self.seize(held.file, token, held.path)
        return self._held(token)

    def clean(self, token: uuid.UUID) -> None:
        """Remove a token's folders if they are empty. Safe to call any time."""
        folder = self._folder / str(token)
        for each, _, _ in os.walk(folder, topdown=False):
            try:
                Path(each).rmdir()
            except OSError:
                return

    def _place(self, token: uuid.UUID, path: bytes) -> Path:
        return self._folder / str(token) / os.fsdecode(path)

    def _held(self, token: uuid.UUID) -> Held:
        folder = self._folder / str(token)
        file = next(_files(folder), None)
        path = b"" if file is None else os.fsencode(file.relative_to(folder))
        return Held(token, folder, file, path)


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            yield Path(parent, name)


def _token(name: str) -> uuid.UUID | None:
    try:
        token = uuid.UUID(name)
    except ValueError:
        return None
    return token if str(token) == name else None

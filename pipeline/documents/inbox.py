"""Which files of an inbox are settled and complete: a scan judges by what it and the scans before it saw, nothing else.

A file is settled when it stood still for `quiet_for_seconds`, by this process's own clock, its structure is complete
and nobody has it open for writing. Where the latter never comes, standing still for long is enough. One file that
cannot be looked at is reported and never in the way of the others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pipeline.config import InboxSettings, Rule
from pipeline.documents import mounts
from pipeline.documents.completeness import HEAD_BYTES, TAIL_BYTES, is_complete
from pipeline.documents.opening import opened
from pipeline.documents.writing import is_open_for_writing
from pipeline.errors import DocumentError

NOTE_SUFFIX = b".error.txt"
NOTE_MARK = "doclease could not process this file."
PATIENCE = 10  # a cut or open file that stood still this many quiet periods is not going to be completed
_IGNORED_NAMES = frozenset({b"@eadir", b"thumbs.db", b"__macosx"})
_IGNORED_ENDS = (b".part", b".tmp", b".crdownload")


@dataclass(frozen=True, slots=True)
class Found:
    """A file as a scan found it; one that compares equal stood still.

    `path` counts from the inbox. `mount` is the folder at the top of the file's file system, b"" for the inbox itself.
    `linked` says that a symbolic link leads to it.
    """

    path: bytes
    device: int
    inode: int
    byte_count: int
    mtime_ns: int
    mount: bytes = b""
    linked: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that could not be looked at, and why."""

    path: bytes
    error: str


@dataclass(frozen=True, slots=True)
class Sighting:
    """A file and when it was first seen as it is, on the clock of whoever scans.

    `settled` says that it was looked into and found so: as long as it stands still, nobody needs to look again.
    """

    found: Found
    since: float
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """What a look into a file found. `is_note` says that it is a note of ours beside a failed file."""

    is_complete: bool
    is_open_for_writing: bool
    is_note: bool

    def seconds_to_stand_still(self, settings: InboxSettings) -> float:
        """How long it has to be unchanged before it counts as settled."""
        patient = self.is_open_for_writing or not self.is_complete
        return settings.quiet_for_seconds * (PATIENCE if patient else 1)


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan saw. The next one wants it as `previous`.

    `mounts` are the folders at which another mount begins: no file can be renamed across. `next_in` is how many seconds
    from now the first waiting file may have settled; None when none waits.
    """

    settled: tuple[Found, ...] = ()
    waiting: tuple[Found, ...] = ()
    ignored: tuple[bytes, ...] = ()
    problems: tuple[Problem, ...] = ()
    mounts: tuple[bytes, ...] = ()
    sightings: Mapping[bytes, Sighting] = field(default_factory=dict)
    next_in: float | None = None


def scan(folder: Path, settings: InboxSettings, previous: Scan, now: float) -> Scan:
    """Look through an inbox once. `now` is a monotonic clock's. Raises OSError when the inbox itself is not there.

    Files that vanish meanwhile are none. `settled` is in the order in which the files were first seen.
    """
    walk = _Walk(os.fsencode(folder), follow=settings.follow_symlinks)
    sightings = {found.path: _sighted(found, previous, now) for found in walk.files()}
    settled, waiting = [], []
    for sighting in sorted(sightings.values(), key=lambda each: (each.since, each.found.path)):
        try:
            verdict = _judge(folder, sighting, settings, now)
        except FileNotFoundError:
            continue
        except (OSError, DocumentError) as error:
            walk.problems.append(Problem(sighting.found.path, _words(error)))
            continue
        if verdict is None:
            walk.ignored.append(sighting.found.path)
        elif verdict <= 0:
            sightings[sighting.found.path] = replace(sighting, settled=True)
            settled.append(sighting.found)
        else:
            waiting.append((verdict, sighting.found))
    return Scan(
        settled=tuple(settled),
        waiting=tuple(found for _, found in waiting),
        ignored=tuple(walk.ignored),
        problems=tuple(walk.problems),
        mounts=tuple(walk.mounts),
        sightings=sightings,
        next_in=min((seconds for seconds, _ in waiting), default=None),
    )


def look_into(path: Path, *, follow: bool = False) -> Look:
    """Look at both ends of a file. Raises OSError, DocumentError when it is no regular file."""
    with opened(path, follow=follow) as (file, status):
        head = file.read(HEAD_BYTES)
        file.seek(max(status.st_size - TAIL_BYTES, 0))
        tail = file.read(TAIL_BYTES)
        is_open = is_open_for_writing(file.fileno(), path) is True
    is_note = os.fsencode(path.name).endswith(NOTE_SUFFIX) and is_own_note(head)
    return Look(is_complete(head, tail, status.st_size), is_open, is_note)


def is_ignored(name: bytes) -> bool:
    """Whether a file or folder of that name is none of ours: hidden, in the making, or some system's litter."""
    lower = name.lower()
    return name.startswith((b".", b"~$")) or lower in _IGNORED_NAMES or lower.endswith(_IGNORED_ENDS)


def rule_for(path: bytes, rules: Mapping[str, Rule]) -> Rule:
    """What the folders of a path set, capital letters or not; the inner one wins where two set the same."""
    known = {name.casefold(): rule for name, rule in rules.items()}
    priority, kind = Rule().priority, Rule().type
    for folder in os.fsdecode(path).split("/")[:-1]:
        rule = known.get(folder.casefold(), Rule())
        priority = rule.priority if rule.priority != Rule().priority else priority
        kind = rule.type if rule.type != Rule().type else kind
    return Rule(priority, kind)


def is_own_note(head: bytes) -> bool:
    """Whether a file that begins so is a note that was put beside a failed file."""
    return head.startswith(NOTE_MARK.encode())


@dataclass(frozen=True, slots=True)
class _Folder:
    path: bytes
    device: int
    mount: bytes = b""
    linked: bool = False

    def inside(self, name: bytes) -> bytes:
        return self.path + b"/" + name if self.path else name


class _Walk:
    """A walk through an inbox that goes on whatever one entry does."""

    def __init__(self, root: bytes, *, follow: bool) -> None:
        self.ignored: list[bytes] = []
        self.problems: list[Problem] = []
        self.mounts: list[bytes] = []
        self._root = root
        self._follow = follow
        self._mount_points = frozenset(mounts.mounts_below(Path(os.fsdecode(root)), mounts.read()))
        self._seen: set[tuple[int, int]] = set()  # folders: links may lead in circles

    def files(self) -> Iterator[Found]:
        """Every regular file, folder by folder; no recursion, since folders may be nested as deep as paths go."""
        top = os.stat(self._root)  # noqa: PTH116 - a path of bytes
        self._seen.add((top.st_dev, top.st_ino))
        folders = [_Folder(b"", top.st_dev)]
        while folders:
            folder = folders.pop()
            for path, entry in self._entries(folder):
                status, linked = self._status(path, entry)
                if status is None:
                    continue
                if stat.S_ISREG(status.st_mode):
                    yield _found(path, status, folder.mount, linked or folder.linked)
                elif stat.S_ISDIR(status.st_mode):
                    folders += self._to_enter(folder, path, status, linked)
                else:
                    self.ignored.append(path)

    def _entries(self, folder: _Folder) -> list[tuple[bytes, os.DirEntry[bytes]]]:
        """The entries of a folder that are not ignored by name."""
        try:
            with os.scandir(os.path.join(self._root, folder.path)) as found:  # noqa: PTH118 - a path of bytes
                entries = [(folder.inside(each.name), each) for each in found]
        except FileNotFoundError:
            return []
        except OSError as error:
            self.problems.append(Problem(folder.path, _words(error)))
            return []
        self.ignored += [path for path, each in entries if is_ignored(each.name)]
        return [(path, each) for path, each in entries if not is_ignored(each.name)]

    def _status(self, path: bytes, entry: os.DirEntry[bytes]) -> tuple[os.stat_result | None, bool]:
        """What an entry is, and whether a link led there; None for one that is gone or cannot be looked at."""
        try:
            status = entry.stat(follow_symlinks=False)
            if self._follow and stat.S_ISLNK(status.st_mode):
                return entry.stat(), True
            return status, False
        except FileNotFoundError:
            return None, False
        except OSError as error:
            self.problems.append(Problem(path, _words(error)))
            return None, False

    def _to_enter(self, parent: _Folder, path: bytes, status: os.stat_result, linked: bool) -> list[_Folder]:
        if (status.st_dev, status.st_ino) in self._seen:
            return []
        self._seen.add((status.st_dev, status.st_ino))
        begins = status.st_dev != parent.device or path in self._mount_points
        top = path if begins else parent.mount
        if top != parent.mount and not linked:
            self.mounts.append(top)
        return [_Folder(path, status.st_dev, top, linked or parent.linked)]


def _words(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _found(path: bytes, status: os.stat_result, mount: bytes, linked: bool) -> Found:
    return Found(path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, mount, linked)


def _sighted(found: Found, previous: Scan, now: float) -> Sighting:
    before = previous.sightings.get(found.path)
    return before if before is not None and before.found == found else Sighting(found, now)


def _judge(folder: Path, sighting: Sighting, settings: InboxSettings, now: float) -> float | None:
    """Seconds until the file may have settled, 0 when it has, None for a note of ours. Raises OSError."""
    found, still_for = sighting.found, now - sighting.since
    if found.byte_count == 0:
        return max(settings.empty_grace_seconds - still_for, 0)
    if still_for < settings.quiet_for_seconds:
        return settings.quiet_for_seconds - still_for
    if sighting.settled:
        return 0
    # Opened in any case: one that cannot be read is reported here, where its owner can still see it.
    look = look_into(folder / os.fsdecode(found.path), follow=found.linked)
    return None if look.is_note else max(look.seconds_to_stand_still(settings) - still_for, 0)

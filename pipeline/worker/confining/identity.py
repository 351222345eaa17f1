"""Who the process is: a user that owns nothing when it was started as root, and without capabilities in any case."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pipeline.worker.confining import kernel

# No account and no container counts from here up, so a child shares its user with no other process and no file.
FIRST_UNUSED_ID = 1_900_000_000
NOBODY = 65_534  # where only a part of all user ids is mapped, in a container of an ordinary user

# To change the user; and what the parent needs to end a process of another user and to read what that one wrote.
NEEDED_CAPABILITIES = sum(1 << number for number in (0, 1, 5, 6, 7))  # CHOWN, DAC_OVERRIDE, KILL, SETGID, SETUID
LAST_CAPABILITY = 63

PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT, AMBIENT_CLEAR_ALL = 47, 4


def leave_root(scratch: Path, needed: Iterable[Path]) -> bool:
    """Become a user of no rights; False, with nothing changed, when it could not work as such a user.

    It must be able to read `needed`, the interpreter and its packages, and to write `scratch`, whose group it becomes.
    """
    if os.geteuid() != 0 or not _may_change():
        return False
    paths = list(needed)
    return any(_become(user, scratch, paths) for user in (FIRST_UNUSED_ID + os.getpid(), NOBODY))


def bar_capabilities() -> None:
    """Let no program give capabilities back. Only who still has them can do this, so before the user changes."""
    for number in range(LAST_CAPABILITY + 1):
        kernel.prctl(PR_CAPBSET_DROP, number)


def drop_capabilities() -> bool:
    """Give up every capability; whether none is left."""
    kernel.prctl(PR_CAP_AMBIENT, AMBIENT_CLEAR_ALL)
    kernel.empty_capability_sets()
    sets = [kernel.status(name) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
    return all(each != "" and int(each, 16) == 0 for each in sets)


def refuse_new_privileges() -> bool:
    """Let no program this process might start have more rights than it has; filters need this."""
    return kernel.prctl(PR_SET_NO_NEW_PRIVS, 1)


def _may_change() -> bool:
    effective = int(kernel.status("CapEff") or "0", 16)
    return effective & NEEDED_CAPABILITIES == NEEDED_CAPABILITIES


def _become(user: int, scratch: Path, needed: list[Path]) -> bool:
    before = (os.getgroups(), os.getegid(), scratch.stat().st_mode)
    try:
        os.setgroups([])
        os.chown(scratch, -1, user)
        scratch.chmod(0o770)
        os.setresgid(-1, user, -1)
        os.setresuid(-1, user, -1)
        if _can_work(scratch, needed):
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            return True
    except OSError:
        pass  # such a user does not exist here
    _go_back(scratch, *before)
    return False


def _go_back(scratch: Path, groups: list[int], group: int, mode: int) -> None:
    """Be root again, which the real and the saved user still are."""
    os.setresuid(-1, 0, -1)
    os.setresgid(-1, group, -1)
    os.chown(scratch, -1, group)
    scratch.chmod(mode & 0o7777)
    with suppress(OSError):  # a container that forbids this forbade the change as well
        os.setgroups(groups)


def _can_work(scratch: Path, needed: list[Path]) -> bool:
    if not os.access(scratch, os.R_OK | os.W_OK | os.X_OK, effective_ids=True):
        return False
    return all(_is_readable(path) for each in needed for path in (each, *_packages(each)))


def _packages(folder: Path) -> Iterator[Path]:
    """The folders right inside: a package installed under a strict umask is closed although the folder is open."""
    try:
        with os.scandir(folder) as entries:
            yield from [Path(each.path) for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError:
        return  # not a folder, or closed, which is seen by itself


def _is_readable(path: Path) -> bool:
    wanted = os.R_OK | os.X_OK if path.is_dir() else os.R_OK
    return os.access(path, wanted, effective_ids=True)

"""Files: which folders may be read, which one may be written, and nothing else; Linux calls it Landlock.

It judges the file that is opened, so a descriptor that came from outside stays usable, and no link leads past it. The
modes, owners and times of files are not its business: the filter of system calls refuses those.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

from pipeline.worker.confining import kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
PATH_BENEATH = 1

WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
TRUNCATE = 1 << 14

FIRST_RIGHTS = (1 << 13) - 1
# What later versions can refuse, each from the version in front: moving between folders, cutting, asking devices.
LATER_RIGHTS = ((2, 1 << 13), (3, TRUNCATE), (5, 1 << 15))
TCP = 0b11  # to bind, to connect
OUTSIDE = 0b11  # abstract sockets and signals of processes that are not confined alike

ON_FILES = WRITE_FILE | READ_FILE | TRUNCATE
READING = READ_FILE | READ_DIR
# No links, pipes, sockets or devices: who looks into the folder afterwards finds files and folders only.
WRITING = READING | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG


def install(*, readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Confine this thread, and those that it starts, for good; False where the kernel has no Landlock.

    Paths that do not exist are passed over. Needs no_new_privileges.
    """
    try:
        version = kernel.system_call(CREATE_RULESET, None, 0, ASK_VERSION)
        ruleset = _ruleset(version)
    except OSError:
        return False
    try:
        for paths, rights in ((readable, READING), (writable, WRITING)):
            for path in paths:
                _allow(ruleset, path, rights & _rights(version))
        return kernel.system_call(RESTRICT_SELF, ruleset, 0) == 0
    except OSError:
        return False
    finally:
        os.close(ruleset)


def _rights(version: int) -> int:
    rights = FIRST_RIGHTS
    for since, right in LATER_RIGHTS:
        rights |= right if version >= since else 0
    return rights


def _ruleset(version: int) -> int:
    """A descriptor of the rules. An older kernel refuses a description that is longer than the one it knows."""
    known = [_rights(version)]
    if version >= 4:
        known.append(TCP)
    if version >= 6:
        known.append(OUTSIDE)
    described = struct.pack(f"{len(known)}Q", *known)
    return kernel.system_call(CREATE_RULESET, described, len(described), 0)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rule = struct.pack("=Qi", rights if is_folder else rights & ON_FILES, descriptor)
        kernel.system_call(ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)

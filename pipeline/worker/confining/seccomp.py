"""The filter of system calls: no sockets, no other processes, no reach into them, and no doors that parsers never use.

It refuses by name and allows the rest, because engines for recognition and their threads use much of the rest. Linux
checks a program of the classic packet filter's machine at every call; one that depends on no argument is remembered.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable, Sequence

from pipeline.worker.confining import calls, kernel

SECCOMP = {"x86_64": 317, "aarch64": 277}
SET_MODE_FILTER = 1
ALL_THREADS = 1

# Instructions: what they do, how far to jump when it is so and when not, and a number.
LOAD = 0x20
EQUAL, AT_LEAST, ANY_BIT = 0x15, 0x35, 0x45
KEEP_BITS = 0x54
RETURN = 0x06
KILL, ALLOW = 0x80000000, 0x7FFF0000
REFUSE = 0x00050000 | errno.EPERM
UNKNOWN = 0x00050000 | errno.ENOSYS

# Where the call's number, its machine and its arguments stand. Both machines are little-endian: the low half is first.
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16

X32 = 0x40000000  # the same machine's other numbering
THREAD = 0x00010000
NAMESPACES = 0x7E020000  # every flag that makes one
READ_ONLY_MASK, TRUNCATE = 0o3, 0o1000
# To own a descriptor's signals, choose them, lease a file, watch a folder; push characters into a terminal.
FCNTL = (8, 10, 15, 1024, 1026)
IOCTL = (0x8901, 0x8902, 0x5412, 0x541C)
# To outlive the parent, to be traced, to be a stranger's parent: the sandbox has decided these.
PRCTL = (1, 4, 36, 0x59616D61)

Instruction = tuple[int, int, int, int]


def install() -> bool:
    """Filter all threads of this process for good; False where the kernel or the machine has no filter.

    Needs no_new_privileges. The process's own number is part of the filter, so a child made before would be without.
    """
    machine = platform.machine()
    if machine not in calls.MACHINES:
        return False
    code = b"".join(struct.pack("HBBI", *each) for each in program(machine, os.getpid()))
    instructions = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(instructions))
    try:
        return kernel.system_call(SECCOMP[machine], SET_MODE_FILTER, ALL_THREADS, described) == 0
    except OSError:
        return False


def program(machine: str, pid: int) -> list[Instruction]:
    """The filter for this machine and process. To call by another machine's numbers kills: nobody does so by chance."""
    column, audit = calls.MACHINES[machine]
    head: list[Instruction] = [
        (LOAD, 0, 0, MACHINE),
        (EQUAL, 1, 0, audit),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, KILL),
        (AT_LEAST, 0, 1, calls.NEWEST_KNOWN + 1),
        (RETURN, 0, 0, UNKNOWN),
    ]
    return [
        *head,
        *_judged(column, pid),
        *_answered(calls.MISSING, column, UNKNOWN),
        *_answered(calls.REFUSED, column, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]


def _answered(table: calls.Numbers, column: int, answer: int) -> Iterable[Instruction]:
    for numbers in table.values():
        number = numbers[column]
        if number is not None:
            yield (EQUAL, 0, 1, number)
            yield (RETURN, 0, 0, answer)


def _judged(column: int, pid: int) -> Iterable[Instruction]:
    rules = {
        "open": _no_hidden_truncation(1),
        "openat": _no_hidden_truncation(2),
        "fcntl": _none_of(1, FCNTL),
        "ioctl": _none_of(1, IOCTL),
        "clone": _only_threads(),
        "kill": _only(0, (pid,)),
        "tgkill": _only(0, (pid,)),
        "prlimit64": _only(0, (0, pid)),
        "sched_setaffinity": _only(0, (0, pid)),
        "prctl": _none_of(0, PRCTL),
    }
    for name, rule in rules.items():
        number = calls.JUDGED[name][column]
        if number is not None:
            yield (EQUAL, 0, len(rule), number)
            yield from rule


def _argument(index: int) -> Instruction:
    return (LOAD, 0, 0, ARGUMENTS + 8 * index)


def _none_of(index: int, values: Sequence[int]) -> list[Instruction]:
    tests = [(EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [_argument(index), *tests, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]


def _only(index: int, values: Sequence[int]) -> list[Instruction]:
    tests = [(EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [_argument(index), *tests, (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]


def _only_threads() -> list[Instruction]:
    return [
        _argument(0),
        (ANY_BIT, 0, 2, THREAD),
        (ANY_BIT, 1, 0, NAMESPACES),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]


def _no_hidden_truncation(index: int) -> list[Instruction]:
    """A file opened for reading can be cut to nothing by the same call; a landlock before its third version lets it."""
    return [
        _argument(index),
        (ANY_BIT, 0, 2, TRUNCATE),
        (KEEP_BITS, 0, 0, READ_ONLY_MASK),
        (EQUAL, 1, 0, 0),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]

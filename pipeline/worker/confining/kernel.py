"""The system calls that Python has no function for, by way of the C library; each says what the kernel answered."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path

CAPABILITY_VERSION_3 = 0x20080522


def prctl(option: int, argument: int = 0) -> bool:
    """Whether the kernel took it. It looks at all bits of an argument; a plain int leaves half of them undefined."""
    library = ctypes.CDLL(None, use_errno=True)
    unused = ctypes.c_ulong(0)
    return bool(library.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), unused, unused, unused) == 0)


def unshare(flags: int) -> bool:
    """Whether this thread got namespaces of its own. A new user namespace needs a process with a single thread."""
    return bool(ctypes.CDLL(None, use_errno=True).unshare(ctypes.c_int(flags)) == 0)


def system_call(number: int, *arguments: int | bytes | None) -> int:
    """Call by number: an int is passed as a long, bytes by their address. Raises OSError."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    passed = [ctypes.c_long(each) if isinstance(each, int) else ctypes.c_char_p(each) for each in arguments]
    answer = int(library.syscall(ctypes.c_long(number), *passed))
    if answer < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return answer


def empty_capability_sets() -> bool:
    """Whether this thread's effective, permitted and inheritable capabilities are gone."""
    header = ctypes.create_string_buffer(struct.pack("Ii", CAPABILITY_VERSION_3, 0), 8)
    return bool(ctypes.CDLL(None, use_errno=True).capset(header, ctypes.create_string_buffer(24)) == 0)


def status(field: str) -> str:
    """A line of /proc/self/status, `CapEff` for example; empty when the kernel does not show it."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(f"{field}:")), "")

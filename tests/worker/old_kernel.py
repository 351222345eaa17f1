"""Makes the host look older than it is: no Landlock, no namespaces, no filters, for this process and its children."""

from __future__ import annotations

import ctypes
import platform
import struct

from pipeline.worker.confining import calls, kernel, landlock, seccomp

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2


def pretend() -> None:
    """Have the kernel answer as if it did not know these calls."""
    machine = platform.machine()
    unshare = calls.KERNEL["unshare"][calls.MACHINES[machine][0]]
    unknown = (landlock.CREATE_RULESET, seccomp.SECCOMP[machine], unshare or 0)
    program: list[seccomp.Instruction] = [(seccomp.LOAD, 0, 0, seccomp.NUMBER)]
    for number in unknown:
        program += [(seccomp.EQUAL, 0, 1, number), (seccomp.RETURN, 0, 0, seccomp.UNKNOWN)]
    code = b"".join(struct.pack("HBBI", *each) for each in [*program, (seccomp.RETURN, 0, 0, seccomp.ALLOW)])
    instructions = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(instructions))
    assert kernel.prctl(PR_SET_NO_NEW_PRIVS, 1)
    assert ctypes.CDLL(None).prctl(PR_SET_SECCOMP, MODE_FILTER, described, 0, 0) == 0

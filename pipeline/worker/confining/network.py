"""A network with nobody in it."""

from __future__ import annotations

import os

from pipeline.worker.confining import kernel

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000


def leave_network() -> bool:
    """Move this thread to a network namespace without interfaces; whether the host lets it.

    An ordinary user needs a user namespace for this, which comes with all capabilities inside: drop them afterwards.
    """
    if os.geteuid() == 0 and kernel.unshare(CLONE_NEWNET):
        return True
    return kernel.unshare(CLONE_NEWUSER | CLONE_NEWNET)

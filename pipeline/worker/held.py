"""The holder's own watch on its lease. It only ever makes the holder stop sooner than the database would.

The time of a grant is read before the call that asked for it, on a clock that runs on while the machine sleeps, so the
holder's lease ends no later than the one in the database. The two clocks are never compared.
"""

from __future__ import annotations

import time

LAST_WORD_SECONDS = 1.0


def boottime() -> float:
    """Seconds on a clock that never jumps and counts suspended time, where the system has one."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


class HeldLease:
    """How much is left of a lease that was asked for at `asked_at` and granted for `seconds`."""

    def __init__(self, asked_at: float, seconds: float) -> None:
        self.claimed_at = asked_at  # when the task may have become its holder's at the earliest
        self._granted(asked_at, seconds)

    def renewed(self, asked_at: float, seconds: float) -> None:
        """Note a confirmed renewal."""
        self._granted(asked_at, seconds)

    @property
    def left(self) -> float:
        """Seconds until the lease is over; below 0 when it is."""
        return self._ends_at - boottime()

    @property
    def is_running_out(self) -> bool:
        """Whether less than a third of it is left."""
        return self.left < self._seconds / 3

    @property
    def is_ending(self) -> bool:
        """Whether what needs more time must end now, so that its end is told before a sweep finds the lease expired."""
        return self.left < min(LAST_WORD_SECONDS, self._seconds / 5)

    @property
    def is_over(self) -> bool:
        """Whether the holder must stop: somebody else may have the task."""
        return self.left <= 0

    def _granted(self, asked_at: float, seconds: float) -> None:
        self._seconds = seconds
        self._ends_at = asked_at + seconds

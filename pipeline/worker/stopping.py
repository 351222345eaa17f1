"""How a worker stops: first it drains, then it gives back. Set by signals, read by every slot.

Nothing here takes a lock: a signal handler runs in the middle of whatever its thread is doing, also of itself.
"""

from __future__ import annotations

import time

from pipeline.worker.held import boottime

LOOK_SECONDS = 0.1


class Stopping:
    """Nobody claims once it drains; whoever still has a document when the time is up gives it back."""

    def __init__(self, drain_seconds: float) -> None:
        self._drain_seconds = drain_seconds
        self._is_draining = False
        self._ends_at = float("inf")

    @property
    def is_draining(self) -> bool:
        """Whether claiming is over."""
        return self._is_draining

    @property
    def must_release(self) -> bool:
        """Whether what is in hand goes back now."""
        return boottime() >= self._ends_at

    def drain(self) -> None:
        """Stop claiming; finish what is in hand within the drain time. A second call gives back at once."""
        self._ends_at = boottime() + (0 if self._is_draining else self._drain_seconds)
        self._is_draining = True

    def pause(self, seconds: float) -> None:
        """Wait before something is tried again, no longer than until everything goes back."""
        until = boottime() + seconds
        while not self.must_release and (left := until - boottime()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
